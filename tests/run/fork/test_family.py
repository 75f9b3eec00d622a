"""Forks of programs that start other Pythons outside of tools: those replay their own files before the step."""

from __future__ import annotations

import subprocess

import pytest

import reenact
from reenact.errors import UsageError
from tests.run.files.byhand import tree

HEAD = """
    import multiprocessing, os, subprocess, sys, threading, time
    import reenact

    @reenact.tool(writes=False)
    def ask(question):
        return question

    def run(*words, **more):
        return subprocess.run([sys.executable, "worker.py", *words], check=True, stdout=subprocess.PIPE, text=True, **more)

    def log():
        return open("log.txt").read()

"""
WORKER = """
    import sys, uuid
    import reenact

    @reenact.tool
    def draw(name):
        return f"{name} {uuid.uuid4()}"

    said = draw(sys.argv[1])
    with open("log.txt", "a") as file:
        file.write(said + "\\n")
    print(said)
"""
SLOW_WORKER = WORKER.replace("import sys, uuid", "import sys, time, uuid").replace(
    "    with open", "    time.sleep(1)\n    with open"
)
ONE_AFTER_THE_OTHER = """
    ask("first")
    print(run("a").stdout)
    ask("second")
    run("b")
    ask("third")
    print(log())
"""
BESIDE = """
    ask("first")
    beside = subprocess.Popen([sys.executable, "worker.py", "a"])
    while not os.path.exists("log.txt") or not log().endswith("\\n"):
        time.sleep(0.01)
    beside.wait()
    ask("second")
    print(log())
"""
MULTIPROCESSING = """
    def work(name, lock, results):
        import uuid
        said = f"{name} {uuid.uuid4()}"
        with lock, open("log.txt", "a") as file:
            file.write(said + "\\n")
        results.put(said)

    if __name__ == "__main__":
        multiprocessing.set_start_method(METHOD)
        lock, results = multiprocessing.Lock(), multiprocessing.Queue()
        ask("first")
        workers = [multiprocessing.Process(target=work, args=(name, lock, results)) for name in "abc"]
        for worker in workers:
            worker.start()
        print([results.get() for _ in workers])
        for worker in workers:
            worker.join()
        ask("second")
        print(log())
        another = multiprocessing.Process(target=work, args=("live", lock, results))
        another.start()
        print(results.get())
        another.join()
        ask("third")
        print(log())
"""
POOL = """
    import uuid
    from concurrent.futures import ProcessPoolExecutor

    def work(name):
        said = f"{name} {uuid.uuid4()}"
        with open(f"{name}.txt", "w") as file:
            file.write(said)
        return said

    if __name__ == "__main__":
        ask("first")
        with ProcessPoolExecutor(2) as pool:
            print(list(pool.map(work, "abcd")))
        ask("second")
        print([open(f"{name}.txt").read() for name in "abcd"])
"""
GRANDCHILD = """
    if len(sys.argv) > 1:
        print(run("inner").stdout)
    else:
        ask("first")
        print(subprocess.run([sys.executable, "agent.py", "x"], check=True, stdout=subprocess.PIPE, text=True).stdout)
        ask("second")
        print(log())
"""
PROGRAMS = {
    "subprocess": ONE_AFTER_THE_OTHER,
    "beside": BESIDE,
    "spawn": MULTIPROCESSING.replace("METHOD", '"spawn"'),
    "pool": POOL,
    "grandchild": GRANDCHILD,
    "fork": MULTIPROCESSING.replace("METHOD", '"fork"'),
}


@pytest.fixture
def begun(shell):
    """Record a program that starts `worker.py`."""

    def begin(code, worker=WORKER):
        shell.write("worker.py", worker)
        shell.write("agent.py", HEAD + code)
        done, recording = shell.record("agent.py")
        assert done.status == 0, done.err
        for path in shell.folder.glob("*.txt"):
            path.write_text("mine\n")
        return done, recording

    return begin


