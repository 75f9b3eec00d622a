"""A call knows the number of its step: recorded, replayed, forked and resumed, alone and beside threads."""

from __future__ import annotations

import sys
import threading

import pytest

import reenact
from reenact.core.boundary import perform
from reenact.core.model.event import Effect

pytestmark = pytest.mark.usefixtures("home")


def ask(name, **args):
    """Perform an effect; return the number of its step."""
    found = []
    perform(Effect("tool", name, args), lambda: name, begun=lambda call: found.append(call.step))
    return found[0] if found else None


def numbers(recording):
    return {step.call.name: step.number for step in recording}


def three():
    return {name: ask(name) for name in ("one", "two", "three")}


def test_without_a_recording_there_is_no_number():
    assert ask("one") is None


def test_it_is_the_number_that_the_recording_shows():
    with reenact.record("run") as recording:
        reenact.effect("clock", "other").perform(lambda: 1)
        found = three()
    assert found == {"one": 2, "two": 3, "three": 4}
    assert found.items() <= numbers(recording.load()).items()


def test_a_replay_gives_the_same_numbers():
    with reenact.record("run") as recording:
        recorded = three()
    with reenact.replay(recording.id):
        assert three() == recorded


def test_a_replay_that_leaves_calls_out_keeps_the_numbers_of_the_rest():
    with reenact.record("run") as recording:
        three()
    with reenact.replay(recording.id, on_divergence="realign") as replay:
        assert (ask("one"), ask("three")) == (1, 3)
    assert [found.step for found in replay.verdict.divergences] == [2]


def test_in_a_fork_they_are_those_of_the_fork():
    with reenact.record("run") as recording:
        three()
    with reenact.fork(recording.id, at=2, policy=["tool=live"]) as fork:
        found = {**three(), "four": ask("four")}
    assert found == numbers(reenact.load(fork.id)) == {"one": 1, "two": 2, "three": 3, "four": 4}


def test_threads_that_ask_at_once_get_the_numbers_of_the_file():
    found = {}
    ready = threading.Barrier(4)

    def work(which):
        ready.wait()
        for count in range(200):
            found[f"{which}.{count}"] = ask(f"{which}.{count}")

    with reenact.record("run") as recording:
        threads = [threading.Thread(target=work, args=(which,)) for which in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 800
    assert found.items() <= numbers(recording.load()).items()


PROGRAM = """
    import subprocess, sys
    from reenact.core.boundary import perform
    from reenact.core.model.event import Effect

    def ask(name):
        perform(Effect("tool", name, {{}}), lambda: 1, begun=lambda call: print(name, call.step, flush=True))

    ask("before")
    subprocess.run([sys.executable, "-c", "import reenact; print('child')"])
    ask("after")
"""


def test_behind_the_start_of_another_process_it_is_not_known_in_a_replay_either(shell):
    program = shell.write("program.py", PROGRAM.format())
    first = shell.run("record", "--", sys.executable, program)
    lines = first.out.splitlines()
    assert lines[-1] == "after None", first.err
    before = lines[0].split()
    recorded = numbers(reenact.load("last", home=shell.home))
    assert (before[0], int(before[1])) == ("before", recorded["before"])
    again = shell.run("replay", "last")
    assert again.out == first.out, again.err


RESUMED = """
    import os, sys
    from reenact.core.boundary import perform
    from reenact.core.model.event import Effect

    def ask(name):
        perform(Effect("model", name, {{}}), lambda: 1, begun=lambda call: print(name, call.step, flush=True))

    ask("one")
    ask("two")
    if os.path.exists("killed"):
        ask("three")
    else:
        open("killed", "w").close()
        os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signal ends a process at once")
def test_a_resumed_run_goes_on_counting(shell):
    program = shell.write("program.py", RESUMED.format())
    shell.run("record", "--files", "off", "--", sys.executable, program)
    done = shell.run("resume", "last")
    found = dict(line.split() for line in done.out.splitlines() if line.startswith(("one", "two", "three")))
    recorded = numbers(reenact.load("last", home=shell.home))
    assert set(found) == {"one", "two", "three"}, done.err
    assert {name: int(number) for name, number in found.items()}.items() <= recorded.items()
