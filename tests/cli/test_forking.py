"""`reenact fork` and `reenact list --tree`, as from a terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

import reenact
from reenact.core.store.local import LocalStore
from tests.run.fork.model import ModelServer

AGENT = """
    import sys, uuid
    import reenact

    @reenact.tool
    def look(question):
        return {"question": question, "drawn": uuid.uuid4().hex, "price": 3}

    total = 0
    for number in range(5):
        found = look([number, total])
        total += found["price"]
        print(number, found["drawn"])
    print("total", total)
    sys.exit(int(total > 20))
"""


@pytest.fixture
def parent(shell):
    shell.write("agent.py", AGENT)
    _, recording = shell.record("agent.py")
    return recording


def ids(shell):
    return {line["id"] for line in shell.run("list", "--json").json}


def test_a_fork_is_a_recording_that_replays(shell, parent):
    done = shell.run("fork", parent.id, "--at", "4")
    child = shell.last()
    assert done.status == 0
    assert f"reenact: forked {parent.id} at step 4 as {child.id} (5 steps, ok)" in done.ours
    assert child.header["parent"] == {"id": parent.id, "step": 4, "how": "fork"}
    drawn = [step.output["drawn"] for step in child]
    assert drawn[:3] == [step.output["drawn"] for step in parent][:3]
    assert drawn[3] != parent.step(4).output["drawn"]
    again = shell.run("replay", child.id)
    assert (again.status, again.out) == (0, done.out)


def test_an_edited_text_is_told_in_quotes(shell, parent):
    done = shell.run("fork", parent.id, "--at", "2", "--set", 'output.price = "not found"')
    assert 'reenact: edited step 2 (tool:look): output.price was 3, is "not found"' in done.err


@pytest.mark.thorough
def test_an_edited_answer_changes_what_follows_and_the_exit_status_is_the_programs(shell, parent):
    done = shell.run("fork", parent.id, "--at", "2", "--set", "output.price = 30")
    child = shell.last()
    assert done.status == 1
    assert "total 42" in done.out
    assert "reenact: edited step 2 (tool:look): output.price was 3, is 30" in done.err
    assert [step.output["price"] for step in child] == [3, 30, 3, 3, 3]
    assert child.step(3).output["drawn"] != parent.step(3).output["drawn"]
    assert shell.run("replay", child.id).status == 0
    edited = [line for line in shell.run("show", child.id).out.splitlines() if "edited answer" in line]
    assert len(edited) == 1
    assert edited[0].startswith("  2  ")


@pytest.mark.thorough
def test_an_edited_answer_that_changes_no_question_replays_all_the_rest(shell, parent):
    shell.run("fork", parent.id, "--at", "2", "--set", 'outcome.output.drawn = "mine"')
    drawn = [step.output["drawn"] for step in shell.last()]
    recorded = [step.output["drawn"] for step in parent]
    assert drawn == [recorded[0], "mine", *recorded[2:]]


@pytest.mark.thorough
def test_an_error_can_be_put_in_the_place_of_an_answer(shell, parent):
    done = shell.run("fork", parent.id, "--at", "5", "--set", 'error = "LookupError: no such order"')
    assert done.status == 1
    assert "reenact: edited step 5 (tool:look): error was {" in done.err
    assert ', is "LookupError: no such order"\n' in done.err
    assert shell.last().step(5).call.status == "error"
    assert shell.run("replay", "last").status == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at", "9"], "has no step 9: its steps go from 1 to 5"),
        (["--at", "2", "--set", "what"], "write a path and a value"),
        (["--at", "2", "--set", "output = {"], "the value is no JSON"),
        (["--at", "2", "--set", "output.colour.name = 1"], "step 2 (tool:look) has no output.colour.name"),
        (["--at", "2", "--set", "answer = 1"], "an edit begins with output, error, text, body"),
        (["--at", "2", "--set", "text = No."], "step 2 (tool:look) is no model call"),
        (["--at", "2", "--set", "error = Mystery"], "no Mystery is known"),
    ],
)
def test_what_does_not_fit_costs_one_line(shell, parent, words, said):
    done = shell.run("fork", parent.id, *words)
    assert done.status == 2
    assert len(done.err.splitlines()) == 1
    assert said in done.err
    assert ids(shell) == {parent.id}


@pytest.mark.thorough
def test_another_program_is_refused_in_one_line(shell, parent):
    shell.write("other.py", "import reenact\nlook = reenact.tool(lambda q: q, name='see')\nlook(1)\n")
    done = shell.run("fork", parent.id, "--at", "3", "--", sys.executable, "other.py")
    assert done.status == 2
    assert len(done.err.splitlines()) == 1
    assert "the program is not the recorded one, or no longer: EXTRA at step 1" in done.err
    assert ids(shell) == {parent.id}


@pytest.mark.thorough
def test_a_program_that_is_gone_is_told_how_to_name_another(shell, parent):
    (shell.folder / "agent.py").unlink()
    done = shell.run("fork", parent.id, "--at", "3")
    assert done.status == 2
    assert f"reenact fork {parent.id} --at 3 -- python agent.py" in done.err


SEVERAL = """
    import subprocess, sys, time
    import reenact

    @reenact.tool
    def ask(number):
        return number

    @reenact.tool
    def run(name):
        return subprocess.run([sys.executable, "inner.py", name], capture_output=True, text=True).stdout

    def start():
        return subprocess.Popen([sys.executable, "inner.py", "beside"], stdin=subprocess.PIPE)

