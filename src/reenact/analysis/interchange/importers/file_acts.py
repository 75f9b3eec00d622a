"""Read contents and edits of files from the logs of coding agents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from reenact.core.dataclass import dataclass

Verb: TypeAlias = Literal["seen", "read", "absent", "written", "removed", "patched"]

_UNIFIED = re.compile(r"^@@ -([0-9]{1,9})[, ]")
_BEGIN, _END, _FILE_END = "*** Begin Patch", "*** End Patch", "*** End of File"
_ADD, _DELETE, _UPDATE, _MOVE = "*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that replace others.

    Attributes:
        old: The replaced lines.
        new: The lines that replace them.
        heading: A line that comes before them, or an empty text.
        at: The number of the first old line, if it is known.
        ends: They are the file's last lines.
        open: The file's last line has no line end; None if that does not change.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    heading: str = ""
    at: int | None = None
    ends: bool = False
    open: bool | None = None


@dataclass(frozen=True, slots=True)
class FileAct:
    """A content or a change of a file in a log.

    Attributes:
        verb: `seen`: the exact content at that time. `read`: the same, as a tool showed it, which may lack the last
            line end. `absent`: no file was there. `written`, `removed`, `patched`: the tool did it.
        path: The path, absolute or within the session's folder.
        text: The content.
        hunks: The changes of a patch.
        to: The new path, if the patch moves the file.
    """

    verb: Verb
    path: str
    text: str = ""
    hunks: tuple[Hunk, ...] = ()
    to: str = ""


# -- Claude Code ---------------------------------------------------------------------------------------------


def of_claude_code(result: Any) -> tuple[FileAct, ...]:
    """Return the acts on a file in a line's `toolUseResult`."""
    if not isinstance(result, dict):
        return ()
    if isinstance(file := result.get("file"), dict):
        return tuple(_read(file))
    path = result.get("filePath")
    return tuple(_edited(path, result)) if isinstance(path, str) and path else ()


def _read(file: dict[str, Any]) -> Iterator[FileAct]:
    path, text = file.get("filePath"), file.get("content")
    whole = file.get("startLine") == 1 and file.get("numLines") == file.get("totalLines")
    if isinstance(path, str) and path and isinstance(text, str) and whole:
        yield FileAct("read", path, text)


def _edited(path: str, result: dict[str, Any]) -> Iterator[FileAct]:
    before = result.get("originalFile", result.get("originalFileContents"))
    if isinstance(before, str):
        yield FileAct("seen", path, before)
    elif result.get("type") == "create":
        yield FileAct("absent", path)
    old, new = result.get("oldString"), result.get("newString")
    if isinstance(text := result.get("content"), str):
        yield FileAct("written", path, text)
    elif (
        isinstance(before, str) and isinstance(old, str) and old in before and not result.get("userModified")
    ):
        yield FileAct(
            "written", path, before.replace(old, str(new or ""), -1 if result.get("replaceAll") else 1)
        )
    else:
        yield FileAct("patched", path, hunks=tuple(_hunks(result.get("structuredPatch"))))


def _hunks(patch: Any) -> Iterator[Hunk]:
    for each in patch if isinstance(patch, list) else ():
        lines = each.get("lines") if isinstance(each, dict) else None
        if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
            start = each.get("oldStart")
            yield _hunk(lines, at=start if isinstance(start, int) else None)


# -- Codex ---------------------------------------------------------------------------------------------------


def of_codex_changes(changes: Any) -> tuple[FileAct, ...]:
    """Return the acts on files in the event `patch_apply_end`."""
    found: list[FileAct] = []
    for path, change in changes.items() if isinstance(changes, dict) else ():
        if not isinstance(change, dict):
            continue
        kind = str(change.get("type") or next(iter(change), ""))
        inner = change.get(kind)
        about = inner if isinstance(inner, dict) else change
        if kind == "add" and isinstance(about.get("content"), str):
            found += (FileAct("absent", path), FileAct("written", path, about["content"]))
        elif kind == "delete":
            found.append(FileAct("removed", path))
        elif kind == "update" and isinstance(about.get("unified_diff"), str):
            hunks = tuple(_blocks(about["unified_diff"].removesuffix("\n").split("\n")))
            found.append(FileAct("patched", path, hunks=hunks, to=str(about.get("move_path") or "")))
    return tuple(found)