def steps(recording, *questions):
    return [step.number for step in recording if step.args.get("question") in questions]


def test_a_fork_that_is_quicker_than_its_parent_keeps_the_order_in_which_files_were_changed(shell, begun):
    # A replayed process does not sleep: in the fork the program goes on a second earlier than in the parent.
    _, recording = begun(ONE_AFTER_THE_OTHER, SLOW_WORKER)
    (at,) = steps(recording, "second")
    forked = shell.run("fork", recording.id, "--at", at)
    assert forked.status == 0, forked.err
    fork = shell.last()
    times = [call.began for call in fork.logs[0].calls.values()]
    assert times == sorted(times)
    assert fork.steps[at - 1].call.began >= recording.steps[at - 1].call.began
    again = shell.run("replay", fork.id)
    assert (again.status, again.out) == (0, forked.out), again.err


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_process_that_ended_before_the_step_replays_its_own_file(shell, begun, name):
    done, recording = begun(PROGRAMS[name])
    before = tree(shell.folder)
    for at in steps(recording, "second", "third"):
        forked = shell.run("fork", recording.id, "--at", at)
        assert forked.status == 0, forked.err
        fork = shell.last()
        assert fork.steps[at - 1].call.began >= recording.steps[at - 1].call.began
        assert tree(shell.folder) == before
        assert len(fork.logs) == len(recording.logs)
        lines = done.out.splitlines()
        assert forked.out.splitlines()[0] == lines[0]
        if at == steps(recording, "third")[-1:]:
            assert forked.out == done.out
        again = shell.run("replay", fork.id)
        assert (again.status, again.out) == (0, forked.out), again.err
        assert shell.run("fsck").status == 0


def test_a_process_of_the_live_part_is_run_and_recorded(shell, begun):
    done, recording = begun(ONE_AFTER_THE_OTHER)
    first, second, third = steps(recording, "first", "second", "third")
    outs = [shell.run("fork", recording.id, "--at", at).out for at in (first, second, third)]
    known = [line for line in done.out.splitlines() if line]
    assert [len(set(known) - set(out.splitlines())) for out in outs] == [2, 1, 0]


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("exits", [True, False])
def test_a_process_that_departs_before_the_step_is_a_departure_of_the_fork(shell, begun, exits):
    code = ONE_AFTER_THE_OTHER if exits else ONE_AFTER_THE_OTHER.replace("print(run", "len(run")
    code = code if exits else code.replace("check=True", "check=False")
    _, recording = begun(code)
    known = {line["id"] for line in shell.run("list", "--json").json}
    shell.write("worker.py", WORKER.replace("draw(sys.argv[1])", "draw(sys.argv[1] + '!')"))
    before = tree(shell.folder)
    done = shell.run("fork", recording.id, "--at", steps(recording, "second")[0])
    assert done.status == 2
    assert "the program is not the recorded one, or no longer: CHANGED at step 2" in done.err
    assert {line["id"] for line in shell.run("list", "--json").json} == known
    assert tree(shell.folder) == before


@pytest.mark.thorough
def test_a_process_that_does_not_end_by_itself_any_more_does_not_fork(shell, begun):
    _, recording = begun(ONE_AFTER_THE_OTHER)
    shell.write("worker.py", WORKER + "    import os; os.kill(os.getpid(), 9)\n")
    shell.write("agent.py", (HEAD + ONE_AFTER_THE_OTHER).replace("check=True", "check=False"))
    done = shell.run("fork", recording.id, "--at", steps(recording, "second")[0])
    assert done.status == 2
    assert "gave no verdict" in done.err


