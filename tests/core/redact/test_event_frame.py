"""An event with very many secrets loses them, and stays an event of its kind: readers refuse anything else."""

from __future__ import annotations

import json

import orjson
import pytest

import reenact
from reenact.cli import main
from reenact.core import boundary
from reenact.core.model import codec, schema, session_schema
from reenact.core.model.event import Effect
from reenact.core.redact import Redactor
from tests.sampling import sampled

FIELD = {"name": "password", "value": "hunter2hunter", "n": 12345}
TEXTS = (
    "password=hunter2hunter ",
    '"password":"hunter2hunter",',
    "sk-",
    "4111 1111 1111 1111 ",
    "user,password\nann,hunter2hunter\n",
    "https://u:hunter2hunter@h.test/ ",
    "\ud800 --password hunter2hunter ",
)


def values(text, count):
    return {
        "text": text * count,
        "list": [text] * count,
        "object": {f"{text}{number}": text for number in range(count)},
        "fields": [FIELD] * count,
        "deep": [{"password": number, "n": 12345, "a": {"b": [1, {"c": text}]}} for number in range(count)],
        "mixed": {**FIELD, "big": {"x": text * count, "y": [text] * count}},
        "tagged": {"$tuple": [text] * count},
    }


def events(value, text):
    file = {"kind": "file", "mode": 420, "size": 12345, "mtime": 1234567890, "text": text * 99}
    printed = {"sha256": "ab" * 32, "length": 12345, "text": text * 999, "threads": False, "width": None}
    program = {
        "argv": ["python", "-c", text * 999],
        "cwd": "/",
        "packages": {"a": "1"},
        "git": {"dirty": True},
    }
    place = {"at": "main", "in": None}
    state = {"$keys": {"a": value}, "gone": ["b"], "order": [[0, 1234]]}
    return [
        {"event": "opened", "format": 2, "id": "a", "tags": ["a"], "pid": 1234, "program": program, "salt": "ab"},
        {"event": "called", **place, "call": 1234, "kind": "tool", "name": "a", "n": 0, "args": {"a": value}, "t": 0.5},
        {"event": "returned", "call": 1234, "value": value, "t": 0.123456},
        {"event": "raised", "call": 1, "error": {"type": "a:B", "text": text * 99, "args": [value]}, "t": 1.5},
        {"event": "snapshot", **place, "name": "password", "n": 1, "call": None, "why": "end", "value": state, "t": 2.5},
        {"event": "files", "call": 1, "how": "first", "root": "/x", "states": {"a": file, "b": file}, "t": 1.0},
        {"event": "spawned", **place, "process": "main/p", "command": ["a", text * 999], "t": 1.0},
        {"event": "sealed", "status": "ok", "t": 12.5, "stdout": printed, "output": value, "slept": {"main": 1234}},
        {"event": "before", "tab": 0, "action": {"type": "fill", "value": value}, "call": 1, "t": 1.0},
    ]  # fmt: skip


@pytest.mark.parametrize("kind", values("", 0))
@pytest.mark.parametrize("text", sampled(TEXTS, 3))
def test_an_event_stays_one_of_its_kind_and_holds_no_secret(text, kind):
    redactor = Redactor(salt=b"salt")
    value = values(text, 700)[kind]
    for event in events(value, text):
        line = codec.dumps(event)
        clean = redactor.line(line)
        made = orjson.loads(clean)
        assert list(made) == list(event)
        assert {name: made[name] for name in ("event", "call", "t") if name in event} == {
            name: event[name] for name in ("event", "call", "t") if name in event
        }
        (session_schema if event["event"] == "before" else schema).check(made)
        assert b"hunter2hunter" not in clean


@pytest.mark.parametrize("kind", values("", 0))
def test_a_member_alone_stays_a_member(kind):
    value = values(TEXTS[0], 700)[kind]
    clean = Redactor(salt=b"salt").line(b'"args":' + codec.dumps(value))
    assert list(orjson.loads(b"{%b}" % clean)) == ["args"]
    assert b"hunter2hunter" not in clean


def test_an_event_that_cannot_stay_one_is_a_hole():
    states = {f"password=hunter{number}x": {"kind": "file", "size": 1} for number in range(2000)}
    event = {"event": "files", "call": 1, "how": "first", "root": "/", "states": states, "t": 1.0}
    made = orjson.loads(Redactor(salt=b"salt").line(json.dumps(event).encode()))
    assert (made["event"], made["what"]) == ("noted", "hole")
    schema.check(made)


def test_a_tool_that_answers_with_hundreds_of_passwords_leaves_a_recording_that_can_be_read(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path))
    fields = [{**FIELD, "n": number} for number in range(500)]
    with reenact.record("a", home=tmp_path) as run:
        boundary.perform(Effect("tool", "list", {"x": 1}), lambda: fields)
        boundary.perform(Effect("tool", "save", {"fields": fields, "to": "a"}), lambda: "saved")
        boundary.perform(
            Effect("model", "m", {"messages": [{"role": "user", "content": str(fields)}]}), lambda: "ok"
        )
    recording = reenact.load(str(run.path))
    assert [step.label for step in recording.steps] == ["tool:list", "tool:save", "model:m"]
    assert recording.steps[1].args["to"] == "a"
    assert main(["show", "last", "--full"]) == main(["fsck"]) == 0
    assert all(b"hunter2" not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
