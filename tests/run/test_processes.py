"""Several processes of one program: one recording, a file for each, and a replay of each."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import reenact
from reenact.adapters.stdlib.command import title

LOOKUP = """
    import asyncio, json, multiprocessing, os, random, subprocess, sys, time
    import reenact

    @reenact.tool
    def lookup(order):
        with open("live.txt", "a") as file:
            file.write(f"{order}\\n")
        return [order, random.random()]
"""
WORKER = (
    LOOKUP
    + """
    print(lookup(sys.argv[1]), flush=True)
"""
)
METHODS = {
    "subprocess": """
        done = subprocess.run([sys.executable, "worker.py", "w"], capture_output=True, text=True, check=True)
        print(lookup("m"), done.stdout)
    """,
    "own environment": """
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": ""}
        done = subprocess.run([sys.executable, "worker.py", "w"], capture_output=True, text=True, env=env, check=True)
        print(lookup("m"), done.stdout)
    """,
    "shell": """
        done = subprocess.run(f"{sys.executable} worker.py w && echo ok", shell=True, capture_output=True, text=True, check=True)
        print(lookup("m"), done.stdout)
    """,
    "asyncio": """
        async def main():
            child = await asyncio.create_subprocess_exec(sys.executable, "worker.py", "w", stdout=subprocess.PIPE)
            out, _ = await asyncio.wait_for(child.communicate(), 120)
            print(lookup("m"), out)
        asyncio.run(main())
    """,
    "fork": """
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(write, json.dumps(lookup("w")).encode())
            os._exit(0)
        os.waitpid(pid, 0)
        print(lookup("m"), os.read(read, 1000))
    """,
    "multiprocessing fork": """
        queue = multiprocessing.get_context("fork").Queue()
        child = multiprocessing.get_context("fork").Process(target=work, args=(queue,))
        child.start(); print(lookup("m"), queue.get()); child.join()
    """,
    "multiprocessing spawn": """
        queue = multiprocessing.get_context("spawn").Queue()
        child = multiprocessing.get_context("spawn").Process(target=work, args=(queue,))
        child.start(); print(lookup("m"), queue.get()); child.join()
    """,
    "a pool of one": """
        from concurrent.futures import ProcessPoolExecutor
        with ProcessPoolExecutor(1) as pool:
            print(lookup("m"), pool.submit(lookup, "w").result())
    """,
    "exec in a fork": """
        pid = os.fork()
        if pid == 0:
            os.execv(sys.executable, [sys.executable, "worker.py", "w"])
        os.waitpid(pid, 0)
        print(lookup("m"))
    """,
}  # fmt: skip


def _program(shell, method, *, block=False):
    body = METHODS[method].strip("\n")
    inside = "\n".join("    " + line for line in body.splitlines())
    if block:
        inside = "            with reenact.record('many'):\n" + "\n".join(
            "        " + line for line in body.splitlines()
        )
    shell.write("worker.py", WORKER)
    shell.write(
        "agent.py",
        LOOKUP + "\n    def work(queue): queue.put(lookup('w'))\n    if __name__ == '__main__':\n" + inside,
    )


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("method", METHODS)
def test_a_child_has_a_file_of_its_own_and_replays_it(shell, method):
    _program(shell, method)
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    assert len(done.ours) == 2, done.err
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    assert sorted((shell.folder / "live.txt").read_text().split()) == ["m", "w"]
    assert sorted(str(step.args["order"]) for step in recording) == ["m", "w"]
    child = next(step.log for step in recording if step.args["order"] == "w")
    assert child.process.startswith("main/")
    assert child.process in {path for log in recording.logs for path in log.spawned}
    assert child.opened["offset"] > 0
    assert child.sealed["status"] == "ok"


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["subprocess", "multiprocessing fork", "multiprocessing spawn", "fork"])
def test_children_of_a_block_belong_to_it(shell, method):
    _program(shell, method, block=True)
    plain = shell.plain("agent.py")
    assert len(shell.last().logs) == 2
    again = shell.replay()
    assert (again.status, again.out) == (0, plain.stdout), again.err
    assert sorted((shell.folder / "live.txt").read_text().split()) == ["m", "w"]


@pytest.mark.thorough
def test_a_child_started_outside_of_the_block_is_left_alone(shell):
    shell.write("worker.py", WORKER)
    shell.write(
        "agent.py",
        """
        import os, subprocess, sys, reenact
        command = [sys.executable, "-c", "import os; print([k for k in os.environ if 'REENACT_' in k])"]
        print(subprocess.run(command, capture_output=True, text=True).stdout)
        with reenact.record("x"): pass
        print(subprocess.run(command, capture_output=True, text=True).stdout)
        """,
    )
    subprocess.run([sys.executable, "agent.py"], cwd=shell.folder, env=shell.environ, check=True)
    assert len(shell.last().logs) == 1


@pytest.mark.thorough
def test_four_equal_children_keep_their_own_answers(shell):
    shell.write("worker.py", WORKER)
    shell.write(
        "agent.py",
        """
        import subprocess, sys
        children = [subprocess.Popen([sys.executable, "worker.py", "w"], stdout=subprocess.PIPE) for _ in range(4)]
        print([child.communicate()[0] for child in children])
        """,
    )
    done, recording = shell.record("agent.py")
    assert sorted(log.process for log in recording.logs) == [
        "main",
        *(f"main/proc:worker.{n}" for n in range(4)),
    ]
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


@pytest.mark.thorough
def test_a_grandchild_belongs_to_the_recording_too(shell):
    shell.write("worker.py", WORKER)
    shell.write(
        "middle.py", "import subprocess, sys; subprocess.run([sys.executable, 'worker.py', 'w'], check=True)"
    )
    shell.write(
        "agent.py", "import subprocess, sys; subprocess.run([sys.executable, 'middle.py'], check=True)"
    )
    done, recording = shell.record("agent.py")
    assert [step.call.scope for step in recording] == ["main/proc:middle.0/proc:worker.0"]
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


@pytest.mark.thorough
@pytest.mark.parametrize("status", ["True", "-1", "2**70"])
def test_a_child_may_end_with_any_number(shell, status):
    """`unittest` ends a failed run with True."""
    shell.write(
        "agent.py",
        f"""
        import subprocess, sys
        print(subprocess.run([sys.executable, "-c", "import sys; sys.exit({status})"]).returncode)
        """,
    )
    done, recording = shell.record("agent.py")
    assert recording.logs[1].sealed["exit"] == int(done.out)
    assert shell.replay().status == 0


def test_a_divergence_in_a_child_is_the_runs(shell):
    shell.write("worker.py", WORKER)
    shell.write(
        "agent.py", "import subprocess, sys; subprocess.run([sys.executable, 'worker.py', sys.argv[1]])"
    )
    shell.record("agent.py", "one")
    again = shell.replay("--json", "--", sys.executable, "agent.py", "two")
    assert again.status == 1
    (divergence,) = again.json["verdict"]["divergences"]
    assert divergence["address"] == "main/proc:worker.0/tool:lookup#0"
    assert divergence["kind"] == "CHANGED"
    assert "Traceback" not in again.err


@pytest.mark.thorough
def test_a_process_too_few_is_missing_and_one_too_many_is_extra(shell):
    shell.write("worker.py", WORKER)
    shell.write(
        "agent.py",
        """
        import subprocess, sys
        for order in sys.argv[1:]: subprocess.run([sys.executable, "worker.py", order])
        """,
    )
    shell.record("agent.py", "a", "b")
    for words, kind, address in (
        (["a"], "MISSING", "main/proc:worker.1"),
        (["a", "b", "c"], "EXTRA", "main/proc:worker.2"),
    ):
        again = shell.replay("--json", "--", sys.executable, "agent.py", *words)
        assert again.status == 1
        assert [(d["kind"], d["address"]) for d in again.json["verdict"]["divergences"]] == [(kind, address)]
    assert (shell.folder / "live.txt").read_text().split() == ["a", "b"]
    words = ("--", sys.executable, "agent.py", "a", "b", "c")
    # A kind alone lets no unknown program run: the rule that does is named.
    (refused,) = shell.replay("--json", "--live", "process", *words).json["verdict"]["divergences"]
    program = Path(sys.executable).name
    assert refused["hint"] == f"to let it run: --policy {program}=live"
    assert (shell.folder / "live.txt").read_text().split() == ["a", "b"]
    live = shell.replay("--json", "--live", "process", "--policy", f"{program}=live", *words)
    assert live.json["verdict"]["live"] == {f"process:{program}": 1}


@pytest.mark.thorough
def test_a_killed_child_is_replayed_as_far_as_it_went(shell):
    shell.write("worker.py", WORKER + "\n    os.kill(os.getpid(), 9)\n")
    shell.write(
        "agent.py",
        "import subprocess, sys; print(subprocess.run([sys.executable, 'worker.py', 'w']).returncode)",
    )
    done, recording = shell.record("agent.py")
    assert [log.sealed is None for log in recording.logs] == [False, True]
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


@pytest.mark.thorough
def test_what_runs_no_python_is_named_at_the_end_of_the_recording_and_in_the_verdict(shell):
    shell.write(
        "agent.py",
        "import platform, subprocess; subprocess.run(['true'], pass_fds=[1]); platform.processor()",
    )
    done, recording = shell.record("agent.py")
    assert "the program ran true" in done.err
    assert len(recording.notes) == 1
    again = shell.replay()
    assert again.status == 1
    assert "true" in again.err


@pytest.mark.thorough
def test_a_fork_never_writes_to_its_parents_file(shell):
    shell.write(
        "agent.py",
        LOOKUP
        + """
    lookup("before")
    pid = os.fork()
    for n in range(20): lookup(f"{'child' if pid == 0 else 'parent'} {n}")
    if pid: os.waitpid(pid, 0)
    """,
    )
    _, recording = shell.record("agent.py")
    parent, child = recording.logs
    assert all("child" not in json.dumps(parent.args(call)) for call in parent.calls.values())
    assert all("child" in json.dumps(child.args(call)) for call in child.calls.values())
    assert (len(parent.calls), len(child.calls)) == (21, 20)
    assert child.sealed["status"] == "ok"
    assert shell.replay("--ignore", "stdout").status == 0


@pytest.mark.thorough
def test_in_a_library_the_verdicts_of_children_are_merged(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("REENACT_HOME", str(tmp_path))
    code = "import reenact, random\n@reenact.tool\ndef roll(n): return random.random()\nprint(roll({}))"

    def child(n):
        return subprocess.run(
            [sys.executable, "-c", code.format(n)], capture_output=True, text=True, check=False
        ).stdout

    with reenact.record("x") as recording:
        first = child(1)
    with reenact.replay(recording.id) as replay:
        assert child(1) == first
    assert replay.verdict.faithful, replay.verdict
    assert replay.verdict.served == 1
    with (
        pytest.raises(reenact.DivergenceError, match=r"proc:-c\.0/tool:roll"),
        reenact.replay(recording.id) as replay,
    ):
        child(2)
    with pytest.raises(reenact.DivergenceError, match="MISSING"), reenact.replay(recording.id):
        pass
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["python", "a/worker.py", "x"], "worker"),
        (["/usr/bin/python3.11", "-X", "dev", "-m", "pkg.mod"], "pkg.mod"),
        (["python3", "-c", "print(1)"], "-c"),
        (["git", "status"], "git"),
        ([], "?"),
        (["python"], "python"),
    ],
)
def test_a_process_is_named_after_what_it_runs(command, expected):
    assert title(command) == expected


@pytest.mark.thorough
def test_a_process_that_cannot_be_started_fails_again_and_is_no_hole(shell):
    code = "import subprocess\ntry: subprocess.run(['no-such-program'])\nexcept FileNotFoundError as error: print(error)"
    done, recording = shell.record("-c", code)
    again = shell.replay()
    assert recording.notes == ()
    assert (again.status, again.out) == (0, done.out), again.err


@pytest.mark.thorough
def test_a_command_as_bytes_and_an_environment_as_bytes_are_taken(shell):
    shell.write("worker.py", WORKER)
    shell.write(
        "agent.py",
        "import os, subprocess, sys; print(subprocess.check_output([os.fsencode(sys.executable), b'worker.py', b'w'], env=dict(os.environb)))",
    )
    done, recording = shell.record("agent.py")
    assert (done.status, len(recording.logs)) == (0, 2), done.err
    assert shell.replay().out == done.out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork server")
def test_processes_of_a_fork_server_are_recorded_and_replayed(shell):
    program = """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    def work(box):
        box.put(lookup("of a process"))
    if __name__ == "__main__":
        context = multiprocessing.get_context("forkserver")
        box = context.Queue()
        child = context.Process(target=work, args=(box,))
        child.start(); print(box.get()); child.join(); print(child.exitcode)
        with ProcessPoolExecutor(1, context) as pool:
            print(pool.submit(lookup, "of a pool").result())
    """
    shell.write("agent.py", LOOKUP + program)
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    assert (len(recording.logs), recording.notes) == (3, ())
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    assert "faithful" in again.err


def test_a_process_that_the_program_does_not_join_gives_its_verdict(shell):
    shell.write(
        "main.py",
        """
        import multiprocessing as mp

        def work(box):
            box.put(1)
            sum(range(20_000_000))

        if __name__ == "__main__":
            box = mp.Queue()
            mp.Process(target=work, args=(box,)).start()
            print(box.get())
        """,
    )
    done, _ = shell.record("main.py")
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


AGAIN = """
import os, random, sys
import reenact

