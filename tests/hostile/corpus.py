"""Recordings that no recorder writes: gadgets, injected names, hostile texts, wrong types, broken structure, bombs.

Each case makes a recording's folder. Its lines have right sums, so that what stands in them is read; the cases of
`broken` change bytes afterwards. `archives` makes exported files.
"""

from __future__ import annotations

import io
import json
import os
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import reenact
from tests.hostile.forge import forge, lines_of

ID = "hostile1"
MARK = "reenact-pwned"
"""The name of a file that is there only if something of a recording was run. Commands and code name it."""

SHELL = ["/bin/sh", "-c", f"touch {MARK}"]
CODE = f"__import__('os').system('touch {MARK}')"


@dataclass(frozen=True)
class Case:
    """A hostile recording: `make(folder, base)` writes it, from the lines of a usual one."""

    name: str
    make: Callable[[Path, list[dict]], None]


# -- a usual recording -------------------------------------------------------------------------------------------


def base(home: Path) -> list[dict]:
    """The lines of a recording with a model call, a stream, tools, a picture, an error and state."""

    @reenact.tool(kind="model", name="gpt-4o")
    def model(messages):
        return {
            "choices": [{"message": {"role": "assistant", "content": "sunny"}}],
            "usage": {"prompt_tokens": 3},
        }

    @reenact.tool
    def weather(city):
        if city == "Oz":
            raise LookupError("no such city")
        return {"city": city, "picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40}

    with reenact.record("usual", tags=["a"], home=home) as recording:
        model(messages=[{"role": "user", "content": "How is the weather?"}])
        weather("Ulm")
        try:
            weather("Oz")
        except LookupError:
            pass
    folder = home / "recordings" / recording.id
    lines = lines_of(folder / "events.jsonl")
    lines[0]["id"] = ID
    lines[0]["program"] = {**lines[0].get("program", {}), "argv": [f"/tmp/{MARK}"], "cwd": "/"}
    for line in lines:
        line.pop("signed", None)
    return lines


def written(folder: Path, lines: list) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # Written as an attacker may: orjson writes neither what is deep nor lone surrogates.
    (folder / "events.jsonl").write_bytes(
        forge(
            line if isinstance(line, bytes) else json.dumps(line, separators=(",", ":")).encode()
            for line in lines
        )
    )


def changed(change: Callable[[list[dict]], object]) -> Callable[[Path, list[dict]], None]:
    def make(folder: Path, lines: list[dict]) -> None:
        fresh = json.loads(json.dumps(lines))
        written(folder, change(fresh) or fresh)

    return make


def header(**fields) -> Callable[[Path, list[dict]], None]:
    return changed(lambda lines: lines[0].update(fields))


def program(**fields) -> Callable[[Path, list[dict]], None]:
    return changed(lambda lines: lines[0].update(program={**lines[0]["program"], **fields}))


def every(event: str, **fields) -> Callable[[Path, list[dict]], None]:
    """Give all events of a kind these fields."""
    return changed(lambda lines: [line.update(fields) for line in lines if line["event"] == event] and None)


# -- what would run something ------------------------------------------------------------------------------------

GADGETS = [
    Case("a command in the header", program(argv=SHELL)),
    Case("a command in the header of a program's run", changed(lambda lines: lines[0].update(
        entry="program", program={"argv": SHELL, "cwd": "."}))),
    Case("a function of the system", changed(lambda lines: lines[0].update(
        entry="function", function={"name": "os:system", "args": [f"touch {MARK}"], "kwargs": {}},
        args=[f"touch {MARK}"]))),
    Case("python with code", program(argv=["python3", "-c", CODE])),
    Case("a working folder elsewhere", program(argv=SHELL, cwd="/etc")),
    Case("an environment", program(argv=["python3", "x.py"], env={"PYTHONSTARTUP": MARK, "LD_PRELOAD": MARK})),
    *(
        Case(f"a value of {tree}"[:70], every("returned", value=tree))
        for tree in (
            {"$dataclass": {"type": "tempfile:_TemporaryFileCloser",
                            "fields": {"file": None, "name": "canary", "delete": True, "close_called": False}}},
            {"$dataclass": {"type": "subprocess:Popen", "fields": {"args": SHELL}}},
            {"$model": {"type": "subprocess:Popen", "fields": {"args": SHELL}}},
            {"$namedtuple": {"type": "os:system", "fields": {"command": f"touch {MARK}"}}},
            {"$enum": ["os:system", f"touch {MARK}"]},
            {"$error": {"type": "os:system", "args": [f"touch {MARK}"], "message": ""}},
            {"$sub": {"type": "os:PathLike", "value": "x"}},
            {"$fraction": "1e99999999"},
            {"$decimal": "1e999999999"},
            {"$fraction": "1/0"},
            {"$int": "9" * 100_000},
            {"$range": [0, 1 << 62]},
            {"$timedelta": [1 << 60, 0, 0]},
            {"$datetime": "x", "zone": "../../../../etc/passwd"},
            {"$path": "\0"},
            {"$bytes": "%%%"},
            {"$dict": [[[1], 2]]},
            {"$set": [{"$dict": []}]},
            {"$surrogates": "\\ud800\\x"},
            {"$unkept": []},
            {"$nothing": 1},
        )
    ),
]  # fmt: skip

# -- names and texts ---------------------------------------------------------------------------------------------

NAMES = {
    "python": f'x"""; {CODE}; """',
    "an import": "from os import system",
    "a path": "../../../../tmp/" + MARK,
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "a terminal": "\x1b]0;x\x07\x1b[2J\x1b[31m\r\n\b",
    "a terminal of eight bits": "\x9b2J\x9d0;x\x9c\x85\x07\x7f",
    "a surrogate": "\ud800x",
    "nul": "a\0b",
    "right to left": "\u202egpj.exe\u2066\u200f\u061c",
    "a formula": "=cmd|'/c calc'!A0",
    "a template": "{0.__class__} %s %(x)s ${x} {{x}} [bold]x[/bold] [/nothing]",
    "nothing": "",
    "much": "A" * 300_000,
    "secrets": "sk-" * 20_000,
    "brackets": "[" * 5_000 + "{" * 5_000,
    "an option": "--output=/tmp/x",
    "url": "file:1/../etc/passwd",
}


def _named(name: str) -> Callable[[list[dict]], None]:
    def change(lines: list[dict]) -> None:
        lines[0]["name"], lines[0]["tags"] = name, [name, f"{name}:x"]
        for line in lines:
            for key in ("name", "text", "what", "source"):
                if isinstance(line.get(key), str):
                    line[key] = name
            if "at" in line and isinstance(line["at"], str):
                line["at"] = name
            if line["event"] == "called":
                line["args"] = {name: name, "messages": [{"role": name, "content": name}], "city": name}
            if line["event"] == "returned":
                line["value"] = {"choices": [{"message": {"role": name, "content": name}}], name: name}
            if line["event"] == "raised":
                line["error"] = {"type": name, "message": name, "args": [name], "traceback": name}

    return change


TEXTS = [Case(f"names of {kind}", changed(_named(name))) for kind, name in NAMES.items()]

# -- wrong types -------------------------------------------------------------------------------------------------


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


WRONG: list[object] = [
    None, True, -1, 1 << 62, -(1 << 63), 1e308, "x", "\0", "", [], [[]], {}, {"": None}, {"$tuple": 1}, deep(900), [1] * 1000,
]  # fmt: skip


def types(count: int | None = None) -> list[Case]:
    """Each member of each kind of line with a value of another type; a fixed choice of so many, or all."""
    kinds = {
        "opened": (
            "format", "rules", "id", "name", "tags", "started", "entry", "ordinal", "process", "pid", "program", "parent",
            "salt", "secrets", "adapters", "function", "source", "models", "state", "version",
        ),
        "called": ("call", "n", "kind", "name", "args", "at", "in", "t", "depth", "delta"),
        "returned": ("call", "value", "t", "stream", "n"),
        "raised": ("call", "error", "t"),
        "chunk": ("call", "value", "t"),
        "closed": ("call", "t"),
        "drew": ("source", "value", "at", "in", "n"),
        "noted": ("what", "text", "t"),
        "snapshot": ("state", "value", "step", "t", "call", "base", "patch"),
        "sealed": ("status", "exit", "t", "stdout", "output", "packages", "problem", "signed"),
    }  # fmt: skip
    found = []
    for event, names in kinds.items():
        for name in names:
            for place, value in enumerate(WRONG):
                found.append(
                    Case(f"{event}.{name} is {str(value)[:20]} ({place})", _wrong(event, name, value))
                )
    return found if count is None else random.Random(17).sample(found, count)


def _wrong(event: str, name: str, value: object) -> Callable[[Path, list[dict]], None]:
    def change(lines: list[dict]) -> None:
        if not any(line["event"] == event for line in lines):
            lines.insert(2, {"event": event, "call": 1, "t": 1.0})
        for line in lines:
            if line["event"] == event:
                line[name] = value

    return changed(change)


# -- broken structure --------------------------------------------------------------------------------------------


def raw(change: Callable[[bytes], bytes]) -> Callable[[Path, list[dict]], None]:
    """Change the bytes of a well-made file."""

    def make(folder: Path, lines: list[dict]) -> None:
        written(folder, lines)
        (folder / "events.jsonl").write_bytes(change((folder / "events.jsonl").read_bytes()))

    return make


def _flipped(place: float) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        at = int(len(data) * place)
        return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]

    return change


