"""The pictures of a step, in its question (the images of a prompt) and in its outcome."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, Literal

from reenact.analysis.views.base import View
from reenact.core.dataclass import dataclass
from reenact.core.model.plain import binary, parsed
from reenact.core.query.facts import RecordingFacts, StepFacts

MOST = 50
"""The maximum number of pictures that are searched in a step."""

LARGEST = 8_000_000
"""The largest picture in bytes that a page shows."""

Kind = Literal["png", "jpeg", "gif", "webp"]

_KINDS: tuple[tuple[bytes, Kind], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"RIFF", "webp"),
)
_ENCODED = ("iVBORw0KGg", "/9j/", "R0lGOD", "UklGR")
"""The beginnings of such pictures in base64."""

_ADDRESS = "data:image/"
_HOLDS = ("$bytes", "$blob")


@dataclass(frozen=True, slots=True)
class StepPicture:
    """A picture of a step: its path (`args.messages[0].content[1]`), its kind, its bytes."""

    path: str
    kind: Kind
    data: bytes

    def __str__(self) -> str:
        return f"{self.path}: image/{self.kind}, {len(self.data):,} bytes"


class PictureView(View):
    """A picture of a step; `asked` is true if it is in the question."""

    path: str
    kind: Kind
    size: int
    asked: bool


def given(step: StepFacts) -> list[StepPicture]:
    """Return the pictures in a step's outcome."""
    outcome = step.call.outcome
    return [] if outcome is None else list(islice(_found(step, outcome.get("value"), ""), MOST))


def asked(facts: RecordingFacts, step: StepFacts) -> list[StepPicture]:
    """Return the pictures in a step's arguments; of a model call only the new ones."""
    seen: set[bytes] = set()
    if step.model_call is not None:
        earlier = (
            other
            for other in reversed(facts.steps[: step.step.number - 1])
            if (other.call.scope, other.call.kind) == (step.call.scope, step.call.kind) and other.model_call
        )
        if (before := next(earlier, None)) is not None:
            seen = {_digest(picture) for picture in in_question(before)}
    return [picture for picture in in_question(step) if _digest(picture) not in seen]


def pictures(facts: RecordingFacts, step: StepFacts) -> list[StepPicture]:
    """Return all pictures of a step: those of its question, then those of its outcome."""
    return [*asked(facts, step), *given(step)]


def views(facts: RecordingFacts, step: StepFacts) -> tuple[PictureView, ...]:
    """Return the pictures of a step without their bytes, in the order of `pictures`."""
    return tuple(
        PictureView(path=one.path, kind=one.kind, size=len(one.data), asked=one.path.startswith("args."))
        for one in pictures(facts, step)
    )


_NAMED = ("[image]", "[file]", "[binary]", ' bytes>"', *_ENCODED)
"""Marks of a picture in a message's text, by provider."""


def beside(facts: RecordingFacts, step: StepFacts) -> tuple[list[int], list[int]]:
    """Return the places of a step's pictures to show with its text: those asked, those given.

    Those of browsers are left out, which films show, as are pictures that are too large for a page. A model call is
    searched only if a new message says that it holds a picture, as a prompt may have hundreds.
    """
    turn = step.turn
    if turn is not None:
        told = [*turn.new, *([turn.call.answer] if turn.call.answer is not None else [])]
        if not any(_named(message.text) for message in told):
            return [], []
    elif step.call.kind in {"browser", "http"}:
        return [], []
    found = [(place, one) for place, one in enumerate(pictures(facts, step)) if len(one.data) <= LARGEST]
    before = [place for place, one in found if one.path.startswith("args.")]
    return before, [place for place, _ in found if place not in before]


def _named(text: str) -> bool:
    return any(mark in text for mark in _NAMED)


def holder(texts: Sequence[str]) -> int:
    """Return the place of the message with the pictures: the last that names one."""
    return next((place for place in reversed(range(len(texts))) if _named(texts[place])), len(texts) - 1)


def in_question(step: StepFacts) -> list[StepPicture]:
    """Return the pictures in a step's arguments."""
    return list(islice(_found(step, step.step.log.args(step.call), "args"), MOST))


def _digest(picture: StepPicture) -> bytes:
    return blake2b(picture.data, digest_size=16).digest()


def _found(step: StepFacts, tree: Any, path: str, *, tagged: bool = False) -> Iterator[StepPicture]:
    if isinstance(tree, str):
        yield from _written(step, tree, path)
    elif isinstance(tree, list):
        for place, item in enumerate(tree):
            yield from _found(step, item, f"{path}[{place}]")
    elif isinstance(tree, dict):
        if len(tree) == 1 and next(iter(tree)) in _HOLDS:
            yield from _picture(binary(step.step.log.filled(tree)) or b"", path)
            return
        for name, item in tree.items():
            # The codec's tags are not part of the path that people see.
            tag = name.startswith("$")
            inner = path if tag or (tagged and name == "fields") else f"{path}.{name}".lstrip(".")
            yield from _found(step, item, inner, tagged=tag)


def _written(step: StepFacts, text: str, path: str) -> Iterator[StepPicture]:
    """Yield the picture that a text is, in base64, or those in a text of JSON."""
    if text.startswith(_ADDRESS):
        text = text.partition(",")[2]
    if text.startswith(_ENCODED):
        try:
            yield from _picture(base64.b64decode(text, validate=True), path)
        except ValueError:
            return
    elif text.startswith("{") and any(mark in text for mark in _ENCODED):
        inside = parsed(text)
        if isinstance(inside, dict):
            yield from _found(step, inside, path)


def picture_kind(head: bytes) -> Kind | None:
    """Return the kind of a picture by its first 12 bytes; None for other data."""
    if head.startswith(b"RIFF") and head[8:12] != b"WEBP":
        return None  # a sound
    return next((kind for mark, kind in _KINDS if head.startswith(mark)), None)


def _picture(data: bytes, path: str) -> Iterator[StepPicture]:
    kind = picture_kind(data[:12])
    if kind is not None:
        yield StepPicture(path, kind, data)
