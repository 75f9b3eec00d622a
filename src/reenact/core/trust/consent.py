"""Consent to run a recording's program: the user is shown a foreign recording's command."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from reenact.core.model.header import ID, program_of
from reenact.core.patterns import lazy
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.trust.book import Book
from reenact.core.trust.origin import Provenance, origin_of
from reenact.errors import ForeignRecording

OPTION = "--run-foreign"
"""The option of the command line that lets foreign programs run."""

_EVENTS = "events.jsonl"
_FILE = lazy(r"events(\.[\w-]+)?\.jsonl", re.ASCII)
_SHOWN = 4000
_BLOCK = 1 << 20
_BIDI = {"R", "AL", "AN", "RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI", "BN"}


def standing_of(recording: RecordedRun, home: Path) -> Provenance:
    """Return the standing of a recording in a home."""
    return _standing(recording, Book(home))


def allowed(recording: RecordedRun, home: Path) -> bool:
    """Return True if a recording's program may run: it is at home, or the user has allowed it."""
    book = Book(home)
    if _standing(recording, book).at_home:
        return True
    return book.accepts(content(recording))


def check(recording: RecordedRun, home: Path, *, run_foreign: bool = False, instead: str = "") -> None:
    """Raise ForeignRecording if a recording's program may not run. `instead`: advice to add."""
    if run_foreign or allowed(recording, home):
        return
    more = f", or {instead}" if instead else ""
    raise ForeignRecording(
        f"recording {escaped(recording.id)}: {standing_of(recording, home).sentence}; it would run "
        f"{command(recording) or 'what its header names'}: {OPTION} allows that{more}"
    )


def steers(recording: RecordedRun) -> bool:
    """Return True if a recording names a program or a function, which needs consent."""
    return bool(program_of(recording.header).get("argv") or recording.header.get("function"))


def accept(recording: RecordedRun, home: Path) -> None:
    """Remember the user's consent to run a recording's program, while its content is unchanged.

    Raises UsageError where that cannot be written.
    """
    Book(home).accept(content(recording), recording.id)


def command(recording: RecordedRun) -> str:
    """Return the recorded command on one line, with all characters visible."""
    program = program_of(recording.header)
    argv = program.get("argv")
    words = [str(word) for word in argv] if isinstance(argv, list) else []
    return _short(" ".join(shlex.quote(escaped(word)) for word in words))


def described(recording: RecordedRun) -> Iterator[tuple[str, str]]:
    """Describe the program in a recording's header, as titles and lines safe for a terminal."""
    program = program_of(recording.header)
    yield "command", command(recording) or "none"
    yield "folder", _short(escaped(str(program.get("cwd") or "")))
    yield "entry", _short(escaped(str(recording.header.get("entry") or "")))
    function = recording.header.get("function")
    if isinstance(function, dict):
        yield "function", _short(escaped(str(function.get("name") or "")))
    if program.get("hash_seed") is not None:
        yield "sets", _short(escaped(f"PYTHONHASHSEED={program['hash_seed']}"))
    proxied = program.get("proxy")
    if isinstance(proxied, dict):
        upstreams = proxied.get("upstreams")
        for name, url in upstreams.items() if isinstance(upstreams, dict) else ():
            yield "sends to", _short(escaped(f"{name}={url}"))
        for name in proxied.get("keys") or ():
            yield "sets", _short(escaped(f"{name}, where it is missing"))


def escaped(text: str) -> str:
    """Return text with all characters escaped that would act on a terminal."""
    return "".join(map(_escaped, text))


def _escaped(char: str) -> str:
    if " " <= char <= "~":
        return char
    if char < "\xa0":
        return f"\\x{ord(char):02x}"
    visible = char.isprintable() and not char.isspace() and unicodedata.category(char)[0] != "M"
    plain = visible and unicodedata.bidirectional(char) not in _BIDI
    return char if plain else f"\\u{{{ord(char):x}}}"


def content(recording: RecordedRun) -> str:
    """Return a digest of all events of a recording, with those that a fork shares."""
    return content_at(Path(recording.path))


def content_at(path: Path) -> str:
    """Return the digest of `content` for the recording in a folder or file. Raises OSError."""
    digest = hashlib.sha256()
    if path.is_file():
        _zipped(path, digest)
    else:
        seen: set[Path] = set()
        folder: Path | None = path
        while folder is not None and folder not in seen:
            seen.add(folder)
            for file in sorted(
                file for file in folder.iterdir() if _FILE.fullmatch(file.name) and file.is_file()
            ):
                with file.open("rb") as events:
                    _add_file(file.name, events, digest)
            folder = _parent(folder)
    return digest.hexdigest()


def _standing(recording: RecordedRun, book: Book) -> Provenance:
    return book.standing(origin_of(recording.logs, book.identity, Path(recording.path)))


def _add_file(name: str, file: Any, digest: Any) -> None:
    """Add a file's name and bytes to a digest."""
    inner = hashlib.sha256()
    while block := file.read(_BLOCK):
        inner.update(block)
    digest.update(f"{name}\0{inner.hexdigest()}\n".encode())


def _zipped(path: Path, digest: Any) -> None:
    from zipfile import ZipFile  # noqa: PLC0415 - a file that was exported, which few commands read

    with ZipFile(path) as archive:
        names = {os.path.basename(name): name for name in archive.namelist()}  # noqa: PTH119 - names in a zip file
        for name in sorted(name for name in names if _FILE.fullmatch(name)):
            with archive.open(names[name]) as file:
                _add_file(name, file, digest)


def _parent(folder: Path) -> Path | None:
    """Return the folder of a fork's parent, or None."""
    try:
        with (folder / _EVENTS).open("rb") as file:
            parent = orjson.loads(file.readline()).get("parent")
    except (OSError, ValueError, AttributeError):
        return None
    if not isinstance(parent, dict) or not ID.fullmatch(str(parent.get("id") or "")):
        return None
    found = folder.parent / str(parent["id"])
    return found if (found / _EVENTS).is_file() else None


def _short(text: str) -> str:
    rest = len(text) - _SHOWN
    return text if rest <= 0 else f"{text[:_SHOWN]} … AND {rest} CHARACTERS MORE THAT ARE NOT SHOWN"