def _beside(name: str, make: Callable[[Path], object]) -> Callable[[Path, list[dict]], None]:
    def both(folder: Path, lines: list[dict]) -> None:
        written(folder, lines)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        make(folder / name)

    return both


def _instead(make: Callable[[Path], object]) -> Callable[[Path, list[dict]], None]:
    def only(folder: Path, lines: list[dict]) -> None:
        folder.mkdir(parents=True)
        make(folder / "events.jsonl")

    return only


def _wrong_blob(folder: Path, lines: list[dict]) -> None:
    lines = [dict(line) for line in lines]
    for line in lines:
        if line["event"] == "returned":
            line["value"] = {
                "picture": {"$blob": "sha256:" + "ab" * 32},
                "other": {"$blob": "sha256:../../../../etc/passwd"},
            }
    written(folder, lines)
    place = folder / "blobs" / "ab" / ("ab" * 32)
    place.parent.mkdir(parents=True)
    place.write_bytes(b"not what its name says")


BROKEN = [
    Case("an empty file", _instead(lambda path: path.write_bytes(b""))),
    Case("a header alone", changed(lambda lines: lines[:1])),
    Case("no header", changed(lambda lines: lines[1:])),
    Case("two headers", changed(lambda lines: [lines[0], *lines])),
    Case("two seals", changed(lambda lines: [*lines, lines[-1], lines[1]])),
    Case("a line twice", changed(lambda lines: [*lines[:2], lines[1], *lines[2:]])),
    Case("a call that ends first", changed(lambda lines: [lines[0], *reversed(lines[1:])])),
    Case("a call of no number", changed(lambda lines: [*lines[:2], {"event": "returned", "call": 1 << 40, "t": 1}, *lines[2:]])),
    Case("a line that is torn", raw(lambda data: data[:-20])),
    Case("half of it", raw(lambda data: data[: len(data) // 2])),
    Case("nothing at its end", raw(lambda data: data + b"\n\n\n")),
    Case("nul bytes at its end", raw(lambda data: data + bytes(4096))),
    Case("windows' lines", raw(lambda data: data.replace(b"\n", b"\r\n"))),
    Case("a mark before it", raw(lambda data: b"\xef\xbb\xbf" + data)),
    Case("sixteen bits a letter", raw(lambda data: data.decode().encode("utf-16"))),
    Case("no text", _instead(lambda path: path.write_bytes(random.Random(1).randbytes(10_000)))),
    Case("no recording", _instead(lambda path: path.write_bytes(b'{"a": 1}\n'))),
    Case("lists", _instead(lambda path: path.write_bytes(b"[]\n[1]\n"))),
    Case("a line that is no object", changed(lambda lines: [json.dumps(lines[0]).encode(), b"[]", b"null", b"1"])),
    Case("brackets without an end", changed(lambda lines: [json.dumps(lines[0]).encode(), b"[" * 100_000])),
    Case("very deep", changed(lambda lines: [
        *lines[:2], b'{"event":"noted","what":"x","text":' + b"[" * 5000 + b"]" * 5000 + b"}"])),
    Case("one very long line", changed(lambda lines: [
        *lines[:2], b'{"event":"noted","what":"x","text":"' + b"x" * 8_000_000 + b'"}'])),
    Case("a parent elsewhere", header(parent={"id": "../../../../etc", "step": 1, "how": "fork"})),
    Case("its own parent", changed(lambda lines: [
        {**lines[0], "parent": {"id": ID, "step": 1, "how": "fork"}}, {"event": "same", "line": 2},
        {"event": "same", "line": 1 << 60}])),
    Case("an id elsewhere", header(id="../../etc/passwd")),
    Case("a version to come", header(format=99)),
    Case("a version of no number", header(format="2")),
    Case("a process elsewhere", header(process="../../x")),
    Case("a blob of another hash", _wrong_blob),
    Case("a link", _instead(lambda path: path.symlink_to("/etc/passwd"))),
    Case("a folder", _instead(lambda path: path.mkdir())),
    Case("a pipe beside it", _beside("events.2.jsonl", os.mkfifo)),
    Case("a link beside it", _beside("events.2.jsonl", lambda path: path.symlink_to("/dev/zero"))),
    Case("a session that is none", _beside("session.1.jsonl", lambda path: path.write_bytes(b"\0" * 100 + b"\n{}\n[]\n"))),
    Case("a process that is none", _beside("events.3.jsonl", lambda path: path.write_bytes(b"{}\n"))),
    Case("a file that is read by no one", _beside("events.x\x1b[2J.jsonl", lambda path: path.write_bytes(b""))),
    *(Case(f"a bit that flipped at {place}", raw(_flipped(place))) for place in (0.001, 0.2, 0.5, 0.8, 0.999)),
]  # fmt: skip


def cases(many: int | None = 60) -> list[Case]:
    """All cases, with so many of those with wrong types."""
    return [*GADGETS, *TEXTS, *BROKEN, *types(many)]


# -- files -------------------------------------------------------------------------------------------------------


def archive(*members: tuple[str, bytes], manifest: object = None) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members:
            file.writestr(name, content)
        if manifest is not None:
            file.writestr("manifest.json", json.dumps(manifest))
    return data.getvalue()


def archives(lines: list[dict]) -> dict[str, bytes]:
    """Exported files, by what is wrong with them."""
    events = forge(lines)
    size = {"size": len(events), "sha256": "0" * 64}
    link = zipfile.ZipInfo("blobs/ab/" + "ab" * 32)
    link.create_system, link.external_attr = 3, 0o120777 << 16
    linked = io.BytesIO()
    with zipfile.ZipFile(linked, "w") as file:
        file.writestr("events.jsonl", events)
        file.writestr(link, "/etc/passwd")
    good = archive(("events.jsonl", events), manifest={"reenact": 2, "members": {"events.jsonl": size}})
    return {
        "a path that leads out": archive(("../../../" + MARK, b"x"), ("events.jsonl", events)),
        "a path from the root": archive(("/tmp/" + MARK, b"x"), ("events.jsonl", events)),
        "another checksum": good,
        "half a file": good[: len(good) // 2],
        "a link": linked.getvalue(),
        "a bomb": archive(
            ("events.jsonl", bytes(200 << 20)), manifest={"reenact": 2, "members": {"events.jsonl": size}}
        ),
        "a manifest that is a bomb": archive(("events.jsonl", events), ("manifest.json", b"[" * 40_000_000)),
        "a manifest that is none": archive(("events.jsonl", events), manifest=[1]),
        "a manifest of wrong types": archive(
            ("events.jsonl", events), manifest={"reenact": [], "members": 3}
        ),
        "a list of nothing": archive(),
        "no zip": b"PK\x03\x04" + bytes(1000),
        "nothing": b"",
    }
