"""What redaction costs a megabyte: everyday text, and hostile texts.

    python -m benchmarks.redaction

Processor time (`time.process_time`) of whole texts as they come (`raw`), as one event (`line`) and in chunks of 4 KB.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial

from reenact.core.redact import Redactor

MEGABYTE = 1_000_000
FRAGMENTS = (
    *(
        "sk-",
        "Cookie: a=b; ",
        "password=",
        "password=abcd&",
        "Bearer ",
        "eyJ",
        "-----BEGIN ",
        '{"a":',
        '"',
        "\\",
        "%25",
    ),
    *(
        "https://x.s3.com/a?X-Amz-Signature=abcdef0123456789&",
        "postgres://a:b@",
        "\\u005c",
        "pin:",
        '"password",["',
    ),
)
PLAIN = "Hello, I would like to pass on an opinion: the typing of my order is in session. "


def _stream(redactor: Redactor, text: bytes) -> None:
    stream = redactor.stream()
    for at in range(0, len(text), 4096):
        stream.chunk(text[at : at + 4096])
    stream.end()


def _milliseconds(work: Callable[[], object]) -> float:
    def once() -> float:
        began = time.process_time()
        work()
        return (time.process_time() - began) * 1000

    return min(once() for _ in range(5))


def main() -> None:
    """Print the table."""
    redactor = Redactor(salt=b"a salt")
    ways: dict[str, Callable[[str], object]] = {
        "raw": lambda text: redactor.raw(text.encode()),
        "event": lambda text: redactor.line(json.dumps({"value": text}).encode()),
        "chunks of 4 KB": lambda text: _stream(redactor, text.encode()),
    }
    print(
        "| a megabyte, ms of CPU | plain | hostile, median | hostile, worst | the worst |\n|---|---|---|---|---|"
    )
    for name, way in ways.items():
        way(PLAIN)
        plain = _milliseconds(partial(way, PLAIN * (MEGABYTE // len(PLAIN))))
        hostile = sorted(
            (_milliseconds(partial(way, one * (MEGABYTE // len(one)))), one) for one in FRAGMENTS
        )
        worst, text = hostile[-1]
        print(
            f"| {name} | {plain:.1f} | {hostile[len(hostile) // 2][0]:.0f} | {worst:.0f} | `{text[:30].strip()}` |"
        )


if __name__ == "__main__":
    main()
