"""A session is one readable JSON file, with a recording of Reenact beside it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

import reenact
from reenact.errors import NotARecording, RecordingNotFound, ReenactError, UsageError
from reenact.lesson import (
    SessionRecord,
    arecord_session,
    create_replay_model,
    record_session,
    record_sessions,
)
from tests.lesson.conftest import ASKED, SAID

KEYS = [
    "session_id", "timestamp", "user_input", "final_output", "model", "instructions", "messages", "tool_calls",
    "duration_ms",
]  # fmt: skip


def test_a_session_has_what_was_asked_said_and_done(shop):
    output, session = record_session(shop.agent(), ASKED)
    assert output == session.final_output == SAID
    assert session.user_input == ASKED
    assert session.model == "function:gpt-4o"
    assert session.instructions == "You help customers with their orders."
    assert session.tool_calls == [
        {"tool": "lookup_order", "args": {"order_id": "ORD-5521"}},
        {"tool": "cancel_order", "args": {"order_id": "ORD-5521", "reason": "wrong item"}},
    ]
    assert session.messages == [
        {"type": "ModelRequest", "parts": [{"kind": "user-prompt", "content": ASKED}]},
        {"type": "ModelResponse", "parts": [
            {"kind": "tool-call", "tool_name": "lookup_order", "args": {"order_id": "ORD-5521"}, "tool_call_id": "call_1"},
        ]},
        {"type": "ModelRequest", "parts": [
            {"kind": "tool-return", "tool_name": "lookup_order", "content": "Order ORD-5521: 2x Widget Pro, status: shipped", "tool_call_id": "call_1"},
        ]},
        {"type": "ModelResponse", "parts": [
            {"kind": "tool-call", "tool_name": "cancel_order", "args": {"order_id": "ORD-5521", "reason": "wrong item"}, "tool_call_id": "call_2"},
        ]},
        {"type": "ModelRequest", "parts": [
            {"kind": "tool-return", "tool_name": "cancel_order", "content": {"order": "ORD-5521", "status": "cancelled", "reason": "wrong item"}, "tool_call_id": "call_2"},
        ]},
        {"type": "ModelResponse", "parts": [{"kind": "text", "content": SAID}]},
    ]  # fmt: skip
    assert session.duration_ms > 0


def test_saved_it_is_the_lessons_json_and_loads_as_it_was(shop, tmp_path):
    _, session = record_session(shop.agent(), ASKED)
    file = session.save(tmp_path / "sessions" / "abc.json")
    text = file.read_text()
    assert list(json.loads(text)) == KEYS
    assert text.startswith('{\n  "session_id"')
    assert SessionRecord.load(file) == session
    assert [path.name for path in file.parent.iterdir()] == ["abc.json"]


def test_what_the_lessons_own_code_wrote_loads_too(tmp_path):
    file = tmp_path / "theirs.json"
    theirs = {
        "session_id": "abc123",
        "messages": [{"type": "ModelRequest", "parts": [{"kind": "retry-prompt"}]}],
    }
    file.write_text(json.dumps(theirs))
    assert SessionRecord.load(file).messages == theirs["messages"]


def test_the_recording_beside_it_replays(shop):
    _, session = record_session(shop.agent(), ASKED)
    with reenact.replay(session.session_id) as replay:
        assert shop.agent().run_sync(session.user_input).output == SAID
    assert replay.verdict.faithful


def test_an_id_of_ones_own_is_the_recordings_tag(shop):
    _, session = record_session(shop.agent(), ASKED, "ticket-7")
    assert session.session_id == "ticket-7"
    assert reenact.load("last").tags == ("session:ticket-7",)


def test_where_a_loop_runs_already_it_is_awaited(shop):
    output, session = asyncio.run(arecord_session(shop.agent(), ASKED))
    assert (output, len(session.messages)) == (SAID, 6)


def test_a_session_is_read_out_of_any_recording(shop):
    _, session = record_session(shop.agent(), ASKED)
    found = SessionRecord.of(reenact.load("last"))
    assert (found.session_id, found.user_input, found.final_output) == (session.session_id, ASKED, SAID)
    assert (found.model, found.instructions) == (session.model, session.instructions)
    assert found.tool_calls == session.tool_calls
    assert [message["type"] for message in found.messages] == [
        message["type"] for message in session.messages
    ]


def test_a_run_that_fails_raises_and_its_session_is_in_the_recording(shop):
    agent = shop.agent()

    @agent.tool_plain(name="explode")
    def explode() -> str: ...

    @agent.output_validator
    def refuse(output):
        raise RuntimeError("no such order")

    with pytest.raises(RuntimeError, match="no such order"):
        record_session(agent, ASKED)
    recording = reenact.load("last")
    assert recording.status == "error"
    found = SessionRecord.of(recording)
    assert (found.final_output, found.user_input, len(found.tool_calls)) == ("", ASKED, 2)


def test_of_several_agents_the_one_that_is_named_is_taken(shop):
    with reenact.record("both"):
        shop.agent().run_sync(ASKED)
    recording = reenact.load("last")
    assert SessionRecord.of(recording, "orders").final_output == SAID
    with pytest.raises(UsageError, match="no model call of an agent 'billing'"):
        SessionRecord.of(recording, "billing")


def test_a_recording_without_a_model_holds_no_session():
    with reenact.record("empty"):
        pass
    with pytest.raises(UsageError, match="holds no model call"):
        SessionRecord.of(reenact.load("last"))


def test_secrets_do_not_reach_the_file(tmp_path):
    key = "sk-proj-" + "a1B2c3D4" * 6
    file = SessionRecord("x", user_input=f"my key is {key}").save(tmp_path / "x.json")
    assert key not in file.read_text()
    assert SessionRecord.load(file).user_input.startswith("my key is ")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "damaged JSON"),
        ("[]", "a JSON object with session_id"),
        ('{"a": 1}', "not with 'a'"),
        ('{"session_id": "x", "mood": 1}', "has no 'mood'"),
        ('{"session_id": "x", "messages": 3}', "messages are no list"),
        (
            '{"session_id": "x", "messages": [{"type": "ModelRequest"}]}',
            r"messages\[0\] has no list of parts",
        ),
    ],
)
def test_a_file_that_is_no_session_is_named(tmp_path, content, says):
    file = tmp_path / "bad.json"
    file.write_text(content)
    with pytest.raises(NotARecording, match=says) as caught:
        SessionRecord.load(file)
    assert str(file) in str(caught.value)


def test_a_missing_file_and_a_place_that_cannot_be_written_are_named(tmp_path):
    with pytest.raises(RecordingNotFound, match="no such file"):
        SessionRecord.load(tmp_path / "none.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        SessionRecord("x").save(tmp_path / "file" / "x.json")


def test_by_decorator_every_run_leaves_a_recording_and_a_session(shop, tmp_path):
    @record_sessions(folder=tmp_path / "sessions")
    def handle(text: str) -> str:
        return shop.agent().run_sync(text).output

    assert [handle(ASKED), handle(ASKED)] == [SAID, SAID]
    files = sorted((tmp_path / "sessions").iterdir())
    assert len(files) == 2
    for file in files:
        session = SessionRecord.load(file)
        assert reenact.load(session.session_id).output == session.final_output == SAID


def test_by_decorator_a_run_that_fails_is_kept_too_and_so_is_an_awaited_one(shop, tmp_path):
    @record_sessions
    async def handle(text: str) -> str:
        await shop.agent().run(text)
        raise RuntimeError("after all")

    with pytest.raises(RuntimeError, match="after all"):
        asyncio.run(handle(ASKED))
    (file,) = (tmp_path / "sessions").iterdir()
    assert SessionRecord.load(file).final_output == ""


def test_a_function_that_asks_no_model_is_recorded_and_says_why_there_is_no_session(tmp_path, capsys):
    @record_sessions
    def quiet() -> int:
        return 3

    assert quiet() == 3
    assert "no session was written" in capsys.readouterr().err
    assert not (tmp_path / "sessions").exists()
    assert reenact.load("last").output == 3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("", "None"),
        ("sys.modules['pydantic_ai'] = None; lesson.create_replay_model({'session_id': 'x'})", "pip install"),
    ],
)
def test_pydantic_ai_is_imported_by_what_needs_it_only(code, says):
    program = f"import sys\nfrom reenact import lesson\n{code}\nprint(sys.modules.get('pydantic_ai'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert says in done.stdout + done.stderr


@pytest.mark.parametrize(
    "found",
    [
        {"session_id": "a\n\x1b[2Jb" * 999, "messages": []},
        {"session_id": "a", "K\n\x1b[2J" * 999: 1},
        {"K\n\x1b[2J" * 999: 1},
        {"session_id": "a\n\x1b[2Jb" * 999, "messages": [{}]},
    ],
)
def test_what_stands_in_a_session_never_makes_its_error_long_or_controls_a_terminal(found, tmp_path):
    file = tmp_path / "s.json"
    file.write_text(json.dumps(found))
    for source in (found, file):
        with pytest.raises(ReenactError) as raised:
            create_replay_model(source)
        assert len(str(raised.value)) < 600
        assert str(raised.value).isprintable()
