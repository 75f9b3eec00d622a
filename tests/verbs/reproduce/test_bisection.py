"""Bisecting on programs that really run: what changes the outcome is found, and what cannot be said is not."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import reenact
from reenact.analysis.decisive import Alike, Result
from reenact.errors import UsageError

PLAIN = """
    import os, random
    import reenact

    mood = open("mood.txt").read

    @reenact.tool
    def weather(city):
        return {"city": city, "humidity": random.SystemRandom().random()}

    @reenact.tool
    def stock(item):
        return 3 if mood() == "good" else 0

    @reenact.tool
    def price(item):
        return 10 + random.SystemRandom().random()

    @reenact.tool
    def order(item):
        return f"{item} is ordered"

    weather("Ulm")
    price("lamp")
    if stock("lamp"):
        print(order("lamp"))
    else:
        print("sold out")
    weather("Bonn")
"""

AGENT = """
    import random
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    anything = random.SystemRandom().random

    def model(messages, info):
        parts = [part for message in messages for part in message.parts]
        asked = [part.tool_name for part in parts if isinstance(part, ToolCallPart)]
        if len(asked) < 2:
            tool = ["find_order", "policy"][len(asked)]
            return ModelResponse(parts=[TextPart(f"Let me see {anything()}"), ToolCallPart(tool, {})])
        if len(asked) == 2:
            wrong = open("mood.txt").read() != "good"
            return ModelResponse(parts=[ToolCallPart("refund" if wrong else "cancel", {"order": "ORD-1"})])
        last = [part for part in parts if isinstance(part, ToolReturnPart)][-1]
        return ModelResponse(parts=[TextPart(f"Done: {last.content}. {anything()}")])

    agent = Agent(FunctionModel(model, model_name="small"), system_prompt="You help.")

    @agent.tool_plain
    def find_order() -> str:
        return "ORD-1"

    @agent.tool_plain
    def policy() -> str:
        return "an order may be cancelled until it is shipped"

    @agent.tool_plain
    def cancel(order: str) -> str:
        return f"{order} cancelled"

    @agent.tool_plain
    def refund(order: str) -> str:
        return f"{order} refunded"

    print(agent.run_sync("Cancel my order").output)
"""

ASYNC = """
    import asyncio, random
    import reenact

    anything = random.SystemRandom().random

    @reenact.tool
    async def look(place):
        await asyncio.sleep(anything() / 50)
        found = {"north": "rock", "east": "sand", "south": "water"}[place]
        return "nothing" if place == "south" and open("mood.txt").read() == "bad" else found

    @reenact.tool
    async def walk(to):
        return f"arrived in the {to}"

    async def main():
        names = ["north", "east", "south"]
        found = dict(zip(names, await asyncio.gather(*map(look, names))))
        if "water" in found.values():
            print(await walk("south"), "with water")
        else:
            print(await walk("north"), "thirsty")

    asyncio.run(main())
"""

BLOCK = """
    import reenact

    @reenact.tool
    def guess(what):
        return open("mood.txt").read()

    @reenact.tool
    def act(on):
        return f"did {on}"

    @reenact.recorded
    def answer():
        return {"says": act(guess("a"))}

    answer()
