"""Import other programs' recordings; the format is recognised by the content.

`FORMATS` lists them; a new one is a pair of functions, which recognise its documents and read them.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from reenact.analysis.interchange.importers import (
    agents,
    atif,
    chat,
    codex,
    inspect,
    langfuse,
    openai_agents,
    openclaw,
    openhands,
    otel,
    vcr,
)
from reenact.analysis.interchange.importers.repository import Repository
from reenact.analysis.interchange.importers.run import Happened, ImportedRun
from reenact.analysis.interchange.importers.run_writer import keep
from reenact.analysis.interchange.importers.session_files import WorkspaceFiles
from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.core.model.event import Tree
from reenact.core.store import bundle, shared
from reenact.core.store.base import Progress
from reenact.core.store.local import EVENTS, SUFFIX, LocalStore, load
from reenact.core.store.reading import PAGE, is_page
from reenact.errors import CorruptRecording, NotARecording, RecordingNotFound, TooLarge, UsageError

__all__ = [
    "FORMATS",
    "Happened",
    "ImportedRun",
    "Joins",
    "Repository",
    "bring",
    "files_in",
    "keep",
    "runs",
    "runs_of",
]

Joins = Callable[[str], Repository | None]
"""Returns the repository that is joined to a session of that folder, or None."""

_YAML = (".yaml", ".yml")
_BINARY = (".pb", ".binpb", ".otlp", ".protobuf")
_SUFFIXES = {*_YAML, *_BINARY, ".json", ".jsonl", ".ndjson", ".traj", ".eval", SUFFIX}
_LARGEST = 1 << 30
_CASSETTE = re.compile(rb"^(http_)?interactions:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Format:
    """A format that can be imported: whether a parsed file is in it, and its runs."""

    about: str
    knows: Callable[[Any], bool]
    read: Callable[[Any, Path], Iterable[ImportedRun]]


def _one(read: Callable[[Any, Path], ImportedRun]) -> Callable[[Any, Path], Iterable[ImportedRun]]:
    return lambda document, path: [read(document, path)]


def _is_chat(document: Any) -> bool:
    if chat.messages_of(document) is not None:
        return True
    return (
        isinstance(document, list)
        and bool(document)
        and all(chat.messages_of(item) is not None for item in document)
    )


def _chats(document: Any, path: Path) -> Iterable[ImportedRun]:
    if chat.messages_of(document) is not None:
        return [chat.run_of(document, path.stem, str(path))]
    several = len(document) > 1
    return [
        chat.run_of(
            item, f"{path.stem} {number}" if several and not isinstance(item, dict) else path.stem, str(path)
        )
        for number, item in enumerate(document, 1)
    ]


FORMATS = {
    "vcr": Format("a vcrpy cassette, as YAML or JSON", vcr.is_cassette, _one(vcr.cassette)),
    "otel": Format(
        "traces: OTLP as JSON, JSON lines or protobuf, or as an SDK prints them", otel.is_spans, otel.read
    ),
    "langfuse": Format("a trace that Langfuse exported", langfuse.is_langfuse, _one(langfuse.langfuse)),
    "openai-agents": Format(
        "traces of OpenAI's Agents SDK, as its processors export them",
        openai_agents.is_openai_agents,
        openai_agents.openai_agents,
    ),
    "inspect": Format("a log of Inspect, .eval or .json", inspect.is_inspect, inspect.inspect),
    "atif": Format("a trajectory in ATIF", atif.is_atif, _one(atif.atif)),
    "codex": Format("a Codex session (its rollout file)", codex.is_codex, _one(codex.codex)),
    "openclaw": Format("OpenClaw's telemetry", openclaw.is_openclaw, _one(openclaw.openclaw)),
    "openhands": Format(
        "OpenHands' events, or the output of its evaluation", openhands.is_openhands, openhands.openhands
    ),
    "who-and-when": Format(
        "a failed run with its annotations", agents.is_who_and_when, _one(agents.who_and_when)
    ),
    "swe-agent": Format("SWE-agent's .traj", agents.is_swe_agent, _one(agents.swe_agent)),
    "claude-code": Format("a Claude Code session", agents.is_claude_code, _one(agents.claude_code)),
    "pydantic-ai": Format("Pydantic AI's message JSON", agents.is_pydantic_ai, _one(agents.pydantic_ai_run)),
    "lesson": Format("a session saved by reenact.lesson", agents.is_lesson, _one(agents.lesson)),
    "chat": Format(
        "messages in OpenAI's form: one run, a list, or one per line (tau-bench)", _is_chat, _chats
    ),
}
"""The formats besides Reenact's own, the particular before the general."""


