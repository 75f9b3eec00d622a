"""Forks made in this process: what they answer, what they write, and where they stop."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
import time
import uuid
from pathlib import Path

import openai
import pytest
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

import reenact
from reenact.core import boundary
from reenact.core.store import shared
from reenact.core.store.local import LocalStore
from tests.run.fork.model import ModelServer

pytestmark = pytest.mark.usefixtures("home")

KEY = "sk-proj-0123456789abcdefghijklmnop"


@reenact.tool
def look(question):
    return {"question": question, "drawn": uuid.uuid4().hex}


def looks(count=5):
    return [look(number)["drawn"] for number in range(count)]


def recorded(program=looks, **options):
    with reenact.record("run", **options) as recording:
        result = program()
    return recording.load(), result


def replayed(recording, program=looks):
    with reenact.replay(recording) as replay:
        result = program()
    return replay.verdict, result


def lines(recording):
    with open(os.path.join(recording.path, "events.jsonl"), encoding="utf-8") as file:
        return file.read().splitlines()


class TestUpToTheStep:
    @pytest.mark.parametrize("at", [2, 3])
    def test_a_missing_part_of_the_parents_is_missing_in_the_fork_too(self, at):
        @reenact.tool
        def pick(what):
            return object() if what == "result" else 1

        def program():
            pick(object())
            pick("result")
            return pick("x")

        parent, _ = recorded(program)
        assert len(parent.notes) == 2
        with reenact.fork(parent, at=at) as fork:
            program()
        assert sorted(reenact.load(fork.recording.id).notes) == sorted(parent.notes)

    def test_all_before_the_step_is_the_parents_and_all_from_it_on_is_new(self):
        parent, before = recorded()
        with reenact.fork(parent, at=3) as fork:
            after = looks()
        assert after[:2] == before[:2]
        assert not set(after[2:]) & set(before)
        assert [step.output["drawn"] for step in fork.recording] == after

    @pytest.mark.sampled
    @pytest.mark.parametrize("at", range(1, 6))
    def test_the_child_replays_faithfully_wherever_it_was_forked(self, at):
        parent, _ = recorded()
        results = []
        child = parent.fork(at=at, program=lambda: results.append(looks()))
        verdict, again = replayed(child)
        assert verdict.faithful, verdict
        assert [again] == results

    def test_the_child_names_its_parent_and_the_step(self):
        parent, _ = recorded()
        child = parent.fork(at=2, program=looks)
        assert child.header["parent"] == {"id": parent.id, "step": 2, "how": "fork"}
        assert child.name == parent.name

    def test_what_is_the_parents_is_kept_by_reference(self):
        parent, _ = recorded()
        child = parent.fork(at=4, program=looks)
        shared = [line for line in lines(child) if line.startswith('{"event":"same"')]
        assert len(shared) >= 6
        assert sum('"event":"called"' in line for line in lines(child)) == 2

    def test_a_fork_of_a_fork_replays_and_shares_too(self):
        parent, _ = recorded()
        child = parent.fork(at=4, program=looks)
        results = []
        grandchild = child.fork(at=5, program=lambda: results.append(looks()))
        verdict, again = replayed(grandchild)
        assert verdict.faithful, verdict
        assert [again] == results
        assert again[:4] == [step.output["drawn"] for step in child][:4]

    def test_an_async_program_is_run_to_its_end(self):
        async def program():
            await asyncio.sleep(0)
            return looks()

        parent, _ = recorded(lambda: asyncio.run(program()))
        child = parent.fork(at=2, program=program)
        assert len(child.steps) == 5
        assert replayed(child, lambda: asyncio.run(program()))[0].faithful

    def test_a_recording_in_progress_can_be_loaded_and_forked(self):
        with reenact.record("run") as recording:
            looks()
        assert recording.load().fork(at=1, program=looks).status == "ok"

    def test_the_output_is_kept_where_the_parent_kept_one(self):
        @reenact.recorded(name="answers")
        def answers():
            return looks(2)

        answers()
        child = reenact.load("last").fork(at=2, program=lambda: looks(2))
        assert child.output == [step.output["drawn"] for step in child]

    def test_an_error_that_ends_the_program_is_in_the_seal(self):
        def fails():
            looks(2)
            raise LookupError("nothing there")

        parent, _ = recorded()
        with pytest.raises(LookupError), reenact.fork(parent, at=2) as fork:
            fails()
        assert fork.recording.status == "error"

    def test_what_a_tool_did_inside_comes_along(self):
        @reenact.tool
        def outer(question):
            return look(question), time.time()

        def program():
            return [outer(number) for number in range(3)]

        parent, _ = recorded(program)
        child = parent.fork(at=5, program=program)
        assert [step.call.label for step in child] == ["tool:outer", "tool:look"] * 3
        with reenact.replay(child, live=["tool:outer"], on_divergence="live") as replay:
            program()
        assert not replay.verdict.divergences

    def test_events_of_other_kinds_come_along_with_the_question_behind_them(self):
        def program():
            for number in range(3):
                if not boundary.current().run.replaying:
                    boundary.current().run.handler.write(
                        {"event": "marked", "n": number, "call": number, "t": 0.0}
                    )
                look(number)

        parent, _ = recorded(program)
        child = parent.fork(at=3, edit={"output.drawn": "x"}, program=program)
        raw = shared.whole(Path(child.path, "events.jsonl").read_bytes(), Path(child.path))
        marked = [json.loads(line)["n"] for line in raw.splitlines() if b'"marked"' in line]
        assert marked == [0, 1, 2]

    def test_a_step_inside_of_a_tool_can_be_the_point(self):
        @reenact.tool
        def outer(question):
            return [look(question)["drawn"], look(-question)["drawn"]]

        def program():
            return [outer(number) for number in (1, 2)]

        parent, before = recorded(program)
        assert parent.step(6).call.label == "tool:look"
        results = []
        child = parent.fork(at=6, program=lambda: results.append(program()))
        (after,) = results
        assert after[0] == before[0]
        assert after[1][0] == before[1][0]
        assert after[1][1] != before[1][1]
        assert replayed(child, program)[0].faithful

    def test_a_recording_that_was_cut_off_goes_on_from_there(self):
        parent, before = recorded()
        path = os.path.join(parent.path, "events.jsonl")
        whole = lines(parent)
        cut = next(n for n, line in enumerate(whole) if '"event":"called","call":4' in line)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(whole[: cut + 1]) + "\n")
        unsealed = reenact.load(parent.id)
        results = []
        child = unsealed.fork(at=4, program=lambda: results.append(looks()))
        assert results[0][:3] == before[:3]
        assert (child.status, len(child.steps)) == ("ok", 5)
        assert replayed(child)[0].faithful


class TestClocks:
    def test_a_steady_clock_goes_on_from_where_the_recording_left_it(self, monkeypatch):
        def program():
            seen = []
            for number in range(4):
                seen.append((time.monotonic(), time.perf_counter_ns()))
                look(number)
            return seen

        parent, _ = recorded(program)
        results = []
        child = parent.fork(at=3, program=lambda: results.append(program()))
        (seen,) = results
        assert seen == sorted(seen)
        assert 0 <= seen[3][0] - seen[2][0] < 600
        assert replayed(child, program)[1] == seen

    def test_the_wall_clock_is_the_real_one_behind_the_step(self):
        def program():
            look(1)
            first = time.time()
            look(2)
            return first, time.time()

        parent, (recorded_first, _) = recorded(program)
        time.sleep(0.05)
        results = []
        parent.fork(at=2, program=lambda: results.append(program()))
        first, second = results[0]
        assert first == recorded_first
        assert second - recorded_first > 0.05

    def test_a_timer_set_before_the_step_takes_the_time_that_it_still_has(self):
        async def slow():
            look("slow")
            await asyncio.sleep(0.3)
            return "came"

        async def program():
            timer = asyncio.create_task(asyncio.wait_for(asyncio.Event().wait(), 0.5))
            await asyncio.sleep(0.1)
            try:
                return await asyncio.wait_for(slow(), 60)
            finally:
                timer.cancel()

        parent, _ = recorded(lambda: asyncio.run(program()))
        results = []
        child = parent.fork(at=1, program=lambda: results.append(asyncio.run(program())))
        assert results == ["came"]
        assert replayed(child, lambda: asyncio.run(program()))[0].faithful

    def test_the_environment_stays_what_it_was_where_it_was_read(self, monkeypatch):
        def program():
            first = os.environ.get("PLACE")
            look(1)
            return first, os.environ.get("PLACE")

        monkeypatch.setenv("PLACE", "here")
        parent, _ = recorded(program)
        monkeypatch.setenv("PLACE", "elsewhere")
        results = []
        child = parent.fork(at=1, program=lambda: results.append(program()))
        assert results == [("here", "here")]
        assert replayed(child, program)[1] == ("here", "here")


class TestInParallel:
    def test_calls_asked_before_the_step_keep_their_recorded_answers(self):
        @reenact.tool
        async def wait(seconds):
            await asyncio.sleep(seconds)
            return uuid.uuid4().hex

        async def program():
            late = asyncio.create_task(wait(0.3))
            early = await wait(0.01)
            return early, await wait(0.02), await late

        run = lambda: asyncio.run(program())  # noqa: E731
        parent, before = recorded(run)
        results = []
        child = parent.fork(at=3, program=lambda: results.append(run()))
        (after,) = results
        assert (after[0], after[2]) == (before[0], before[2])
        assert after[1] != before[1]
        assert replayed(child, run) == (replayed(child, run)[0], after)

    @pytest.mark.thorough
    def test_threads_are_forked_and_the_child_replays(self):
        def program():
            found = []

            def work(number):
                for turn in range(3):
                    found.append(look([number, turn, len(found)])["drawn"])

            threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return found

        parent, _ = recorded(program)
        for at in (2, 5, 8):
            results = []
            child = parent.fork(at=at, program=lambda kept=results: kept.append(program()))
            verdict, again = replayed(child, program)
            assert verdict.faithful, verdict
            assert [again] == results

    def test_a_call_that_nobody_cancels_any_more_stops_the_fork_with_a_word(self):
        @reenact.tool
        async def forever():
            await asyncio.Event().wait()

        async def program():
            task = asyncio.create_task(forever())
            await asyncio.sleep(0)
            if look("go on")["question"] == "go on":
                task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        parent, _ = recorded(lambda: asyncio.run(program()))
        step = next(s.number for s in parent if s.call.name == "look")
        change = {"output.question": "no"}
        with (
            pytest.raises(reenact.ForkStopped, match="cancelled this call"),
            reenact.fork(parent, at=step, edit=change),
        ):
            asyncio.run(program())


class TestEdited:
    def test_with_another_answer_the_rest_is_the_recordings_while_the_questions_are(self):
        parent, before = recorded()
        results = []
        child = parent.fork(at=2, edit={"output.drawn": "other"}, program=lambda: results.append(looks()))
        assert results == [[before[0], "other", *before[2:]]]
        assert replayed(child)[0].faithful
        assert any('"edited":true' in line for line in lines(child))

    def test_the_first_other_question_and_all_behind_it_go_live(self):
        def program():
            first = look(1)["drawn"]
            second = look([2, first])["drawn"]
            return [first, second, look(3)["drawn"]]

        parent, before = recorded(program)
        results = []
        child = parent.fork(at=1, edit={"output.drawn": "other"}, program=lambda: results.append(program()))
        (after,) = results
        assert after[0] == "other"
        assert not set(after) & set(before)
        assert replayed(child, program) == (replayed(child, program)[0], after)

    def test_an_edit_may_be_a_function_of_the_old_answer(self):
        parent, before = recorded()
        child = parent.fork(at=1, edit=lambda old: {**old, "drawn": old["drawn"].upper()}, program=looks)
        assert child.step(1).output["drawn"] == before[0].upper()

    def test_an_edit_may_be_an_error(self):
        def program():
            try:
                return look(1)
            except KeyError as error:
                return error.args

        parent, _ = recorded(program)
        results = []
        child = parent.fork(at=1, edit=lambda _: KeyError("gone"), program=lambda: results.append(program()))
        assert results == [("gone",)]
        assert isinstance(child.step(1).error, KeyError)
        assert replayed(child, program)[0].faithful


class TestWhatCannotBe:
    def test_a_step_that_does_not_exist(self):
        parent, _ = recorded()
        with pytest.raises(ValueError, match="has no step 9: its steps go from 1 to 5"):
            reenact.fork(parent, at=9)

    def test_another_program_leaves_no_child(self, home):
        parent, _ = recorded()
        with pytest.raises(reenact.DivergenceError, match="step 1"), reenact.fork(parent, at=3):
            look("something else")
        assert LocalStore(home).ids() == [parent.id]

    def test_a_program_that_ends_before_the_step(self, home):
        parent, _ = recorded()
        with pytest.raises(reenact.DivergenceError, match="MISSING"), reenact.fork(parent, at=3):
            looks(2)
        assert LocalStore(home).ids() == [parent.id]

    def test_inside_of_a_recording(self):
        parent, _ = recorded()
        with (
            reenact.record("outer"),
            pytest.raises(ValueError, match="cannot begin inside"),
            reenact.fork(parent, at=1),
        ):
            pass

    def test_the_child_of_a_parent_that_is_gone_says_so(self):
        parent, _ = recorded()
        child = parent.fork(at=3, program=looks)
        shutil.rmtree(parent.path)
        with pytest.raises(
            reenact.RecordingError, match=f"{child.id} is a fork of {parent.id}, which is missing"
        ):
            reenact.load(child.id)

    def test_a_parent_elsewhere_is_copied_and_not_needed_any_more(self, tmp_path):
        parent, _ = recorded()
        moved = shutil.move(parent.path, tmp_path / "elsewhere")
        with reenact.fork(str(moved), at=3) as fork:
            looks()
        shutil.rmtree(moved)
        assert replayed(fork.recording)[0].faithful


@pytest.fixture
def server(monkeypatch):
    server = ModelServer()
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield server
    server.close()


def chat():
    """OpenAI's SDK, whole and streamed in turn."""
    client, messages = openai.OpenAI(max_retries=0), []
    for number in range(4):
        messages.append({"role": "user", "content": f"question {number}"})
        if number % 2:
            chunks = client.chat.completions.create(model="one", messages=messages, stream=True)
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        else:
            answer = client.chat.completions.create(model="one", messages=messages)
            text = answer.choices[0].message.content
        messages.append({"role": "assistant", "content": text})
    return [message["content"].strip() for message in messages[1::2]]