@reenact.tool
def look(what):
    return random.random()

if len(sys.argv) == 1:
    print(look("first"), flush=True)
    os.execv(sys.executable, [sys.executable, __file__, "second"])
print(look(sys.argv[1]))
sys.exit(3)
"""


def test_a_program_that_takes_the_place_of_another_is_replayed_with_it(shell):
    shell.write("agent.py", AGAIN)
    done, recording = shell.record("agent.py")
    assert done.status == 3
    assert [log.process for log in recording.logs] == ["main", "main/exec:agent.0"]
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    ("change", "place"),
    [
        (('"first"', '"other"'), "main/tool:look#0"),
        (("look(sys.argv[1])", 'look("other")'), "main/exec:agent.0/tool:look#0"),
        (("sys.exit(3)", "sys.exit(4)"), "main/exit"),
    ],
    ids=["before", "behind", "exit"],
)  # fmt: skip
def test_a_change_before_or_behind_the_exec_is_found(shell, change, place):
    shell.write("agent.py", AGAIN)
    shell.record("agent.py")
    shell.write("agent.py", AGAIN.replace(*change))
    again = shell.replay()
    assert again.status == 1
    assert place in again.err


def test_what_ends_in_a_fork_of_the_parents_is_not_written_into_the_parents_file(shell):
    shell.write(
        "agent.py",
        LOOKUP
        + """
    import os

    @reenact.tool
    def numbers():
        for number in range(3):
            yield number

    if __name__ == '__main__':
        stream = numbers()
        print(next(stream), lookup('before'))
        if (pid := os.fork()) == 0:
            stream.close()
            os._exit(0)
        os.waitpid(pid, 0)
        print(next(stream), lookup('after'))
    """,
    )
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    assert recording.logs[0].sealed is not None
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


KILLED = """
import signal
import subprocess
import sys

CHILD = "import time; print('up', flush=True); time.sleep(3600)"
child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
print(child.stdout.readline().strip(), sum(range(3_000_000)))
child.send_signal(signal.SIGNAL)
print(child.wait())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", pytest.param("SIGINT", marks=pytest.mark.thorough)])
def test_a_process_that_was_killed_in_a_sleep_is_killed_there_again(shell, name):
    shell.write("parent.py", KILLED.replace("SIGNAL", name))
    done, _ = shell.record("parent.py")
    assert done.status == 0, done
    assert f"{-getattr(signal, name)}" in done.out.split()
    for _ in range(3):
        replay = shell.replay()
        assert replay.status == 0, replay
