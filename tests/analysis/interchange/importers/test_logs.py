"""Logs of other tools become recordings: Langfuse, OpenAI's Agents SDK, Inspect, ATIF, Codex, OpenHands."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from reenact.analysis.interchange import importers
from reenact.core.query.facts import RecordingFacts
from reenact.errors import NotARecording, TooLarge

TRACES = Path(__file__).parent / "traces"


def lines(path, items):
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def labels(recording):
    return [step.call.label for step in recording]


# -- Langfuse --------------------------------------------------------------------------------------------------


def test_langfuse_s_observations_are_calls_tools_and_agents(bring):
    found, (recording,) = bring(TRACES / "langfuse_google_adk.json")
    assert found == "langfuse"
    assert [step.call.address.rpartition("hello_agent/")[2] for step in recording] == [
        "model:gemini-2.0-flash#0", "tool:say_hello#0", "model:gemini-2.0-flash#1"
    ]  # fmt: skip
    first = RecordingFacts(recording).steps[0].model_call
    assert [(message.role, message.text) for message in first.messages[1:]] == [("user", "hi")]
    assert [call.name for call in first.answer.calls] == ["say_hello"]
    assert (first.usage.input, first.usage.output) == (28, 3)
    assert "conversation:demo-session" in recording.tags
    assert recording.output == "Hello Langfuse 👋!\n"


def test_a_failed_observation_is_an_error_with_its_message(bring, tmp_path):
    observation = {
        "id": "1", "traceId": "t", "type": "TOOL", "name": "refund", "startTime": "2026-01-01T00:00:00Z",
        "endTime": "2026-01-01T00:00:01Z", "input": {"order": 5}, "output": None, "level": "ERROR",
        "statusMessage": "no such order", "metadata": None,
    }  # fmt: skip
    file = tmp_path / "x.json"
    file.write_text(json.dumps({"trace": {"id": "t", "name": "shop"}, "observations": [observation]}))
    _, (recording,) = bring(file)
    assert recording.step(1).args == {"order": 5}
    assert "no such order" in RecordingFacts(recording).steps[0].error


# -- OpenAI's Agents SDK ---------------------------------------------------------------------------------------


def test_what_the_agents_sdk_exports_is_a_recording(bring, tmp_path, monkeypatch):
    tracing = pytest.importorskip("agents.tracing")
    kept = []

    class Keep(tracing.TracingProcessor):
        def on_trace_start(self, trace):
            kept.append(trace.export())

        def on_trace_end(self, trace): ...
        def on_span_start(self, span): ...
        def on_span_end(self, span):
            kept.append(span.export())

        def shutdown(self): ...
        def force_flush(self): ...

    # Other tests turn it off for good.
    monkeypatch.setattr(tracing.get_trace_provider(), "_manual_disabled", False)
    tracing.set_trace_processors([Keep()])
    with tracing.trace("refunds", group_id="chat-7"), tracing.agent_span("triage"):
        with tracing.generation_span(
            input=[{"role": "user", "content": "refund 5"}],
            output=[{"role": "assistant", "content": None, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "refund", "arguments": '{"order":5}'}}]}],
            model="gpt-x", usage={"input_tokens": 8, "output_tokens": 3},
        ):  # fmt: skip
            pass
        with tracing.function_span("refund", input='{"order":5}', output="done") as ran:
            ran.set_error({"message": "refused", "data": {"error": "no such order"}})
        with tracing.handoff_span("triage", "billing"):
            pass
        with tracing.response_span():
            pass
    found, (recording,) = bring(lines(tmp_path / "agents.jsonl", kept))
    assert found == "openai-agents"
    assert recording.name == "refunds"
    assert "conversation:chat-7" in recording.tags
    assert labels(recording) == ["model:gpt-x", "tool:refund", "tool:handoff to billing", "model:model"]
    call = RecordingFacts(recording).steps[0].model_call
    assert (call.messages[0].text, call.answer.calls[0].args, call.usage.total) == (
        "refund 5",
        {"order": 5},
        11,
    )
    assert "refused: no such order" in RecordingFacts(recording).steps[1].error
    assert "step 4: the trace does not say what the model answered" in " ".join(recording.notes)


def test_exported_traces_may_hold_their_spans_and_responses_their_content(bring, tmp_path):
    response = {
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}
        ]
    }
    span = {
        "object": "trace.span", "id": "s", "trace_id": "t", "parent_id": None, "started_at": "2026-01-01T00:00:00+00:00",
        "ended_at": "2026-01-01T00:00:01+00:00", "error": None,
        "span_data": {"type": "response", "input": [{"role": "user", "content": "hi"}], "response": response},
    }  # fmt: skip
    file = tmp_path / "traces.json"
    file.write_text(
        json.dumps({"traces": [{"object": "trace", "id": "t", "workflow_name": "greet", "spans": [span]}]})
    )
    found, (recording,) = bring(file)
    call = RecordingFacts(recording).steps[0].model_call
    assert (found, recording.name, call.messages[0].text, call.answer.text) == (
        "openai-agents",
        "greet",
        "hi",
        "hello",
    )


# -- Inspect ---------------------------------------------------------------------------------------------------


def test_an_eval_file_is_one_run_a_sample_with_its_long_texts_put_back(bring):
    found, (recording,) = bring(TRACES / "inspect.eval")
    assert found == "inspect"
    assert labels(recording) == ["model:openai/gpt-4o-mini"] * 2
    first = RecordingFacts(recording).steps[0].model_call
    assert first.messages[0].text.startswith("Hey there, hipster!")
    assert first.answer.text.startswith("Yo, fam!")
    assert first.usage.total == 113
    assert {"task:input_task", "model_graded_fact:C"} <= set(recording.tags)


def test_a_wrong_sample_is_an_error_that_says_who_scored_it(bring):
    _, recordings = bring(TRACES / "inspect_wrong.json")
    assert [recording.status for recording in recordings] == ["ok", "ok", "error"]


def test_tools_of_a_sample_have_their_times_arguments_and_errors(bring, tmp_path):
    event = {
        "event": "tool", "function": "bash", "arguments": {"cmd": "ls"}, "result": "", "span_id": "s",
        "timestamp": "2026-01-01T00:00:00+00:00", "completed": "2026-01-01T00:00:03+00:00",
        "error": {"type": "timeout", "message": "too slow"},
    }  # fmt: skip
    begin = {"event": "span_begin", "id": "s", "type": "agent", "name": "hacker", "parent_id": None}
    log = {
        "eval": {"task": "ctf", "model": "m"},
        "samples": [{"id": 1, "epoch": 1, "events": [begin, event]}],
    }
    file = tmp_path / "log.json"
    file.write_text(json.dumps(log))
    _, (recording,) = bring(file)
    step = recording.step(1)
    assert (step.call.address, step.args, step.call.duration) == ("main/hacker/tool:bash#0", {"cmd": "ls"}, 3)
    assert "timeout: too slow" in RecordingFacts(recording).steps[0].error


def test_a_zip_that_is_no_log_and_one_that_is_cut_off_are_refused(store, tmp_path):
    file = tmp_path / "x.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "b")
    with pytest.raises(NotARecording, match="no header.json"):
        importers.bring(store, file)
    file.write_bytes((TRACES / "inspect.eval").read_bytes()[:3000])
    with pytest.raises(NotARecording, match="damaged zip"):
        importers.bring(store, file)


def test_an_eval_file_that_unpacks_to_very_much_is_refused(store, tmp_path):
    file = tmp_path / "x.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b" " * (70 << 20))
    with pytest.raises(TooLarge, match="unpacks to more than 64 MB"):
        importers.bring(store, file)


def test_texts_aside_that_stand_for_very_much_are_refused(store, tmp_path):
    sample = {
        "id": 1, "epoch": 1, "attachments": {"a": "x" * 100_000, "b": 5},
        "events": [
            {
                "event": "tool", "function": "bash", "arguments": {"all": ["attachment://a"] * 10_000},
                "result": "attachment://b", "timestamp": "2026-01-01T00:00:00+00:00",
            }
        ],
    }  # fmt: skip
    file = tmp_path / "log.json"
    file.write_text(json.dumps({"eval": {"task": "ctf", "model": "m"}, "samples": [sample]}))
    with pytest.raises(NotARecording, match="its attachments stand for more text than the limit"):
        importers.bring(store, file)
    sample["events"][0]["arguments"] = {"all": ["attachment://a"] * 2}
    file.write_text(json.dumps({"eval": {"task": "ctf", "model": "m"}, "samples": [sample]}))
    importers.bring(store, file)


# -- ATIF ------------------------------------------------------------------------------------------------------


def test_a_trajectory_s_steps_are_calls_that_saw_the_steps_before(bring):
    found, (recording,) = bring(TRACES / "atif.json")
    assert found == "atif"
    assert labels(recording) == ["model:gpt-4o"] * 4
    second = RecordingFacts(recording).steps[1].model_call
    assert second.messages[-1].text.startswith("New Terminal Output")
    assert second.usage.total == 890
    assert "copied from another one" in recording.notes[0]


def test_a_trajectory_s_tools_are_paired_by_their_ids(bring, tmp_path):
    step = {
        "step_id": 2, "source": "agent", "message": "", "model_name": "m", "timestamp": "2026-01-01T00:00:00Z",
        "tool_calls": [
            {"tool_call_id": "a", "function_name": "read", "arguments": {"path": "x"}},
            {"tool_call_id": "b", "function_name": "read", "arguments": {"path": "y"}},
        ],
        "observation": {"results": [{"source_call_id": "b", "content": "Y"}, {"source_call_id": "a", "content": "X"}]},
    }  # fmt: skip
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"schema_version": "ATIF-v1.5", "agent": {"name": "n"}, "steps": [step]}))
    _, (recording,) = bring(file)
    assert [(step.args, step.output) for step in recording.steps[1:]] == [
        ({"path": "x"}, "X"),
        ({"path": "y"}, "Y"),
    ]


# -- Codex -----------------------------------------------------------------------------------------------------


def rollout(*items):
    yield {
        "timestamp": "2026-01-01T00:00:00Z",
        "type": "session_meta",
        "payload": {"id": "s1", "cwd": "/p", "instructions": "be brief"},
    }
    yield {"timestamp": "2026-01-01T00:00:00Z", "type": "turn_context", "payload": {"model": "gpt-5-codex"}}
    for second, item in enumerate(items, 1):
        kind = "event_msg" if item.get("type") == "token_count" else "response_item"
        yield {"timestamp": f"2026-01-01T00:00:{second:02}Z", "type": kind, "payload": item}


CODEX = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "list"}]},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "use ls"}], "encrypted_content": "x"},
    {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
    {
        "type": "token_count",
        "info": {"last_token_usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}},
    },
    {
        "type": "function_call_output",
        "call_id": "c1",
        "output": '{"output":"a.py","metadata":{"exit_code":0}}',
    },
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a.py is there"}]},
]


def test_a_codex_session_s_items_are_answers_and_tools(bring, tmp_path):
    found, (recording,) = bring(lines(tmp_path / "rollout-x.jsonl", rollout(*CODEX)))
    assert found == "codex"
    assert labels(recording) == ["model:gpt-5-codex", "tool:shell", "model:gpt-5-codex"]
    first, shell, last = RecordingFacts(recording).steps
    assert [(message.role, message.text) for message in first.model_call.messages] == [
        ("system", "be brief"),
        ("user", "list"),
    ]
    assert first.model_call.answer.thinking == "use ls"
    assert (first.model_call.usage.input, first.model_call.usage.cached) == (9, 4)
    given = {"output": "a.py", "exit_code": 0}
    assert (shell.args, shell.output, shell.call.duration) == ({"command": ["ls"]}, given, 2)
    assert last.model_call.messages[-1].name == "shell"
    assert recording.output == "a.py is there"


def test_a_codex_session_of_the_form_before_is_read_too(bring, tmp_path):
    items = [{"id": "s1", "timestamp": "2025-06-01T00:00:00Z", "instructions": "be brief"}]
    items += [{"record_type": "state"}, *(item for item in CODEX if item["type"] != "token_count")]
    found, (recording,) = bring(lines(tmp_path / "rollout-y.jsonl", items))
    assert found == "codex"
    assert labels(recording) == ["model:model", "tool:shell", "model:model"]


def test_a_compacted_codex_session_goes_on_from_its_summary(bring, tmp_path):
    items = [
        *rollout(*CODEX),
        {"timestamp": "2026-01-01T00:01:00Z", "type": "compacted", "payload": {"message": "so far: a.py"}},
    ]
    items.append({"timestamp": "2026-01-01T00:01:01Z", "type": "response_item", "payload": CODEX[-1]})
    _, (recording,) = bring(lines(tmp_path / "r.jsonl", items))
    assert RecordingFacts(recording).steps[-1].model_call.messages[0].text == "so far: a.py"
    assert "compacted 1 times" in recording.notes[-1]


# -- OpenHands -------------------------------------------------------------------------------------------------


def test_openhands_actions_are_answers_and_observations_what_tools_gave(bring, tmp_path):
    history = [
        {"action": "message", "content": "add a license", "wait_for_response": False},
        {"action": "run", "command": "touch LICENSE", "thought": "I start"},
        {"observation": "run", "content": "", "command": "touch LICENSE", "exit_code": 0},
        {"action": "finish", "thought": "done", "outputs": {}},
    ]
    file = lines(
        tmp_path / "output.jsonl", [{"issue": {"number": 5}, "history": history, "success": False}] * 2
    )
    found, (recording, _) = bring(file)
    assert found == "openhands"
    assert labels(recording) == ["model:model", "tool:run", "model:model"]
    assert recording.step(2).args == {"command": "touch LICENSE"}
    assert (recording.status, recording.output) == ("error", "done")


# -- Claude Code -----------------------------------------------------------------------------------------------


def claude(role, content, id="", second=0, **more):
    message = {
        "role": role,
        "content": content,
        **(
            {
                "id": id,
                "model": "claude-x",
                "usage": {"input_tokens": 2, "cache_read_input_tokens": 7, "output_tokens": 3},
            }
            if id
            else {}
        ),
    }
    return {
        "type": role,
        "sessionId": "s",
        "timestamp": f"2026-01-01T00:00:{second:02}Z",
        "message": message,
        **more,
    }


def test_the_lines_of_one_answer_are_one_call_with_its_tokens_counted_once(bring, tmp_path):
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    items = [
        claude("user", "list"),
        claude("assistant", [{"type": "text", "text": "I look."}], "m1", 1),
        claude("assistant", [use], "m1", 2),
        claude("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}], second=3),
        claude("assistant", [{"type": "text", "text": "a.py"}], "m2", 4),
    ]
    found, (recording,) = bring(lines(tmp_path / "s.jsonl", items))
    assert found == "claude-code"
    assert labels(recording) == ["model:claude-x", "tool:Bash", "model:claude-x"]
    call = RecordingFacts(recording).steps[0].model_call
    assert (call.answer.text, call.answer.calls[0].args) == ("I look.", {"command": "ls"})
    assert (call.usage.input, call.usage.cached, call.usage.output) == (9, 7, 3)


def test_a_subagent_s_side_chain_does_not_mix_with_the_session(bring, tmp_path):
    side = {"isSidechain": True, "agentId": "a1"}
    items = [
        claude("user", "find it"),
        claude("assistant", [{"type": "text", "text": "I ask"}], "m1", 1),
        claude("user", "search", second=2, **side),
        claude("assistant", [{"type": "text", "text": "found"}], "m2", 3, **side),
        claude("user", "and?", second=4),
        claude("assistant", [{"type": "text", "text": "done"}], "m3", 5),
    ]
    _, (recording,) = bring(lines(tmp_path / "s.jsonl", items))
    assert [step.call.scope for step in recording] == ["main", "main/a1", "main"]
    said = [
        [message.text for message in facts.model_call.messages] for facts in RecordingFacts(recording).steps
    ]
    assert said == [["find it"], ["search"], ["find it", "I ask", "and?"]]
    assert recording.output == "done"


# -- OpenClaw --------------------------------------------------------------------------------------------------


def test_openclaw_s_sessions_are_conversations_and_tools_without_one_stand_alone(bring, tmp_path):
    usage = {"input": 2, "output": 5, "cacheRead": 7, "cacheWrite": 1}
    call = {"type": "toolCall", "id": "t", "name": "exec", "arguments": {"command": "whoami"}}
    told = [
        {"role": "user", "content": "who am I?", "timestamp": 1782238951000},
        {
            "role": "assistant",
            "content": [call],
            "model": "claude-x",
            "usage": usage,
            "timestamp": 1782238953000,
        },
        {
            "role": "toolResult",
            "toolCallId": "t",
            "toolName": "exec",
            "content": [{"type": "text", "text": "me"}],
            "timestamp": 1782238954000,
        },
    ]
    items = [
        {"type": "agent.start", "sessionKey": "main", "agentId": "main", "messages": told[:1]},
        {
            "type": "tool.start",
            "sessionKey": "other name",
            "toolName": "exec",
            "params": {"command": "whoami"},
        },
        {
            "type": "tool.start",
            "sessionKey": "sub",
            "toolName": "exec",
            "params": {"command": "ls"},
            "ts": 1782238960000,
        },
        {"type": "tool.end", "sessionKey": "sub", "toolName": "exec", "durationMs": 1500, "success": False},
        {"type": "agent.end", "sessionKey": "main", "agentId": "main", "messages": told},
    ]
    found, (recording,) = bring(lines(tmp_path / "telemetry.jsonl", items))
    assert found == "openclaw"
    assert [step.call.address for step in recording] == [
        "main/model:claude-x#0",
        "main/tool:exec#0",
        "main/sub/tool:exec#0",
    ]
    first, ran, alone = RecordingFacts(recording).steps
    assert (first.model_call.usage.input, first.model_call.usage.cached) == (10, 7)
    assert (ran.args, ran.output) == ({"command": "whoami"}, "me")
    assert (alone.args, alone.call.duration, alone.call.status) == ({"command": "ls"}, 1.5, "error")
    assert "1 tool calls have no model call" in recording.notes[0]