def bring(
    store: LocalStore,
    path: Path,
    *,
    format: str = "",
    name: str = "",
    tags: Iterable[str] = (),
    progress: Progress | None = None,
    joins: Joins | None = None,
) -> tuple[str, list[str]]:
    """Import one file; returns its format and the ids of the new recordings.

    Args:
        store: Where they go.
        path: The file (or the folder of a recording).
        format: One of `FORMATS`, or `reenact`; by default what the content looks like.
        name: A name for the recordings, instead of the file's.
        tags: More tags.
        progress: Called for each recording, with (done, all).
        joins: Finds the repository whose commits have files of a coding agent's session, besides those in its log.

    Raises:
        NotARecording: The file is in no known format; nothing is written then.
    """
    if format and format not in FORMATS and format != "reenact":
        raise UsageError(f"unknown format '{format}'; known: reenact, {', '.join(FORMATS)}")
    if not path.exists():
        raise RecordingNotFound(f"{path}: there is no such file")
    if not (path.is_file() or path.is_dir()):
        raise NotARecording(f"{path} is no file")
    if format in ("", "reenact"):
        own = _own(store, path)
        if own is not None:
            return "reenact", [own]
        if format:
            raise NotARecording(f"{path} is no recording of ours; leave out --format to have it recognised")
    found, imported = runs(path, format)
    kept = []
    for number, read in enumerate(imported):
        if progress is not None:
            progress(number, len(imported))
        whole = replace(read, name=name or read.name, tags=(*read.tags, *tags), effects=list(read.effects))
        with ExitStack() as stack:
            kept.append(keep(store, whole, files=_files_of(whole, joins, stack)))
    return found, kept


def _files_of(run: ImportedRun, joins: Joins | None, stack: ExitStack) -> WorkspaceFiles | None:
    """Return the files of a session; None if none are known."""
    if run.workspace is None:
        return None
    joined = None if joins is None else joins(run.workspace.folder)
    if joined is not None:
        stack.enter_context(joined)
    files = WorkspaceFiles(run, run.workspace, joined)
    return files if files.known else None


def files_in(path: Path) -> list[Path]:
    """Return the files to import for a path: all of a folder that may be of a known format.

    Raises:
        NotARecording: The folder has no such file.
    """
    if not path.is_dir() or (path / EVENTS).exists():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file())
    if not found:
        raise NotARecording(f"{path} holds no file to import ({', '.join(sorted(_SUFFIXES))})")
    # A recording's folder inside is imported whole.
    own = {file.parent for file in found if file.name == EVENTS}
    return [*sorted(own), *(file for file in found if not own & {*file.parents})]


def runs(path: Path, format: str = "") -> tuple[str, list[ImportedRun]]:
    """Return the runs in a file, and its format; write nothing."""
    return runs_of(_parsed(path), path, format)


def runs_of(document: Any, path: Path, format: str = "") -> tuple[str, list[ImportedRun]]:
    """Return the runs in a parsed file, and its format. Messages name the path."""
    for name, known in FORMATS.items():
        if name != format if format else not known.knows(document):
            continue
        try:
            found = list(known.read(document, path))
        except NotARecording:
            raise
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
            raise NotARecording(
                f"{path} cannot be read as {name} ({type(error).__name__}: {error})"
            ) from None
        if not any(list(run.effects) for run in found):
            raise NotARecording(f"{path} is read as {name}, but holds no answer of a model and no tool call")
        return name, found
    raise NotARecording(
        f"{path} has no known format ({_looks(document)}); known: reenact, {', '.join(FORMATS)}"
    )