"""


def water(run):
    return "with water" in run.stdout


def numbers(found):
    return [change.step for change in found.changes]


def test_the_one_answer_that_turns_the_outcome_is_found_among_others_that_differ(runs):
    bad, good = runs(PLAIN, "bad", "good")
    lines = []
    found = reenact.bisect(bad, good, check=lambda run: "ordered" in run.stdout, progress=lines.append)
    (change,) = found.changes
    assert (change.name, change.bad, change.good, change.alike) == (
        "step 3, tool stock",
        "0",
        "3",
        Alike.SAME,
    )
    assert found.back
    assert found.minimal
    assert not found.notes
    assert len(found.differences.answers) == 4
    assert [str(trial) for trial in found.trials[1:]] == [
        "step 1, tool weather: bad",
        "step 2, tool price: bad",
        "step 3, tool stock: good",
    ]
    assert len(lines) == found.runs


@pytest.mark.thorough
def test_a_good_run_may_be_a_file_in_a_folder_that_the_program_lists(runs, shell):
    listing = PLAIN.replace("import os, random\n", "import os, random\n    os.listdir()\n")
    bad, good = runs(listing, "bad", "good", files=True)
    file = shell.folder / "good.reenact"
    assert shell.run("export", good.id, "-o", file).status == 0
    found = reenact.bisect(bad, file, check=lambda run: "ordered" in run.stdout)
    assert [change.name for change in found.changes] == ["step 3, tool stock"], [str(t) for t in found.trials]


@pytest.mark.thorough
def test_a_wrong_choice_of_a_model_is_found_behind_answers_that_differ_in_wording_only(runs):
    bad, good = runs(AGENT, "bad", "good")
    found = reenact.bisect(bad, good, check=lambda run: "cancelled" in run.stdout)
    (change,) = found.changes
    assert (change.name, change.alike) == ("step 5, model small", Alike.NEWS)
    assert (change.bad, change.good) == ('refund(order="ORD-1")', 'cancel(order="ORD-1")')
    assert found.back
    assert "the history" in found.notes[0]


@pytest.mark.thorough
def test_to_the_letter_the_first_other_answer_leads_into_the_good_run_whole(runs):
    bad, good = runs(AGENT, "bad", "good")
    found = reenact.bisect(bad, good, check=lambda run: "cancelled" in run.stdout, exact=True)
    assert numbers(found) == [1]
    assert found.notes == ()


@pytest.mark.thorough
def test_async_programs_keep_their_order_and_give_the_answer_to_the_one_who_asked(runs):
    bad, good = runs(ASYNC, "bad", "good")
    found = reenact.bisect(bad, good, check=water)
    (change,) = found.changes
    assert (change.bad, change.good) == ("nothing", "water")
    assert change.name.endswith("tool look")
    assert found.back


@pytest.mark.thorough
def test_a_good_run_in_a_recorded_function_is_known_by_what_it_gave(runs):
    bad, good = runs(BLOCK, "bad", "good", recorder=False)
    found = reenact.bisect(bad, good)
    assert numbers(found) == [1]


@pytest.mark.thorough
def test_the_output_of_the_good_run_serves_as_a_check(runs):
    bad, good = runs(PLAIN, "bad", "good")
    assert numbers(reenact.bisect(bad.id, good.id)) == [3]


@pytest.mark.thorough
def test_a_question_that_neither_run_asked_leaves_a_trial_undecided_and_tools_may_answer_it(runs):
    text = """
        import random, reenact

        @reenact.tool
        def left(): return 2 if open("mood.txt").read() == "good" else 1

        @reenact.tool
        def right(): return 20 if open("mood.txt").read() == "good" else 10

        @reenact.tool(kind="model", name="sum")
        def total(both): return both

        print(total(left() + right()))
    """
    bad, good = runs(text, "bad", "good")

    def enough(run):
        return int(run.stdout) >= 12

    found = reenact.bisect(bad, good, check=enough)
    assert numbers(found) == [1, 2]
    assert [trial.result for trial in found.trials] == [Result.GOOD, Result.UNDECIDED, Result.UNDECIDED]
    assert "no run asked main/model:sum#0" in found.trials[1].why
    answered = reenact.bisect(bad, good, check=enough, live=["model"])
    assert numbers(answered) == [1]


@pytest.mark.thorough
def test_what_a_program_reads_by_itself_can_be_decisive(runs):
    text = """
        import random, reenact

        @reenact.tool
        def note(text): return "noted"

        note("a")
        print("heads" if random.SystemRandom().random() < 0.5 else "tails")
    """
    found = {}
    for _ in range(60):
        (run,) = runs(text, "any")
        found[run.logs[0].sealed["stdout"]["text"]] = run
        if len(found) == 2:
            break
    done = reenact.bisect(found["tails\n"], found["heads\n"])
    (change,) = done.changes
    assert change.reads is not None
    assert "entropy" in change.name


@pytest.mark.thorough
def test_what_crosses_no_boundary_is_not_found_and_nobody_is_blamed(runs):
    bad, good = runs(PLAIN, "bad", "good")
    seen = []

    def by_its_recording(run):
        seen.append(run)
        return run.recording.id == good.id

    found = reenact.bisect(bad, good, check=by_its_recording)
    assert found.changes == ()
    assert not found.spent
    assert {trial.result for trial in found.trials} == {Result.BAD}


@pytest.mark.thorough
def test_the_search_stops_at_its_number_of_trials(runs):
    bad, good = runs(PLAIN, "bad", "good")
    found = reenact.bisect(bad, good, check=lambda run: "ordered" in run.stdout, trials=2)
    assert found.spent
    assert len(found.trials) == 2
    assert numbers(found) == [1, 2, 3, 4]


@pytest.mark.thorough
def test_no_recording_is_changed(runs, shell):
    bad, good = runs(PLAIN, "bad", "good")
    before = {path: path.read_bytes() for path in shell.home.rglob("*.jsonl")}
    reenact.bisect(bad, good)
    assert {path: path.read_bytes() for path in shell.home.rglob("*.jsonl")} == before


# -- bad input -----------------------------------------------------------------------------------------------


def refused(*args, **more):
    with pytest.raises(UsageError) as caught:
        reenact.bisect(*args, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.thorough
def test_a_check_that_raises_is_told_with_its_error(runs):
    bad, good = runs(PLAIN, "bad", "good")

    def broken(run):
        return run.stdout["total"]

    assert "the check broken raised TypeError: string indices" in refused(bad, good, check=broken)


@pytest.mark.thorough
def test_a_check_that_says_neither_yes_nor_no_is_refused(runs):
    bad, good = runs(PLAIN, "bad", "good")
    assert "gave 'yes'" in refused(bad, good, check=lambda _: "yes")


@pytest.mark.thorough
def test_a_check_that_disagrees_with_itself_is_found_out(runs):
    bad, good = runs(PLAIN, "bad", "good")
    says = iter([False, True])
    assert "the check is flaky" in refused(bad, good, check=lambda _: next(says))


@pytest.mark.thorough
def test_runs_that_are_not_what_they_are_said_to_be_are_refused(runs):
    bad, good = runs(PLAIN, "bad", "good")
    assert f"the bad run {good.id} is good" in refused(good, bad, check=lambda run: "ordered" in run.stdout)
    assert f"the good run {good.id} is bad" in refused(bad, good, check=lambda _: False)


@pytest.mark.thorough
def test_two_runs_that_share_nothing_are_refused(runs):
    (bad,) = runs('print("nothing")', "bad")
    (good,) = runs(PLAIN, "good", name="other.py")
    assert "have no step in common" in refused(bad, good, check=lambda _: True)


@pytest.mark.thorough
def test_a_run_cannot_be_compared_with_itself(runs):
    (bad,) = runs(PLAIN, "bad")
    assert "give two recordings" in refused(bad, bad.id)


@pytest.mark.thorough
def test_runs_that_wrote_the_same_need_a_check(runs):
    bad, other = runs(PLAIN, "bad", "bad")
    assert "wrote the same output; say what is good" in refused(bad, other)


@pytest.mark.thorough
def test_a_good_run_without_output_needs_a_check(runs):
    text = PLAIN.replace("print(", "str(")
    bad, good = runs(text, "bad", "good")
    assert "kept no output; say what is good" in refused(bad, good)


@pytest.mark.thorough
def test_code_that_is_no_longer_what_was_recorded_is_refused(runs, shell):
    bad, good = runs(PLAIN, "bad", "good")
    shell.write("agent.py", PLAIN.replace('"Ulm"', '"Hof"'))
    assert "bisect with the code that was recorded" in refused(bad, good)


@pytest.mark.thorough
def test_a_program_that_hangs_is_ended_and_said_to(runs, shell):
    bad, good = runs(PLAIN, "bad", "good")
    shell.write("agent.py", "while True: pass\n")
    assert "still ran after 2 seconds" in refused(bad, good, patience=2)


CHAT = """
    import json, sys, httpx

    base = open("base.txt").read()
    chat = [{"role": "user", "content": "Where is my money?"}]
    for turn in range(3):
        body = {"model": "small", "messages": chat, "stream": True}
        text = ""
        with httpx.stream("POST", f"{base}/v1/chat/completions", json=body) as response:
            for line in response.iter_lines():
                if line.startswith("data: {"):
                    text += json.loads(line[6:])["choices"][0]["delta"].get("content") or ""
        chat += [{"role": "assistant", "content": text}, {"role": "user", "content": f"And then? ({turn})"}]
    print(" / ".join(message["content"] for message in chat if message["role"] == "assistant"))
