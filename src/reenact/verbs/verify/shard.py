"""One of several equal parts of a fleet, for CI matrices and independent jobs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from reenact.core.dataclass import dataclass
from reenact.errors import UsageError

_WRITTEN = re.compile(r"(\d{1,6})/(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The `number`-th of `of` parts, counted from 1."""

    number: int
    of: int

    @classmethod
    def parsed(cls, text: str, *, first: int = 1) -> Shard:
        """Parse `2/5`; the first part has the number `first`. Raises UsageError."""
        match = _WRITTEN.fullmatch(text.strip())
        number, of = (int(match[1]) - first + 1, int(match[2])) if match else (0, 0)
        if not 1 <= number <= of:
            other = "; to count from 0 use --from-zero" if first and match and number == 0 else ""
            example = (
                "2/5, the second of five parts, counted from 1" if first else "1/5, the second of five parts"
            )
            raise UsageError(f"--shard {text}: write it as {example}{other}")
        return cls(number, of)

    def has(self, ref: str) -> bool:
        """Return True if a recording is in this part.

        That depends on its name alone, so that all jobs agree, whatever recordings each of them has.
        """
        digest = hashlib.sha256(Path(ref).name.encode()).digest()
        return int.from_bytes(digest[:8]) % self.of == self.number - 1

    def among(self, refs: Iterable[str]) -> list[str]:
        """Return the recordings in this part."""
        return [ref for ref in refs if self.has(ref)]
