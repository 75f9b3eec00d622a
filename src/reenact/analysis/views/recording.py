"""The JSON of reading commands and of the server. Keys are only ever added.

They are documented in docs/command-line.md and docs/api.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from reenact.analysis.views.values import pretty
from reenact.core import messages as reading
from reenact.core.messages import Message
from reenact.core.model.event import Tree
from reenact.core.model.plain import plain
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.recording import Recording
from reenact.core.query.summary import Summary, summarise
from reenact.core.store import bundle, shared
from reenact.core.store.base import Hit
from reenact.core.store.shared import Origin
from reenact.core.trust import Book, Standing
from reenact.core.unpack import Archive


def listed(hit: Hit, origin: Origin | None = None, book: Book | None = None) -> dict[str, Any]:
    """One entry of `list --json`."""
    standing = book.of_line(hit.summary) if book is not None else None
    found = {**line(hit.summary), "origin": standing.tree() if standing is not None else None}
    found |= {"parent": asdict(origin)} if origin is not None else {}
    return {**found, "found_in": list(hit.steps)} if hit.steps else found


def line(line: Summary) -> dict[str, Any]:
    """Return a recording's fields in a list."""
    return {
        "id": line.id,
        "name": line.name,
        "status": status(line),
        "problem": line.broken or line.problem or None,
        "started": line.started or None,
        "duration": line.duration,
        "steps": line.steps,
        "failed_steps": line.failed,
        "models": list(line.models),
        "tokens": {"input": line.input_tokens, "output": line.output_tokens},
        "cost": line.cost,
        "tags": list(line.tags),
        "imported": line.entry == "imported",
        "path": line.path,
    }


def status(line: Summary) -> str:
    """Return a recording's status: `ok`, `error`, `unsealed`, or `broken` if unreadable."""
    return "broken" if line.broken else line.status


def recording(facts: RecordingFacts, chosen: Collection[int], standing: Standing) -> dict[str, Any]:
    """Return the output of `show ID --json`: new messages of model calls, other steps whole."""
    found = facts.recording
    return {
        **line(summarise(facts, path=found.path)),
        **head(found),
        "origin": standing.tree(),
        "step_list": [step(facts.steps[number - 1], brief=True) for number in chosen],
    }


def head(found: Recording) -> dict[str, Any]:
    """Return a recording's fields beyond those in a list."""
    sealed = found.logs[0].sealed or {}
    return {
        "parent": found.header.get("parent"),
        "notes": list(found.notes),
        "program": found.header.get("program"),
        "source": plain(found.header.get("source")),
        "output": plain(sealed["output"]) if "output" in sealed else None,
    }


def step(facts: StepFacts, *, brief: bool = False) -> dict[str, Any]:
    """Return the output of `show ID STEP --json`; brief: as one of a recording's steps."""
    call, turn = facts.call, facts.turn
    found: dict[str, Any] = {
        "step": facts.step.number,
        "kind": call.kind,
        "name": call.name,
        "status": call.status,
        "address": call.address,
        "scope": call.scope,
        "process": facts.step.log.process,
        "within": facts.recording.within(facts),
        "began": call.began,
        "duration": call.duration,
        "error": facts.error or None,
    }
    if turn is None or not brief:
        found |= {"args": facts.args, "output": facts.output}
    if turn is not None:
        found["model"] = {
            "model": turn.call.model,
            "new_messages": [message(one) for one in turn.new],
            "known_messages": turn.known,
            "answer": message(turn.call.answer) if turn.call.answer is not None else None,
            "tokens": asdict(turn.call.usage) if turn.call.usage is not None else None,
            "cost": reading.cost(turn.call),
            "problem": turn.call.problem or None,
            "embedded": asdict(turn.call.embedded) if turn.call.embedded is not None else None,
        }
    if call.pieces:
        found["chunks"] = len(call.pieces)
    return found


def message(message: Message) -> dict[str, Any]:
    """One message of a conversation."""
    found: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.calls:
        found["calls"] = [
            {"name": call.name, "args": call.args, "id": call.id or None} for call in message.calls
        ]
    return found | {key: value for key in ("name", "id", "thinking") if (value := getattr(message, key))}


def text(tree: Tree) -> str:
    """A recorded value for reading."""
    return pretty(plain(tree))


def stored(path: Path, first: str) -> Iterator[list[bytes]]:
    """The lines of each process's events, from a folder or an exported file."""
    if path.is_file():
        with Archive(path, str(path), bundle.LIMIT) as archive:
            names = [name for name in archive.names if name.endswith(".jsonl")]
            for name in sorted(names, key=lambda name: (name != first, name)):
                yield _lines(archive.read(name))
        return
    for file in sorted(path.glob("events*.jsonl"), key=lambda file: (file.name != first, file.name)):
        with shared.opened(file) as opened:
            data = opened.read()
        yield _lines(shared.whole(data, path) if file.name == first else data)


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line]


def process(line: bytes) -> str:
    """The process that a header line begins."""
    return str(_data(line).get("process") or "main")


def call(line: bytes) -> Any:
    """The call that a line belongs to, or None."""
    return _data(line).get("call")


def _data(line: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return data if isinstance(data, dict) else {}
