"""Other programs' runs become recordings that list, show and search like any other."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import reenact
from reenact.analysis.interchange import importers
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.filter import Filter
from reenact.core.store import bundle
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.errors import CorruptRecording, NotARecording, RecordingError, RecordingNotFound, UsageError
from reenact.lesson import SessionRecord

DATA = Path(__file__).parent / "data"


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "home")


def bring(store, path, **options):
    found, ids = importers.bring(store, path, **options)
    return found, [store.load(id) for id in ids]


def labels(recording):
    return [step.call.label for step in recording]


def test_tau_bench_is_one_recording_per_line_with_reward_and_status(store):
    found, (good, bad) = bring(store, DATA / "tau_bench.jsonl")
    assert found == "chat"
    assert (good.status, bad.status) == ("ok", "error")
    assert {"reward:1", "reward:0"} == {
        tag for run in (good, bad) for tag in run.tags if tag.startswith("reward")
    }
    assert all(any(tag.startswith("task:") for tag in run.tags) for run in (good, bad))
    assert good.header["source"]["info"]["task"]["instruction"]


def test_tool_results_are_paired_by_their_place_where_ids_are_used_twice(store):
    _, (_, bad) = bring(store, DATA / "tau_bench.jsonl")
    raw = json.loads((DATA / "tau_bench.jsonl").read_text().splitlines()[1])["traj"]
    asked = [call["function"] for message in raw for call in message.get("tool_calls") or ()]
    answered = [message["content"] for message in raw if message["role"] == "tool"]
    tools = [step for step in bad if step.call.kind == "tool"]
    assert [step.call.name for step in tools] == [call["name"] for call in asked]
    assert [step.args for step in tools] == [json.loads(call["arguments"]) for call in asked]
    assert [step.output for step in tools] == answered
    ids = [message["tool_call_id"] for message in raw if message["role"] == "tool"]
    assert len(set(ids)) < len(ids)


def test_every_model_call_saw_all_messages_before_it(store):
    _, (good, _) = bring(store, DATA / "tau_bench.jsonl")
    raw = json.loads((DATA / "tau_bench.jsonl").read_text().splitlines()[0])["traj"]
    places = [place for place, message in enumerate(raw) if message["role"] == "assistant"]
    calls = [step for step in good if step.call.kind == "model"]
    assert [step.args["messages"] for step in calls] == [raw[:place] for place in places]
    assert [step.output for step in calls] == [raw[place] for place in places]


def test_nothing_that_was_said_is_lost(store):
    for run in bring(store, DATA / "tau_bench.jsonl")[1]:
        line = next(
            row
            for row in map(json.loads, (DATA / "tau_bench.jsonl").read_text().splitlines())
            if f"reward:{row['reward']:g}" in run.tags
        )
        text = "\n".join(step.text for step in RecordingFacts(run))
        for message in line["traj"]:
            assert (message.get("content") or "") in text


@pytest.mark.parametrize(
    ("file", "format", "expected"),
    [
        ("who_and_when.json", "who-and-when", "model:"),
        ("swe_agent.traj", "swe-agent", "tool:shell"),
        ("claude_code.jsonl", "claude-code", "tool:Write"),
    ],
)
def test_other_formats_are_recognised_by_their_content(store, file, format, expected):
    found, (recording,) = bring(store, DATA / file)
    assert found == format
    assert any(label.startswith(expected) for label in labels(recording))
    assert recording.header["source"]["format"] == format


def test_who_and_when_names_the_mistake_and_the_agents(store):
    _, (recording,) = bring(store, DATA / "who_and_when.json")
    raw = json.loads((DATA / "who_and_when.json").read_text())
    assert recording.status == "error"
    assert f"mistake:{raw['mistake_agent']}" in recording.tags
    assert recording.header["source"]["mistake_step"] == raw["mistake_step"]
    assert len(recording.steps) == len(raw["history"]) - 1
    assert any(step.call.scope == f"main/{raw['mistake_agent']}" for step in recording)


def test_times_are_those_of_the_source(store):
    _, (recording,) = bring(store, DATA / "claude_code.jsonl")
    assert recording.started.startswith("2025-12-24T10:00:")
    assert recording.duration > 0


def chat(*messages):
    return [{"role": role, "content": content} for role, content in messages]


ONE = chat(("user", "2+2?"), ("assistant", "4"))


@pytest.mark.parametrize(
    ("document", "runs"),
    [
        (ONE, 1),
        ({"messages": ONE}, 1),
        ({"traj": ONE, "task_id": 3}, 1),
        ([ONE, ONE], 2),
        ([{"messages": ONE}, {"messages": ONE}], 2),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_chats_come_in_many_wrappings(store, tmp_path, document, runs, indent):
    file = tmp_path / "x.json"
    file.write_text(json.dumps(document, indent=indent))
    assert len(bring(store, file)[1]) == runs


def test_json_lines_are_messages_or_runs(store, tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join(map(json.dumps, ONE)))
    assert len(bring(store, file)[1]) == 1
    file.write_text("\n".join([json.dumps({"messages": ONE}), "", json.dumps({"messages": ONE})]) + "\n")
    assert len(bring(store, file)[1]) == 2


def test_pydantic_ai_messages_are_read_as_its_own_adapter_reads_them(store, tmp_path):
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    agent = Agent(TestModel(), system_prompt="be nice", instructions="short")

    @agent.tool_plain
    def add(x: int, y: int) -> int:
        return x + y

    file = tmp_path / "messages.json"
    file.write_bytes(agent.run_sync("hello").all_messages_json())
    found, (recording,) = bring(store, file)
    assert found == "pydantic-ai"
    assert labels(recording) == ["model:test", "tool:add", "model:test"]
    assert recording.step(2).args == {"x": 0, "y": 0}
    facts = RecordingFacts(recording)
    assert [(message.role, message.text) for message in facts.steps[0].turn.new] == [
        ("system", "short"), ("system", "be nice"), ("user", "hello"),
    ]  # fmt: skip
    assert facts.steps[0].get("tokens") > 0
    assert [message.role for message in facts.steps[2].turn.new] == ["tool"]


def test_a_session_of_the_lesson_is_read_with_its_tools_and_its_output(store, tmp_path):
    request, response = (lambda *parts, kind=kind: {"type": kind, "parts": list(parts)} for kind in
                         ("ModelRequest", "ModelResponse"))  # fmt: skip
    call = {"kind": "tool-call", "tool_name": "cancel", "args": {"order": "ORD-1"}, "tool_call_id": "c1"}
    session = SessionRecord(
        "s1", user_input="Cancel ORD-1", final_output={"done": True}, model="openai:gpt-4o", instructions="Be kind.",
        messages=[
            request({"kind": "user-prompt", "content": "Cancel ORD-1"}),
            response(call),
            request({"kind": "tool-return", "tool_name": "cancel", "content": "ok", "tool_call_id": "c1"}),
            response({"kind": "text", "content": "Done."}),
        ],
    )  # fmt: skip
    found, (recording,) = bring(store, session.save(tmp_path / "session.json"))
    assert found == "lesson"
    assert labels(recording) == ["model:gpt-4o", "tool:cancel", "model:gpt-4o"]
    assert recording.step(2).args == {"order": "ORD-1"}
    assert recording.output == {"done": True}
    assert recording.tags == ("session:s1",)
    turn = RecordingFacts(recording).steps[0].turn
    assert [(message.role, message.text) for message in turn.new] == [
        ("system", "Be kind."), ("user", "Cancel ORD-1"),
    ]  # fmt: skip
    assert SessionRecord.of(recording).messages == session.messages


@pytest.mark.parametrize("message", [{"type": "ModelRequest"}, {"type": "ModelRequest", "parts": [1]}])
def test_a_damaged_session_of_the_lesson_is_refused_in_one_line(store, tmp_path, message):
    file = tmp_path / "session.json"
    file.write_text(json.dumps({"session_id": "s1", "messages": [message]}))
    with pytest.raises(NotARecording, match="cannot be read as lesson"):
        bring(store, file)


def test_a_long_history_is_stored_once(store, tmp_path):
    messages = []
    for number in range(200):
        messages += chat(("user", f"{number} " + "x" * 2000), ("assistant", "y" * 2000))
    file = tmp_path / "long.json"
    file.write_text(json.dumps(messages))
    bring(store, file)
    written = sum(path.stat().st_size for path in store.recordings.rglob("*") if path.is_file())
    assert written < 2 * file.stat().st_size


def test_a_secret_in_an_imported_history_is_redacted_and_costs_no_square(store, tmp_path):
    key = "sk-proj-" + "a1B2c3D4" * 6
    messages = chat(("user", f"my key is {key}"))
    for number in range(100):
        messages += chat(("assistant", "y" * 1000), ("user", f"{number} " + "x" * 1000))
    file = tmp_path / "secret.json"
    file.write_text(json.dumps(messages))
    bring(store, file)
    data = b"".join(path.read_bytes() for path in store.recordings.rglob("*") if path.is_file())
    assert key.encode() not in data
    assert len(data) < 2.2 * file.stat().st_size


def test_imported_runs_list_and_search(store):
    for file in DATA.iterdir():
        importers.bring(store, file)
    index = Index(store)
    lines = index.summaries()
    assert len(lines) == 5
    assert not any(line.broken for line in lines)
    assert {line.entry for line in lines} == {"imported"}
    assert len(list(index.search(Filter("tool:cancel_reservation and args.reservation_id:*")))) == 1
    assert len(list(index.search(Filter("tag:task:* status:error")))) == 1


def test_names_and_tags_may_be_given(store):
    _, (recording,) = bring(store, DATA / "swe_agent.traj", name="mine", tags=["x"])
    assert (recording.name, "x" in recording.tags) == ("mine", True)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"hello", "no JSON"),
        (b"{", "damaged JSON"),
        (b'{"a": 1}', "an object with a"),
        (b'[{"a": 1}, {"b": 2}]', "a list of 2 objects with a"),
        (b"[]", "an empty list"),
        (b"{}", "an empty object"),
        (b'{"messages": []}', "has no known format"),
        (b'{"role": "user", "content": "hi"}\n{"role": "user", \n', "line 2"),
        (b'[{"role": "user", "content": "hi"}]', "no answer of a model"),
        (b"\xff\xfe\x00", "no JSON"),
    ],
)
def test_what_cannot_be_read_is_named_and_nothing_is_written(store, tmp_path, content, says):
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    with pytest.raises(NotARecording, match=says) as caught:
        importers.bring(store, file)
    assert "bad.json" in str(caught.value)
    assert not store.root.exists()


def test_one_bad_run_among_several_stops_the_file_before_anything_is_written(store, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps({"messages": ONE}) + "\n" + '{"messages": [' + "\n")
    with pytest.raises(NotARecording, match="line 2"):
        importers.bring(store, file)
    assert not store.root.exists()


def test_formats_may_be_forced_and_are_checked(store, tmp_path):
    with pytest.raises(UsageError, match="unknown format 'foo'"):
        importers.bring(store, DATA / "swe_agent.traj", format="foo")
    with pytest.raises(NotARecording):
        importers.bring(store, DATA / "swe_agent.traj", format="reenact")
    assert importers.bring(store, DATA / "swe_agent.traj", format="chat")[0] == "chat"
    with pytest.raises(NotARecording):
        importers.bring(store, DATA / "tau_bench.jsonl", format="pydantic-ai")
    with pytest.raises(RecordingNotFound):
        importers.bring(store, tmp_path / "none")


def test_our_own_come_as_file_folder_or_bare_events(store, tmp_path):
    source = LocalStore(tmp_path / "source")
    with reenact.record("x", home=source.root) as recording:
        pass
    exported = bundle.export(source, recording.id, tmp_path / "x.reenact")
    bare = tmp_path / "some.jsonl"
    bare.write_bytes((source.folder(recording.id) / "events.jsonl").read_bytes())
    for path in (exported, source.folder(recording.id), source.folder(recording.id) / "events.jsonl", bare):
        fresh = LocalStore(tmp_path / f"to-{path.name}-{path.is_dir()}")
        assert importers.bring(fresh, path) == ("reenact", [recording.id])
        assert fresh.load("last").name == "x"
        with pytest.raises(RecordingError, match="already"):
            importers.bring(fresh, path)


@pytest.mark.parametrize(
    "messages",
    [
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"function": {"name": "f", "arguments": "{bad"}}],
            },
            {"role": "tool", "content": "x"},
        ],
        [{"role": "assistant", "content": None, "tool_calls": None}, {"role": "tool", "content": None}],
        [{"role": "assistant", "content": [{"type": "text", "text": "hi"}, {"type": "image_url"}]}],
        [
            {"role": "assistant", "content": "a", "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "1"},
        ],
        [{"role": "tool", "content": "x", "tool_call_id": "none"}, {"role": "assistant", "content": "ok"}],
        [{"role": "assistant", "content": "x", "timestamp": "yesterday"}],
        [{"role": "assistant", "content": "\ud83d lone"}],
    ],
)
def test_odd_messages_are_kept_as_far_as_they_go(store, tmp_path, messages):
    file = tmp_path / "odd.json"
    file.write_text(json.dumps([{"role": "user", "content": "go"}, *messages]))
    _, (recording,) = bring(store, file)
    assert any(step.call.kind == "model" for step in recording)
    assert not Index(store).summaries()[0].broken


@pytest.mark.thorough
def test_a_fork_comes_whole_without_its_parent(shell, tmp_path):
    shell.write(
        "agent.py",
        """
        import reenact

        @reenact.tool
        def ask(question):
            return question.upper()

        print(ask("a"), ask("b"), ask("c"))
        """,
    )
    shell.record("agent.py")
    parent = shell.last().id
    assert shell.run("fork", "last", "--at", "2", "--set", 'output = "X"').status == 0
    fork = shell.home / "recordings" / shell.last().id
    assert fork.name != parent
    _, (brought,) = bring(LocalStore(tmp_path / "elsewhere"), fork)
    assert [step.output for step in brought] == ["A", "X", "C"]


def test_links_in_a_folder_are_not_followed(tmp_path):
    with reenact.record("one", home=tmp_path / "from") as recording:
        pass
    folder = tmp_path / "from" / "recordings" / recording.id
    secret = tmp_path / "secret"
    secret.write_text("{}\n")
    (folder / "session.1.jsonl").symlink_to(secret)
    store = LocalStore(tmp_path / "to")
    _, (id,) = importers.bring(store, folder)
    assert [path.name for path in store.folder(id).iterdir()] == ["events.jsonl"]


def test_a_blob_in_a_folder_has_the_hash_that_is_its_name(tmp_path):
    with reenact.record("one", home=tmp_path / "from") as recording:
        reenact.tool(lambda: bytes(range(256)) * 1000, name="picture")()
    folder = tmp_path / "from" / "recordings" / recording.id
    (blob,) = (folder / "blobs").glob("*/*")
    blob.write_bytes(b"something else")
    store = LocalStore(tmp_path / "to")
    with pytest.raises(CorruptRecording, match="hash"):
        importers.bring(store, folder)
    assert store.ids() == []


def test_what_is_no_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", Path("/dev/zero")):
        with pytest.raises(NotARecording, match="is no file"):
            importers.bring(LocalStore(tmp_path / "to"), path)
