"""What is sent and answered: text that looks like text, and rows that look like a tool's answer, in wanted sizes."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any

KB = 1024

_PROSE = """the order was sent on Monday and the customer asks whether it can still be cancelled, since "express" was
chosen; please check the warehouse first (it may be packed) and answer in a friendly tone: yes, no or when.
Totals are 17.90 and 1204 in this list"""


@lru_cache
def _pool() -> str:
    source, words = random.Random(7), _PROSE.split(" ")
    return " ".join(source.choice(words) for _ in range(60_000))


def text(size: int, number: int) -> str:
    """Some prose of `size` characters; another one for each number."""
    pool = _pool()
    head = f"[{number}] "
    at = number * 7919 % (len(pool) - size)
    return (head + pool[at : at + size])[:size]


def rows(size: int, number: int) -> dict[str, Any]:
    """What a tool that looks orders up may return, about `size` bytes of JSON."""
    source = random.Random(number)
    found: list[dict[str, Any]] = []
    while len(found) * 205 < size:
        found.append(
            {
                "id": f"ORD-{source.randrange(10**6):06}",
                "customer": {"name": "Ada Example", "city": "Zürich", "since": 2019},
                "total": round(source.random() * 500, 2),
                "paid": source.random() < 0.5,
                "items": ["lamp", "chair"],
                "note": text(40, source.randrange(10**6)),
            }
        )
    return {"status": "ok", "orders": found}