def _own(store: LocalStore, path: Path) -> str | None:
    """Import a recording of Reenact: a folder, an export, or an events file; None for others."""
    if path.is_dir() or path.name == EVENTS:
        folder = path.parent if path.name == EVENTS else path
        load(folder)
        return _copied(store, folder)
    if bundle.is_bundle(path):
        return bundle.bring(store, path)
    with path.open("rb") as file:
        first = file.readline(1 << 20)
    return _copied(store, path) if first.startswith(b'{"event":"opened"') else None


def _copied(store: LocalStore, source: Path) -> str:
    """Copy a recording's folder or events file into the store. Links are not followed."""
    private.folder(store.root)
    fresh = store.root / f"incoming-{secrets.token_hex(6)}"
    try:
        if source.is_dir():
            for member in bundle.members_of(source):
                _copy(source, member, fresh / member)
        else:
            _copy(source.parent, source.name, fresh / EVENTS)
        return bundle.adopt(store, fresh, source)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _copy(folder: Path, member: str, target: Path) -> None:
    private.folder(target.parent)
    if member == EVENTS:
        # A fork refers to its parent's lines, which are only beside it.
        private.write(target, shared.whole((folder / member).read_bytes(), folder))
        return
    private.copy(folder / member, target)
    if "/" in member and hashlib.sha256(target.read_bytes()).hexdigest() != target.name:
        raise CorruptRecording(f"{folder / member} does not have the hash that is its name")


def _parsed(path: Path) -> Tree:
    """Return a file's JSON, or the list of its lines' JSON."""
    try:
        if path.stat().st_size > _LARGEST:
            raise TooLarge(
                f"{path} has more than {_LARGEST >> 20} MB, the limit of what is imported; split it"
            )
        data = path.read_bytes()
    except OSError as error:
        raise NotARecording(f"{path} cannot be read: {error.strerror}") from None
    if not data.strip():
        raise NotARecording(f"{path} is empty")
    if data[:4] == b"PK\x03\x04":
        return inspect.archive(data, path)
    if data[:1] == b"\n" or path.suffix.lower() in _BINARY:
        # A protobuf trace begins with a line feed; a JSON file may, too.
        spans = otel.from_bytes(data)
        if spans is not None:
            return spans
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in b"[{":
        if path.suffix.lower() in _YAML or _CASSETTE.search(data[:4096]):
            return vcr.loads(data, path)
        if is_page(data):
            raise NotARecording(f"{path} {PAGE}")
        raise NotARecording(f"{path} is no JSON; known formats: reenact, {', '.join(FORMATS)}")
    try:
        return _loads(data)
    except ValueError as error:
        lines = [line for line in data.splitlines() if line.strip()]
        if len(lines) < 2:
            raise NotARecording(f"{path} is damaged JSON ({error})") from None
    return [_line(line, number, path) for number, line in enumerate(data.splitlines(), 1) if line.strip()]


def _line(line: bytes, number: int, path: Path) -> Tree:
    try:
        return _loads(line)
    except ValueError as error:
        raise NotARecording(
            f"{path}, line {number}: damaged JSON ({error}); nothing of the file was imported"
        ) from None


def _loads(data: bytes) -> Tree:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # Python writes NaN and lone surrogates, which orjson refuses.
        return json.loads(data)


def _looks(document: Any) -> str:
    if not document and isinstance(document, dict | list):
        return "an empty object" if isinstance(document, dict) else "an empty list"
    if isinstance(document, dict):
        return f"an object with {_keys(document)}"
    if isinstance(document, list) and document and isinstance(document[0], dict):
        return f"a list of {len(document)} objects with {_keys(document[0])}"
    return f"a {type(document).__name__}"


def _keys(document: dict[Any, Any]) -> str:
    return ", ".join(" ".join(str(key).split())[:40] for key in list(document)[:6])
