"""Search the texts, arguments and outputs of steps, which have no column.

Packed by recording.

A recording's texts lie in one compressed block, its arguments and its outputs in two more: together they are a fifth
as large, and a search goes through all of them at the speed of memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from reenact.core.query.facts import PATH, RecordingFacts, StepFacts
from reenact.core.query.filter import holds, literal
from reenact.core.query.grammar import Term
from reenact.core.query.outline import CUT, part, whole
from reenact.core.query.summary import StepSummary
from reenact.core.store.fact_numbers import facts_of
from reenact.core.store.local import load
from reenact.core.store.needles import Needles

PARTS = ("text", "args", "output")
"""The blocks that a recording has, by their places."""

_BETWEEN = {"text": b"\0", "args": b"\n", "output": b"\n"}
_LEFT_OUT = b"\1"
_LEVEL = 1
_MANY = 16 << 20
_ROOM = 8


def packed(steps: Iterable[StepSummary]) -> list[bytes]:
    """Return the packed blocks of a recording's steps, one for each of PARTS."""
    kept = list(steps)
    blocks = {
        "text": [_kept(step.text) for step in kept],
        "args": [step.args.encode() for step in kept],
        "output": [step.output.encode() for step in kept],
    }
    return [zlib.compress(_BETWEEN[name].join(blocks[name]), _LEVEL) for name in PARTS]


def _kept(text: str | None) -> bytes:
    data = _LEFT_OUT if text is None else text.encode("utf-8", "surrogatepass")
    return _LEFT_OUT if b"\0" in data else data


def unpacked(block: bytes) -> bytes:
    """Return a block unpacked. Several threads may unpack at the same time."""
    # With enough room from the start, it takes Python's lock only once.
    return zlib.decompress(block, bufsize=_ROOM * len(block) + 64)


def facts_in(blocks: Sequence[bytes]) -> list[int]:
    """Return the facts of a recording's blocks."""
    if len(blocks) != len(PARTS):
        return []
    args, outputs = (
        filter(None, unpacked(blocks[PARTS.index(name)]).split(_BETWEEN[name])) for name in ("args", "output")
    )
    return facts_of(args, outputs)


def words_in(blocks: Sequence[bytes]) -> list[str] | None:
    """Return the blocks' texts in lower case, one for each of PARTS, for a word search.

    None if that would not be complete, or is very large.
    """
    whole = [unpacked(block).lower() for block in blocks]
    texts = whole[PARTS.index("text")] if len(whole) == len(PARTS) else b""
    if sum(map(len, whole)) > _MANY or _LEFT_OUT in texts.split(_BETWEEN["text"]):
        return None
    return [data.replace(b"\0", b"\n").decode(errors="replace") for data in whole]


class Details:
    """The blocks of one recording.

    Args:
        find: Returns the recording's folder, to read the parts that its blocks leave out.
        block: Returns the block of that name, unpacked.
    """

    def __init__(self, find: Callable[[], Path], block: Callable[[str], bytes]) -> None:
        self._find = find
        self._block = block
        self._parts: dict[str, list[bytes]] = {}

    def holding(self, wanted: WantedTerm, numbers: Collection[int]) -> set[int]:
        """Return the steps for which a term about texts, arguments or outputs holds."""
        if wanted.name != "text":
            return self._outlined(wanted, numbers)
        if wanted.literal is None:
            return self._matching(wanted, numbers)
        data = self._block("text").lower()
        if wanted.literal not in data and _LEFT_OUT not in data:
            return set(numbers) if wanted.without else set()
        return self._containing(wanted, data.split(b"\0"), numbers)

    def _containing(self, wanted: WantedTerm, texts: list[bytes], numbers: Collection[int]) -> set[int]:
        inside, without = wanted.literal or b"", wanted.without
        found = {number for number in numbers if (inside in texts[number - 1]) != without}
        return self._and_left_out(found, texts, wanted, numbers)

    def _matching(self, wanted: WantedTerm, numbers: Collection[int]) -> set[int]:
        data = self._block("text")
        possible = wanted.needles.in_texts(data, _BETWEEN["text"], numbers)
        if not possible and _LEFT_OUT not in data:
            return set()
        texts = data.split(_BETWEEN["text"])
        found = {
            number for number in possible if wanted.holds(texts[number - 1].decode("utf-8", "surrogatepass"))
        }
        return self._and_left_out(found, texts, wanted, numbers)

    def _and_left_out(
        self, found: set[int], texts: list[bytes], wanted: WantedTerm, numbers: Collection[int]
    ) -> set[int]:
        """Correct the result for the steps with a text that the block leaves out: read them."""
        for number in numbers:
            if texts[number - 1] == _LEFT_OUT:
                found.discard(number)
                if wanted.holds(self._step(number).text):
                    found.add(number)
        return found

    def _outlined(self, wanted: WantedTerm, numbers: Collection[int]) -> set[int]:
        lines, found = self._split(wanted.name), set()
        for number in wanted.needles.in_outlines(lines, numbers):
            kept = orjson.loads(lines[number - 1])
            value = part(kept, wanted.path) if wanted.path else whole(kept)
            if value is CUT:
                value = self._step(number).get(wanted.field)
            if wanted.holds(value):
                found.add(number)
        return found

    def _split(self, name: str) -> list[bytes]:
        known = self._parts.get(name)
        if known is None:
            known = self._parts[name] = self._block(name).split(_BETWEEN[name])
        return known

    @cached_property
    def _steps(self) -> list[StepFacts]:
        return RecordingFacts(load(self._find())).steps

    def _step(self, number: int) -> StepFacts:
        return self._steps[number - 1]


class WantedTerm:
    """A term about texts, arguments or outputs, prepared for a search."""

    def __init__(self, term: Term) -> None:
        self.field = term.field
        keys: list[str] = PATH.findall(term.field)
        self.name, self.path = keys[0], keys[1:]
        self.holds: Callable[[Any], bool] = holds(term)
        self.literal = literal(term) if self.name == "text" else None
        self.without = term.op == "!~"
        self.needles = Needles(term)

    def words(self) -> list[bytes]:
        r"""Return the lower-case words that a block must contain if a step in it matches.

        For arguments and outputs this holds only if the block has no escaped letter (`\u`).
        """
        if self.literal is not None:
            return [] if self.without or not self.literal else [self.literal]
        needles = self.needles
        return [word.lower() for word in (needles.name, needles.key, needles.word) if word]