def agent():
    """Pydantic AI, whole and streamed."""
    made, history, found = Agent(OpenAIChatModel("one")), [], []
    for number in range(3):
        result = made.run_sync(f"question {number}", message_history=history)
        history = result.all_messages()
        found.append(result.output)

    async def streamed():
        async with made.run_stream("the last one", message_history=history) as result:
            return "".join([text async for text in result.stream_text(delta=True)])

    return [*found, asyncio.run(streamed()).strip()]


@pytest.mark.parametrize("program", [chat, agent])
class TestModels:
    @pytest.mark.thorough
    def test_only_the_rest_is_asked(self, server, program):
        parent, before = recorded(program)
        asked = len(server.asked)
        results = []
        child = parent.fork(at=3, program=lambda: results.append(program()))
        assert len(server.asked) - asked == 2
        assert results[0][:2] == before[:2]
        assert results[0][2:] == ["answer 5 of one", "answer 6 of one"]
        assert replayed(child, program) == (replayed(child, program)[0], results[0])

    @pytest.mark.thorough
    @pytest.mark.parametrize("at", [1, 2, 3, 4])
    def test_a_text_can_be_put_in_any_answer_streamed_or_not(self, server, program, at):
        parent, before = recorded(program)
        results = []
        child = parent.fork(at=at, edit={"text": "No."}, program=lambda: results.append(program()))
        assert results[0][:at] == [*before[: at - 1], "No."]
        assert len(server.asked) == 4 + 4 - at
        verdict, again = replayed(child, program)
        assert verdict.faithful, verdict
        assert again == results[0]

    @pytest.mark.thorough
    def test_another_model_is_asked_from_the_step_on(self, server, program):
        parent, _ = recorded(program)
        child = parent.fork(at=3, model="other", program=program)
        assert [body["model"] for body in server.asked[4:]] == ["other", "other"]
        assert child.header["model"] == "other"
        assert replayed(child, program)[0].faithful

    @pytest.mark.thorough
    def test_without_a_model_the_fork_stops_there(self, server, program):
        parent, _ = recorded(program)
        server.close()
        with (
            pytest.raises(reenact.ForkStopped, match="no model is at hand"),
            reenact.fork(parent, at=3) as fork,
        ):
            program()
        assert fork.recording.status == "stopped"
        assert [step.call.status for step in fork.recording] == ["ok", "ok", "in flight"]

    @pytest.mark.thorough
    def test_without_a_key_the_fork_stops_there(self, server, program, monkeypatch):
        parent, _ = recorded(program)
        monkeypatch.delenv("OPENAI_API_KEY")
        with pytest.raises(reenact.ForkStopped, match="key"), reenact.fork(parent, at=3) as fork:
            program()
        assert fork.recording.status == "stopped"

    @pytest.mark.thorough
    def test_no_secret_is_in_the_child(self, server, program):
        parent, _ = recorded(program)
        child = parent.fork(at=2, program=program)
        assert KEY not in "\n".join(lines(child))
