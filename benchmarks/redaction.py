"""What redaction costs a megabyte: everyday text, and hostile texts.

    python -m benchmarks.redaction [EVERY]

Processor time (`time.process_time`), the best of three rounds, of texts of 1 MB: as they come (`raw`), and as events
(`line`) with one string, with a list, with an object, and with JSON in a string. The texts of `tests/hostile` are
measured once, the slowest of each form again; EVERY takes each such one only (by default 40). Beside them:
`json.dumps` of a megabyte, and a loop that takes 25 ms on an idle machine, so that figures of a slow processor can be
compared.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial

from tests.hostile.atoms import RUNS, pieces
from tests.hostile.dense import forms, fragments

from reenact.core.redact import Redactor

MEGABYTE = 1_000_000
_SLOWEST = 3
PLAIN = "Hello, I would like to pass on an opinion: the typing of my order is in session. "


def _milliseconds(work: Callable[[], object], rounds: int = 3) -> float:
    def once() -> float:
        began = time.process_time()
        work()
        return (time.process_time() - began) * 1000

    return min(once() for _ in range(rounds))


def _loop() -> float:
    return _milliseconds(partial(sum, range(10**6)))


def main(every: int) -> None:
    """Print the table: milliseconds, and milliseconds in the unit of the loop as if it took 25."""
    redactor = Redactor(salt=b"a salt")
    ways: dict[str, Callable[[bytes], object]] = {"raw": redactor.raw}
    texts = [text for text in (*RUNS, *[*pieces(), *fragments()][::every]) if "\ud800" not in text]
    costs: dict[str, list[tuple[float, str]]] = {}
    for text in texts:
        for name, data in forms(text, MEGABYTE).items():
            way = ways.get(name, redactor.line)
            cost = _milliseconds(partial(way, data), 1) * MEGABYTE / len(data)
            costs.setdefault(name, []).append((cost, text))
    unit = _loop()
    rows: list[tuple[str, float]] = [
        ("the loop", unit),
        ("`json.dumps`", _milliseconds(partial(json.dumps, PLAIN * (MEGABYTE // len(PLAIN))))),
    ]
    for name, data in forms(PLAIN, MEGABYTE).items():
        rows.append((f"plain, {name}", _milliseconds(partial(ways.get(name, redactor.line), data))))
    for name, found in costs.items():
        for _, text in sorted(found, reverse=True)[:_SLOWEST]:
            data = forms(text, MEGABYTE)[name]
            cost = _milliseconds(partial(ways.get(name, redactor.line), data))
            unit = min(unit, _loop())
            rows.append((f"{name} of `{text[:40]!r}`", cost * MEGABYTE / len(data)))
    print(f"{len(texts)} texts\n\n| 1 MB | ms of CPU | with the loop at 25 ms |\n|---|---|---|")
    for name, cost in rows:
        print(f"| {name} | {cost:.1f} | {cost / unit * 25:.1f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