"""


class Speaker(BaseHTTPRequestHandler):
    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        turn, self.server.count = len(said) // 2, self.server.count + 1
        text = self.server.lost if turn == 1 else f"well {self.server.count}"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for word in text.split():
            piece = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": f"{word} "}}]}
            self.wfile.write(b"data: " + json.dumps(piece).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *args): ...


@pytest.mark.thorough
def test_a_streamed_chat_over_http_is_bisected_while_its_server_is_gone(runs, shell):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Speaker)
    server.count, server.lost = 0, "it is lost"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    (shell.folder / "base.txt").write_text(f"http://127.0.0.1:{server.server_address[1]}")
    (bad,) = runs(CHAT, "bad")
    server.lost = "it is on its way"
    (good,) = runs(CHAT, "good")
    server.shutdown()
    server.server_close()
    thread.join()
    found = reenact.bisect(bad, good, check=lambda run: "on its way" in run.stdout)
    (change,) = found.changes
    assert (change.step, change.bad.strip(), change.good.strip()) == (2, "it is lost", "it is on its way")
    assert len(found.differences.answers) == 3
    assert found.back


FAMILY = """
    import subprocess, sys, reenact

    @reenact.tool
    def look(what):
        return open("mood.txt").read()

    if len(sys.argv) > 1:
        print("the child sees", look(sys.argv[1]))
    else:
        look("first")
        print(subprocess.run([sys.executable, "agent.py", "child"], capture_output=True, text=True).stdout)
"""


@pytest.mark.thorough
def test_the_decisive_answer_may_have_been_given_to_another_process(runs):
    bad, good = runs(FAMILY, "bad", "good")
    found = reenact.bisect(bad, good, check=lambda run: "sees good" in run.stdout)
    assert numbers(found) == [2]