"""
INNER = """
    import sys, uuid
    import reenact

    @reenact.tool
    def inside(name):
        return f"{name} {uuid.uuid4()}"

    print(inside(sys.argv[1]))
    sys.stdin.read() if sys.argv[1] == "beside" else None
"""


def several(shell, code):
    """Record a program that starts another Python."""
    shell.write("inner.py", INNER)
    shell.write("outer.py", SEVERAL + code)
    return shell.record("outer.py")


def test_a_process_of_a_tool_before_the_step_is_not_run_again_and_is_in_the_fork(shell):
    done, recording = several(shell, "    ask(1); print(run('first')); ask(2); print(run('second'))")
    assert [step.label for step in recording.steps if step.log is not recording.logs[0]] == [
        "tool:inside"
    ] * 2
    at = next(step.number for step in recording if step.args == {"number": 2})
    forked = shell.run("fork", recording.id, "--at", at, "--policy", "tool=live")
    assert forked.status == 0, forked.err
    assert forked.out.splitlines()[0] == done.out.splitlines()[0]
    assert forked.out.splitlines()[2] != done.out.splitlines()[2]
    fork = shell.last()
    assert [(step.number, step.label) for step in fork] == [(step.number, step.label) for step in recording]
    assert fork.logs[1].sealed["signed"]
    assert shell.run("replay", fork.id).out == forked.out
    LocalStore(shell.home).remove(recording.id)
    assert shell.run("replay", fork.id).status == 0
    assert shell.run("fsck").status == 0


@pytest.mark.parametrize(
    ("code", "at", "said"),
    [
        (
            "    run('first'); ask(2)",
            "inside",
            "a fork begins in the program itself; its own step before it is 1",
        ),
        (
            (
                "    @reenact.tool\n    def begin():\n        global other\n        other = start()\n        return 0\n"
                "    begin(); ask(2); other.communicate()"
            ),
            "ask",
            "still ran then",
        ),
    ],
)
def test_where_another_process_would_have_to_run_again_a_fork_is_refused(shell, code, at, said):
    _, recording = several(shell, code)
    step = next(step.number for step in recording if step.call.name == at)
    done = shell.run("fork", recording.id, "--at", step)
    assert done.status == 2
    assert said in done.err
    assert len(done.ours) == 1


@pytest.mark.thorough
def test_a_process_that_the_live_part_starts_is_recorded_too(shell):
    shell.write("inner.py", "import uuid; print(uuid.uuid4())")
    shell.write(
        "outer.py",
        """
        import subprocess, sys, reenact
        @reenact.tool
        def choose(): return False
        if choose():
            print(subprocess.run([sys.executable, "inner.py"], capture_output=True, text=True).stdout)
        """,
    )
    _, recording = shell.record("outer.py")
    done = shell.run("fork", recording.id, "--at", "1", "--set", "output = true")
    child = shell.last()
    assert len(child.logs) == 2
    again = shell.run("replay", child.id)
    assert (again.status, again.out) == (0, done.out), again.err


@pytest.mark.thorough
def test_a_block_is_forked_within_its_program(shell):
    shell.write(
        "blocks.py",
        """
        import uuid, reenact
        @reenact.tool
        def look(n): return uuid.uuid4().hex
        with reenact.record("first"):
            look(0)
        with reenact.record("second") as recording:
            print([look(n) for n in range(3)])
        print("after", bool(recording.id))
        """,
    )
    subprocess.run([sys.executable, "blocks.py"], cwd=shell.folder, env=shell.environ, check=True, timeout=60)
    parent = next(r for r in map(shell_load(shell), ids(shell)) if r.name == "second")
    done = shell.run("fork", parent.id, "--at", "2")
    assert done.status == 0, done.err
    child = shell.last()
    assert child.header["parent"]["id"] == parent.id
    assert child.step(1).output == parent.step(1).output
    assert child.step(2).output != parent.step(2).output
    assert shell.run("replay", child.id).status == 0
    assert len(ids(shell)) == 3


def test_a_program_that_ends_before_its_block_is_named_in_one_line(shell):
    shell.write("block.py", "import reenact\nwith reenact.record('only'):\n    reenact.tool(print)(1)")
    subprocess.run([sys.executable, "block.py"], cwd=shell.folder, env=shell.environ, check=True, timeout=60)
    parent = shell.last()
    shell.write("block.py", "print('nothing')")
    done = shell.run("fork", parent.id, "--at", "1")
    assert (done.status, done.out) == (2, "nothing\n")
    assert done.err.strip() == (
        f"reenact: {parent.id} was not forked: the program ended without coming to its block record('only')"
    )


def shell_load(shell):
    return lambda id: reenact.load(id, home=shell.home)


@pytest.mark.thorough
def test_json_says_what_became_of_it(shell, parent):
    done = shell.run("fork", parent.id, "--at", "3", "--json")
    found = json.loads(done.out)
    assert found == {
        "parent": parent.id, "step": 3, "recording": shell.last().id, "how": "ran", "reason": None, "exit": 0,
        "ran": ["tool:look (3 times, in the recording it only reads)"],
    }  # fmt: skip
    assert "total" in done.err


@pytest.mark.thorough
def test_kill_9_loses_nothing_of_the_fork(shell):
    shell.write(
        "slow.py",
        """
        import os, time, uuid, reenact
        @reenact.tool
        def look(n): return uuid.uuid4().hex
        for n in range(6):
            print(look(n), flush=True)
            if n == 4 and os.path.exists("wait"):
                print(os.getpid(), flush=True)
                time.sleep(60)
        """,
    )
    _, parent = shell.record("slow.py")
    shell.write("wait", "")
    running = subprocess.Popen(
        shell.command("fork", parent.id, "--at", "4"), cwd=shell.folder, env=shell.environ,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    written = [running.stdout.readline().strip() for _ in range(6)]
    os.kill(int(written[5]), signal.SIGKILL)
    _, err = running.communicate(timeout=60)
    child = shell.last()
    assert [step.output for step in child] == written[:5]
    assert child.status == "unsealed"
    assert f"as {child.id} (5 steps, unsealed: ended by SIGKILL)" in err


@pytest.mark.thorough
def test_without_a_model_the_fork_stops_with_one_line(shell):
    server = ModelServer()
    shell.environ |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-0123456789abcdefghij"}
    shell.write(
        "ask.py",
        """
        import openai
        client = openai.OpenAI()
        for n in range(3):
            answer = client.chat.completions.create(model="one", messages=[{"role": "user", "content": str(n)}])
            print(answer.choices[0].message.content)
        """,
    )
    _, parent = shell.record("ask.py")
    lively = shell.run("fork", parent.id, "--at", "2", "--model", "two")
    assert lively.out.splitlines() == ["answer 1 of one", "answer 4 of two", "answer 5 of two"]
    assert shell.run("replay", "last").status == 0
    server.close()
    done = shell.run("fork", parent.id, "--at", "2")
    child = shell.last()
    assert done.status == 3
    (said,) = done.err.splitlines()
    assert said.startswith(
        f"reenact: forked {parent.id} at step 2 as {child.id} (2 steps), and stopped: no model is at"
    )
    assert "Connection refused" in said
    assert child.status == "stopped"
    assert "stopped" in shell.run("show", child.id).out
    assert [line["id"] for line in shell.run("list", "--status", "stopped", "--json").json] == [child.id]
    assert f"fork of {parent.id[:7]}" in shell.run("list").out


class TestTree:
    @pytest.mark.thorough
    def test_children_stand_under_their_parents(self, shell, parent):
        shell.run("fork", parent.id, "--at", "4")
        child = shell.last()
        shell.run("fork", child.id, "--at", "5")
        grandchild = shell.last()
        shell.run("fork", parent.id, "--at", "2")
        other = shell.last()
        drawn = shell.run("list", "--tree").out.splitlines()
        family = (parent.id, other.id, child.id, grandchild.id)
        assert len(drawn) == len(family)
        assert all(id in line for id, line in zip(family, drawn, strict=True))
        assert "fork at 5" in drawn[3]
        parents = {line["id"]: line.get("parent") for line in shell.run("list", "--json").json}
        assert parents[grandchild.id] == {"id": child.id, "step": 5, "how": "fork"}
        assert parents[parent.id] is None

    @pytest.mark.thorough
    def test_show_says_where_it_comes_from_and_raw_has_every_event(self, shell, parent):
        shell.run("fork", parent.id, "--at", "4")
        assert f"fork of {parent.id}, step 4" in shell.run("show", "last").out
        raw = [json.loads(line) for line in shell.run("show", "last", "--raw").out.splitlines()]
        assert sum(line["event"] == "called" for line in raw) == 5
        assert shell.run("show", "last", "--json").json["parent"]["step"] == 4
        assert shell.run("list", "tool:look", "--json").json[0]["steps"] == 5


class TestKeeping:
    @pytest.mark.thorough
    def test_a_deleted_parent_leaves_its_forks_whole(self, shell, parent):
        shell.run("fork", parent.id, "--at", "4")
        child = shell.last()
        done = shell.run("rm", parent.id, "--yes")
        assert done.status == 0
        assert f"made whole before, as it shares lines: {child.id}" in done.out + done.err
        assert shell.run("replay", child.id).status == 0
        assert ids(shell) == {child.id}

    @pytest.mark.thorough
    def test_a_fork_deleted_with_its_parent_costs_no_work(self, shell, parent):
        shell.run("fork", parent.id, "--at", "4")
        done = shell.run("prune", "--keep", "0", "--yes")
        assert done.status == 0
        assert "made whole" not in done.out + done.err

    @pytest.mark.thorough
    def test_an_exported_fork_needs_no_parent(self, shell, parent, tmp_path):
        shell.run("fork", parent.id, "--at", "4")
        child = shell.last()
        shell.run("export", child.id, tmp_path / "child.reenact")
        shell.run("rm", parent.id, child.id, "--yes")
        assert shell.run("show", tmp_path / "child.reenact").status == 0
        assert shell.run("import", tmp_path / "child.reenact").status == 0
        assert shell.run("replay", child.id).status == 0
