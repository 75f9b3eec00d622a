"""Replays recordings of random programs in a process that has never seen them recorded:

    python -m tests.soak.again <style> <seed> <path of the recording> [<seed> <path> …]

Prints what each gave, one JSON line a recording.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import reenact
from tests.soak.programs import Program


def again(style: str, seed: int, path: str) -> dict[str, Any]:
    program = Program(seed, style=style)
    try:
        with reenact.replay(path) as replay:
            state = replay.output = program.run()
    except reenact.DivergenceError as error:
        return {"verdict": str(error), "faithful": False, "state": None}
    return {"verdict": str(replay.verdict), "faithful": replay.verdict.faithful, "state": state}


if __name__ == "__main__":
    style, *rest = sys.argv[1:]
    for seed, path in zip(rest[::2], rest[1::2], strict=True):
        print(json.dumps({"seed": int(seed), **again(style, int(seed), path)}), flush=True)