def of_codex_patch(text: str) -> tuple[FileAct, ...]:
    """Return the acts on files of a text for the tool `apply_patch`."""
    begin = text.find(_BEGIN)
    if begin < 0:
        return ()
    found: list[FileAct] = []
    path, to, body = "", "", list[str]()

    def close() -> None:
        if path:
            found.append(FileAct("patched", path, hunks=tuple(_blocks(body)), to=to))

    adding = ""
    for line in text[begin:].split("\n")[1:]:
        if line.startswith((_ADD, _DELETE, _UPDATE, _END)):
            close()
            path, to, body, adding = "", "", [], ""
            if line.startswith(_END):
                break
            name = line.partition(": ")[2].strip()
            if line.startswith(_ADD):
                adding = name
                found += (FileAct("absent", name), FileAct("written", name))
            elif line.startswith(_DELETE):
                found.append(FileAct("removed", name))
            else:
                path = name
        elif line.startswith(_MOVE):
            to = line.removeprefix(_MOVE).strip()
        elif adding:
            found[-1] = FileAct("written", adding, f"{found[-1].text}{line[1:]}\n")
        else:
            body.append(line)
    return tuple(found)


def _blocks(lines: Sequence[str]) -> Iterator[Hunk]:
    """Read hunks, each of which begins with a line with `@@`."""
    heading, at, body, ends = "", None, list[str](), False
    for line in lines:
        if line.startswith("@@"):
            if body:
                yield _hunk(body, heading=heading, at=at, ends=ends)
            known = _UNIFIED.match(line)
            at = int(known[1]) if known else None
            heading, body, ends = "" if known else line[2:].strip(), [], False
        elif line.startswith(_FILE_END):
            ends = True
        else:
            body.append(line)
    if body:
        yield _hunk(body, heading=heading, at=at, ends=ends)


def _hunk(lines: Sequence[str], *, heading: str = "", at: int | None = None, ends: bool = False) -> Hunk:
    old = tuple(line[1:] for line in lines if line[:1] in ("", " ", "-"))
    new = tuple(line[1:] for line in lines if line[:1] in ("", " ", "+"))
    marks = [number for number, line in enumerate(lines) if line.startswith("\\")]
    # The mark follows the last line of the old file, of the new one, or of both.
    open_ = None if not marks else any(lines[number - 1][:1] in ("+", " ") for number in marks if number)
    return Hunk(old, new, heading, at, ends, open_)


# -- patches -------------------------------------------------------------------------------------------------


def patched(text: str, hunks: Sequence[Hunk]) -> str | None:
    """Return a file's content after a patch; None if it does not fit, or is empty."""
    if not hunks:
        return None
    # Codex ends the last line of each file that it patches.
    ended = text.endswith("\n") or not text or any(hunk.at is None for hunk in hunks)
    lines = text.removesuffix("\n").split("\n") if text else []
    made: list[str] = []
    cursor = 0
    for hunk in hunks:
        start = _place(lines, hunk, cursor)
        if start is None:
            return None
        made += lines[cursor:start]
        made += hunk.new
        cursor = start + len(hunk.old)
        ended = ended if hunk.open is None else not hunk.open
    made += lines[cursor:]
    return "\n".join(made) + ("\n" if ended and made else "")


def _place(lines: Sequence[str], hunk: Hunk, cursor: int) -> int | None:
    """Return the number of the line that a hunk's old lines begin at, or None."""
    if hunk.at is not None:
        start = hunk.at - 1 if hunk.old else hunk.at
        return start if start >= cursor and tuple(lines[start : start + len(hunk.old)]) == hunk.old else None
    if hunk.heading:
        heading = next((i for i in range(cursor, len(lines)) if lines[i].strip() == hunk.heading), None)
        if heading is None:
            return None
        cursor = heading + 1
    if not hunk.old:
        return cursor if hunk.heading else len(lines)
    if hunk.ends:
        start = len(lines) - len(hunk.old)
        return start if start >= cursor and tuple(lines[start:]) == hunk.old else None
    return _found(lines, hunk.old, cursor)


def _found(lines: Sequence[str], old: tuple[str, ...], cursor: int) -> int | None:
    """Return the first place of some lines, in linear time."""
    back = [0] * len(old)
    at = 0
    for number in range(1, len(old)):
        while at and old[number] != old[at]:
            at = back[at - 1]
        at += old[number] == old[at]
        back[number] = at
    at = 0
    for number in range(cursor, len(lines)):
        while at and (at == len(old) or lines[number] != old[at]):
            at = back[at - 1]
        at += lines[number] == old[at]
        if at == len(old):
            return number - len(old) + 1
    return None


def patch_of(args: Mapping[str, Any]) -> str:
    """Return the text of the patch among a tool's arguments, or an empty text."""
    for value in args.values():
        words = value if isinstance(value, list) else [value]
        for word in words:
            if isinstance(word, str) and _BEGIN in word and _END in word:
                return word
    return ""
