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


def _once(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def _loop() -> float:
    return _once(partial(sum, range(10**6)))


def _measured(work: Callable[[], object], rounds: int = 3) -> tuple[float, float]:
    """Return the least milliseconds, and the least in the unit of the loops beside it as if they took 25."""
    costs, units = [], []
    for _ in range(rounds):
        before, cost, after = _loop(), _once(work), _loop()
        costs.append(cost)
        units.append(cost / min(before, after) * 25)
    return min(costs), min(units)


def main(every: int) -> None:
    """Print the table: milliseconds, and milliseconds in the unit of the loop as if it took 25."""
    redactor = Redactor(salt=b"a salt")
    ways: dict[str, Callable[[bytes], object]] = {"raw": redactor.raw}
    texts = [text for text in (*RUNS, *[*pieces(), *fragments()][::every]) if "\ud800" not in text]
    units: dict[str, list[tuple[float, str]]] = {}
    for text in texts:
        for name, data in forms(text, MEGABYTE).items():
            _, unit = _measured(partial(ways.get(name, redactor.line), data), 1)
            units.setdefault(name, []).append((unit * MEGABYTE / len(data), text))
    rows = [("`json.dumps`", *_measured(partial(json.dumps, PLAIN * (MEGABYTE // len(PLAIN)))))]
    for name, data in forms(PLAIN, MEGABYTE).items():
        rows.append((f"plain, {name}", *_measured(partial(ways.get(name, redactor.line), data))))
    for name, found in units.items():
        for _, text in sorted(found, reverse=True)[:_SLOWEST]:
            data = forms(text, MEGABYTE)[name]
            cost, unit = _measured(partial(ways.get(name, redactor.line), data))
            scale = MEGABYTE / len(data)
            rows.append((f"{name} of `{text[:40]!r}`", cost * scale, unit * scale))
    print(f"{len(texts)} texts\n\n| 1 MB | ms of CPU | with the loop at 25 ms |\n|---|---|---|")
    for name, cost, unit in rows:
        print(f"| {name} | {cost:.1f} | {unit:.1f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
