"""Labels and a note that people add to a recording after its run.

Each change is a file of one line beside the events, `labels.<time>-<random>.jsonl`, with all labels and the note. The
one with the last name counts. The files of a recording only grow in number, so stores that append can exchange them,
and changes in two places never conflict. The seal does not cover them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Any

import orjson

from reenact.core import system
from reenact.core.model.header import ID
from reenact.core.model.storable import storable, why_not
from reenact.core.patterns import lazy
from reenact.core.query.recorded_run import Labels
from reenact.core.store import chain
from reenact.core.store.base import Intake, Piece
from reenact.errors import ReenactError, UsageError

PATTERN = lazy(r"labels\.[\w-]{1,64}\.jsonl", re.ASCII)
"""The pattern of the files' names."""

LONGEST_LABEL = 100
MOST_LABELS = 32
LONGEST_NOTE = 10_000
LARGEST = 256 << 10
"""The maximum size of a file in bytes; the longest labels and note take less."""

_TRIED = 20
"""The maximum number of files to read, the last first, while they are damaged."""


def labels_in(names: Iterable[str], read: Callable[[str], bytes], torn: list[str]) -> Labels:
    """Return the labels of a recording.

    Args:
        names: The names of its files.
        read: Returns the first bytes of a file, `LARGEST` and one more at most.
        torn: Gets a sentence for a damaged file, which is passed over.
    """
    for name in sorted(filter(PATTERN.fullmatch, names), reverse=True)[:_TRIED]:
        try:
            return _parsed(read(name))
        except (OSError, ValueError, ReenactError) as error:
            torn.append(f"{name} is damaged ({error}) and is left out")
    return Labels()


def checked(labels: Iterable[str], note: str) -> Labels:
    """Return labels and a note that can be stored. Raises UsageError."""
    found = tuple(dict.fromkeys(label.strip().removeprefix("#") for label in labels))
    if len(found) > MOST_LABELS:
        raise UsageError(f"a recording has {MOST_LABELS} labels at most")
    for label in found:
        if not label or label.split() != [label]:
            raise UsageError(f"a label is one word without spaces: {label!r} is not")
        if problem := why_not(label, LONGEST_LABEL):
            raise UsageError(f"the label {label[:40]!r} {problem}")
    if problem := why_not(note, LONGEST_NOTE):
        raise UsageError(f"the note {problem}")
    return Labels(found, note.strip())


def give(intake: Intake, id: str, labels: Labels) -> str:
    """Store a recording's labels and note in place of its earlier ones; return the file's name.

    Raises UsageError where the store does not take them.
    """
    if not ID.fullmatch(id):
        raise UsageError(f"{id[:80]!r} is no recording's id")
    moment = time.time_ns()
    at = time.strftime("%Y%m%dT%H%M%S", time.gmtime(moment // 1_000_000_000))
    name = f"labels.{at}{moment % 1_000_000_000:09d}-{system.random_hex(4)}.jsonl"
    line = orjson.dumps({"event": "labels", "labels": list(labels.words), "note": labels.note})
    (taken,) = intake.take([Piece(id, name, 0, chain.chained([line]))])
    if taken.status != "ok":
        raise UsageError(f"{id} cannot be labelled: {taken.detail or taken.status}")
    return name


def _parsed(data: bytes) -> Labels:
    if len(data) > LARGEST:
        raise ValueError(f"it has more than {LARGEST >> 10} KB")
    given: Any = orjson.loads(data.partition(b"\n")[0])
    words, note = (given.get("labels"), given.get("note")) if isinstance(given, dict) else (None, None)
    if not isinstance(words, list) or not isinstance(note, str):
        raise ValueError("it has no labels and no note")  # noqa: TRY004 - as damaged as any other
    kept = (storable(word, LONGEST_LABEL) for word in words[:MOST_LABELS] if isinstance(word, str))
    return Labels(tuple(dict.fromkeys(word for word in kept if word)), storable(note, LONGEST_NOTE))