def test_behind_an_edited_answer_a_process_runs_for_real(shell, begun):
    code = """
    told = ask("first")
    print(run("a", input=told).stdout)
    ask("second")
    print(log())
    """
    worker = WORKER.replace("draw(sys.argv[1])", "draw(sys.stdin.read())")
    done, recording = begun(code, worker)
    forked = shell.run("fork", recording.id, "--at", 1, "--set", "output = other")
    assert forked.status == 0, forked.err
    assert "first" in done.out
    assert "first" not in forked.out
    assert "other" in forked.out
    again = shell.run("replay", shell.last().id)
    assert (again.status, again.out) == (0, forked.out)


def test_without_overlays_a_process_of_the_live_part_uses_the_fork_s_files(shell, begun):
    code = """
    told = ask("first")
    print(run(told).stdout)
    print(log())
    """
    _, recording = begun(code)
    before = tree(shell.folder)
    forked = subprocess.run(
        shell.command("fork", recording.id, "--at", 1, "--set", "output = other"),
        cwd=shell.folder, env={**shell.environ, "REENACT_PORTABLE": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert forked.returncode == 0, forked.stderr
    assert forked.stdout.count("other ") == 2
    assert tree(shell.folder) == before


KILLED = """
    ask("first")
    other = subprocess.Popen([sys.executable, "-c", "import time; time.time(); print(1, flush=True); time.sleep(60)"],
                             stdout=subprocess.PIPE)
    other.stdout.readline()
    other.kill()
    other.wait()
    ask("second")
"""


def test_a_process_whose_end_is_not_recorded_does_not_allow_a_fork(shell, begun):
    _, recording = begun(KILLED)
    done = shell.run("fork", recording.id, "--at", steps(recording, "second")[0])
    assert done.status == 2
    assert "outside of a tool, and its end is not recorded" in done.err


@pytest.mark.parametrize(("words", "said"), [(("--live", "tool:ask"), "which --live does not allow")])
def test_calls_that_run_for_real_before_the_step_do_not_allow_it(shell, begun, words, said):
    _, recording = begun(ONE_AFTER_THE_OTHER)
    done = shell.run("fork", recording.id, "--at", steps(recording, "second")[0], *words)
    assert done.status == 2
    assert said in done.err


def test_a_block_in_the_users_own_process_is_not_forked_with_files(shell, begun):
    _, recording = begun(ONE_AFTER_THE_OTHER)
    with pytest.raises(UsageError, match="would run again on your own files"):
        reenact.fork(recording, at=steps(recording, "second")[0], home=shell.home)


CUT_OFF = """
    ask("first")
    print(run("a").stdout)
    ask("second")
    if os.path.exists("kill"):
        os.kill(os.getpid(), 9)
    print(run("b").stdout)
    ask("third")
    print(log())
"""


@pytest.fixture
def cut_off(shell):
    """Record a program that is killed behind the end of a process."""
    shell.write("worker.py", WORKER)
    shell.write("agent.py", HEAD + CUT_OFF)
    shell.write("kill", "")
    done, recording = shell.record("agent.py")
    assert recording.status == "unsealed"
    (shell.folder / "kill").unlink()
    (shell.folder / "log.txt").unlink()
    return done, recording


def test_a_run_is_resumed_behind_the_end_of_a_process(shell, cut_off):
    done, _ = cut_off
    resumed = shell.run("resume", "last")
    assert resumed.status == 0, resumed.err
    assert resumed.out.splitlines()[0] == done.out.splitlines()[0]
    assert len(shell.last().logs) == 3
    again = shell.replay()
    assert (again.status, again.out) == (0, resumed.out), again.err


@pytest.mark.thorough
def test_a_process_that_departs_is_a_departure_of_the_resumed_run(shell, cut_off):
    path = shell.home / "recordings" / cut_off[1].id / "events.jsonl"
    before = path.read_bytes()
    shell.write("worker.py", WORKER.replace("draw(sys.argv[1])", "draw(sys.argv[1] + '!')"))
    done = shell.run("resume", "last")
    assert done.status == 2
    assert "the program is not the recorded one, or no longer" in done.err
    assert path.read_bytes() == before
