"""A run that was killed goes on in the same recording: no writing call runs twice unasked, none is lost."""

from __future__ import annotations

import fcntl
import os
import random
import subprocess
import sys
from collections import Counter

import pytest

HEAD = """
    import asyncio, ctypes, os, random, threading, time, uuid
    from concurrent.futures import ThreadPoolExecutor
    import reenact

    libc = ctypes.CDLL(None)

    def kill_at(place):
        if os.path.exists(f"counts/{place}"):
            os.kill(os.getpid(), 9)

    def count(name):
        # The world outside: by Python, the line would be a change of the program's own, which is set back.
        fd = libc.open(b"counts/calls", os.O_APPEND | os.O_WRONLY)
        os.write(fd, name.ljust(15).encode() + b"\\n")
        number = os.fstat(fd).st_size // 16
        os.close(fd)
        kill_at(f"in-{number}")
        return number

    def passed():
        for number in range(os.path.getsize("counts/calls") // 16 + 1):
            kill_at(f"after-{number}")

    @reenact.tool(writes=False)
    def look(name):
        count(f"look {name}")
        return uuid.uuid4().hex

    @reenact.tool(writes=True)
    def pay(name, key):
        number = count(f"pay {name}")
        time.sleep(random.random() / 200)
        return f"paid {name} {key} {number}"

    @reenact.tool(name="pay", writes=True)
    async def pay_later(name, key):
        number = count(f"pay {name}")
        await asyncio.sleep(random.random() / 200)
        return f"paid {name} {key} {number}"

    def job(name, length):
        found = []
        for n in range(length):
            found.append(look(f"{name}.{n}"))
            time.sleep(random.random() / 300)
            found.append(pay(f"{name}.{n}", uuid.uuid4().hex))
            passed()
        return found

    async def task(name, length):
        found = []
        for n in range(length):
            await asyncio.sleep(random.random() / 300)
            found.append(await pay_later(f"{name}.{n}", uuid.uuid4().hex))
            passed()
        return found
"""
TAILS = {
    "one thread": """
    print(job("a", 4), random.random())
    """,
    "threads": """
    found = {}
    def work(name):
        found[name] = job(name, 2)
    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(sorted(found.items()), pay("end", uuid.uuid4().hex))
    """,
    "a pool": """
    with ThreadPoolExecutor(3) as pool:
        print([done.result() for done in [pool.submit(job, name, 2) for name in "abcd"]])
    """,
    "a loop": """
    async def main():
        print(await asyncio.gather(*(task(name, 2) for name in "abcd")))
    asyncio.run(main())
    """,
}
PAID = {"one thread": 4, "threads": 7, "a pool": 8, "a loop": 8}


class Counts:
    """The real calls of a program, and the place to kill it at."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "calls").touch()

    def kill(self, *places):
        for place in places:
            (self.folder / place).touch()

    def spare(self):
        for path in self.folder.iterdir():
            if path.name != "calls":
                path.unlink()

    @property
    def names(self):
        path = self.folder / "calls"
        return [line.strip() for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def paid(self):
        return Counter(name for name in self.names if name.startswith("pay"))


@pytest.fixture
def counts(shell, tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    (shell.folder / "counts").symlink_to(folder)
    return Counts(folder)


def killed(shell, counts, kind, *places):
    """Record a program that is killed there."""
    shell.write("agent.py", HEAD + TAILS[kind])
    counts.kill(*places)
    done, recording = shell.record("agent.py")
    counts.spare()
    assert "SIGKILL" in done.err, done.err
    return recording


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("kind", TAILS)
def test_a_run_killed_between_calls_goes_on_and_each_call_is_made_once(shell, counts, kind):
    recording = killed(shell, counts, kind, "after-3")
    path = shell.home / "recordings" / recording.id / "events.jsonl"
    before = path.read_bytes()
    done = shell.run("resume", "last")
    if done.status == 3:  # A call of another thread was in flight.
        assert "may have happened" in done.err
        done = shell.run("resume", "last", "--policy", "pay=live")
    assert done.status == 0, done.err
    assert len(counts.paid) == PAID[kind]
    in_flight = [step for step in recording if step.call.status == "in flight" and step.label == "tool:pay"]
    assert sum(counts.paid.values()) <= PAID[kind] + len(in_flight)
    resumed = shell.last()
    assert (resumed.id, resumed.status) == (recording.id, "ok")
    assert resumed.resumed
    assert path.read_bytes().startswith(before[: before.rindex(b"\n") + 1])
    assert shell.replay().status == 0
    assert shell.run("fsck").status == 0


@pytest.mark.thorough
def test_a_writing_call_in_flight_is_not_made_again_unless_its_policy_allows_it(shell, counts):
    recording = killed(shell, counts, "one thread", "in-4")
    before = counts.names
    done = shell.run("resume", "last")
    assert done.status == 3
    assert (
        "step 4, tool:pay, was not run: it was in flight when the run was cut off, and may have happened"
        in done.err
    )
    assert "--policy pay=live" in done.err
    assert counts.names == before
    assert len(shell.last().steps) == len(recording.steps)
    done = shell.run("resume", "last", "--policy", "pay=live")
    assert done.status == 0, done.err
    assert counts.paid == Counter({"pay a.0": 1, "pay a.1": 2, "pay a.2": 1, "pay a.3": 1})
    assert shell.replay().status == 0


def test_a_new_call_that_is_refused_is_named_by_its_step(shell, counts):
    recording = killed(shell, counts, "one thread", "after-3")
    done = shell.run("resume", "last", "--policy", "pay=refuse")
    assert done.status == 3
    steps = [step.number for step in shell.last() if step.label == "tool:pay"]
    assert steps[-1] > len(recording.steps)
    assert f"step {steps[-1]}, tool:pay, was not run" in done.err


def test_a_reading_call_in_flight_is_made_again(shell, counts):
    killed(shell, counts, "one thread", "in-3")
    done = shell.run("resume", "last")
    assert done.status == 0, done.err
    assert counts.names.count("look a.1") == 2
    assert set(counts.paid.values()) == {1}
    assert shell.replay().status == 0


@pytest.mark.thorough
def test_a_resumed_run_that_is_killed_again_is_resumed_again(shell, counts):
    killed(shell, counts, "one thread", "after-2")
    counts.kill("after-6")
    again = shell.run("resume", "last")
    assert again.status == 2
    assert "cut off again" in again.err
    counts.spare()
    done = shell.run("resume", "last", "--json")
    assert done.status == 0, done.err
    assert done.json["how"] == "ran"
    assert counts.paid == Counter({f"pay a.{n}": 1 for n in range(4)})
    assert len(shell.last().resumed) == 2
    assert shell.replay().status == 0


@pytest.mark.thorough
@pytest.mark.parametrize("kind", TAILS)
@pytest.mark.parametrize("seed", range(12))
def test_runs_killed_anywhere_go_on(shell, counts, kind, seed):
    chance = random.Random(f"{kind} {seed}")
    place = chance.randrange(1, 7)
    recording = killed(shell, counts, kind, f"in-{place}", f"after-{place}")
    done = shell.run("resume", "last")
    unasked = counts.paid
    assert max(unasked.values(), default=1) == 1
    if done.status == 3:
        done = shell.run("resume", "last", "--policy", "pay=live")
    assert done.status == 0, done.err
    assert len(counts.paid) == PAID[kind]
    in_flight = sum(step.call.status == "in flight" and step.label == "tool:pay" for step in recording)
    assert sum(counts.paid.values()) <= PAID[kind] + in_flight
    assert shell.replay().status == 0


REFUSED_THREAD = """
    @reenact.tool(writes=False)
    def watch():
        count("watch")
        while os.path.getsize("counts/calls") < 32:
            pass
        return os.getpid() > 0

    def watch_and_look():
        watch()
        look("b")

    def buy():
        while not (os.path.exists("counts/calls") and os.path.getsize("counts/calls")):
            time.sleep(0.001)
        pay("a", "key")

    threads = [threading.Thread(target=work) for work in (watch_and_look, buy)]
    for thread in threads: thread.start()
    for thread in reversed(threads): thread.join()
"""


def test_joins_that_a_refused_call_released_are_not_recorded(shell, counts):
    shell.write("agent.py", HEAD + REFUSED_THREAD)
    counts.kill("in-2")
    shell.record("agent.py")
    counts.spare()
    done = shell.run("resume", "last")
    assert (done.status, "may have happened" in done.err) == (3, True)
    done = shell.run("resume", "last", "--policy", "pay=live")
    assert done.status == 0, done.err
    assert counts.paid == Counter({"pay a": 2})
    assert shell.replay().status == 0


NESTED = """
    @reenact.tool(writes=False)
    def order():
        return pay("a", "key")

    print(order())
"""


def test_a_writing_call_in_flight_inside_of_a_reading_one_is_not_made_again_unasked(shell, counts):
    shell.write("agent.py", HEAD + NESTED)
    counts.kill("in-1")
    shell.record("agent.py")
    counts.spare()
    done = shell.run("resume", "last")
    assert done.status == 3
    assert "tool:pay, was not run: it was in flight" in done.err
    assert counts.paid == Counter({"pay a": 1})
    done = shell.run("resume", "last", "--policy", "pay=live")
    assert done.status == 0, done.err
    assert shell.replay().status == 0


POLLING = """
    @reenact.tool(writes=False)
    def gather():
        got, turns = [], []
        def poll(name):
            while not os.path.exists(f"ready-{name}"):
                time.sleep(0.001)
                look(name)
                turns.append(name)
                if name == "a" and turns.count("a") == 5:
                    kill_at("polled")
            got.append(name)
        threads = [threading.Thread(target=poll, args=(name,)) for name in "ab"]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        return sorted(got)

    def beside():
        for n in range(3):
            time.sleep(0.001)
            look(f"beside.{n}")
        open("ready-b", "w").close()

    thread = threading.Thread(target=beside)
    thread.start()
    print(gather())
    thread.join()
"""


POLLING_TASKS = """
    @reenact.tool(writes=False)
    async def gather():
        got, turns = [], []
        async def poll(name):
            while not os.path.exists(f"ready-{name}"):
                await asyncio.sleep(0.001)
                look(name)
                turns.append(name)
                if name == "a" and turns.count("a") == 5:
                    kill_at("polled")
            got.append(name)
        await asyncio.gather(*map(poll, "ab"))
        return sorted(got)

    async def beside():
        for n in range(3):
            await asyncio.sleep(0.001)
            look(f"beside.{n}")
        open("ready-b", "w").close()

    async def main():
        task = asyncio.create_task(beside())
        print(await gather())
        await task
    asyncio.run(main())
"""


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("program", [POLLING, POLLING_TASKS], ids=["threads", "tasks"])
@pytest.mark.parametrize("ready", ["a", "ab"])
def test_a_call_that_is_made_again_may_go_another_way_where_files_have_changed(shell, counts, program, ready):
    """What its threads did the first time is not waited for, and need not be asked again."""
    shell.write("agent.py", HEAD + program)
    counts.kill("polled")
    shell.record("agent.py")
    counts.spare()
    (shell.folder / "ready-b").unlink(missing_ok=True)
    for name in ready:
        (shell.folder / f"ready-{name}").touch()
    done = shell.run("resume", "last")
    assert (done.status, done.out) == (0, "['a', 'b']\n"), done.err
    assert shell.replay().status == 0


LOOKS_FIRST = """
    @reenact.tool(writes=False)
    def order():
        if not os.path.exists("looked"):
            look("price")
        size = os.path.getsize("size") if os.path.exists("size") else 0
        paid = pay(f"tea {size}", "key")
        kill_at("paid")
        return paid.split()[1:3]

    print(order())
"""


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    ("changed", "status", "paid"),
    [("looked", 0, {"pay tea 0": 1}), ("size", 3, {"pay tea 0": 1})],
)
def test_an_answered_payment_inside_of_a_call_that_is_made_again_is_not_made_twice(
    shell, counts, changed, status, paid
):
    shell.write("agent.py", HEAD + LOOKS_FIRST)
    counts.kill("paid")
    shell.record("agent.py")
    counts.spare()
    (shell.folder / changed).write_text("12")
    done = shell.run("resume", "last")
    assert done.status == status, done.err
    assert counts.paid == Counter(paid)
    if status:
        assert "tool:pay, was not run" in done.err
        assert "had made this call with other arguments" in done.err
        assert "--policy pay=live" in done.err
        assert shell.run("resume", "last", "--policy", "pay=live").status == 0
    assert shell.replay().status == 0


PYTHONS = """
    import subprocess, sys

    @reenact.tool(writes=False)
    def run(name):
        code = f"import reenact, uuid; print({name!r}, reenact.tool(uuid.uuid4).__call__().hex)"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()

    @reenact.tool(writes=False)
    def last():
        kill_at("before")
        found = run("last")
        kill_at("behind")
        return found

    print(run("first"))
    count("between")
    print(last())
    if not os.path.exists("counts/calm"):
        code = "import time; time.time(); print('begun', flush=True); input()"
        other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        other.stdout.readline()
        kill_at("beside")
        other.communicate(b"x")
"""


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("place", ["in-1", "before", "behind"])
def test_pythons_that_a_tool_has_started_are_not_started_again(shell, counts, place):
    shell.write("agent.py", HEAD + PYTHONS)
    counts.kill(place, "calm")
    record = shell.run("record", "--", sys.executable, "agent.py")
    first = shell.last()
    assert len(first.logs) == (3 if place == "behind" else 2), record.err
    (counts.folder / place).unlink()
    done = shell.run("resume", "last", "--policy", "process=live")
    assert done.status == 0, done.err
    assert done.out.splitlines()[0] == record.out.strip()
    assert done.out.splitlines()[1].startswith("last ")
    assert shell.replay().out == done.out
    assert shell.run("fsck").status == 0


def test_a_run_with_a_process_beside_a_tool_is_not_resumed(shell, counts):
    shell.write("agent.py", HEAD + PYTHONS)
    counts.kill("beside")
    shell.run("record", "--", sys.executable, "agent.py")
    done = shell.run("resume", "last")
    assert done.status == 2
    assert "was started outside of a tool, and ran on behind the last recorded answer" in done.err


def test_a_changed_program_is_refused_and_the_recording_stays_as_it_was(shell, counts):
    recording = killed(shell, counts, "one thread", "after-4")
    path = shell.home / "recordings" / recording.id / "events.jsonl"
    before, calls = path.read_bytes(), counts.names
    text = (shell.folder / "agent.py").read_text()
    shell.write("agent.py", text.replace('look(f"{name}.{n}")', 'look(f"{name}-{n}")'))
    done = shell.run("resume", "last")
    assert done.status == 2
    assert "the program is not the recorded one, or no longer" in done.err
    assert (path.read_bytes(), counts.names) == (before, calls)


@pytest.mark.thorough
def test_a_torn_last_line_is_left_out(shell, counts):
    recording = killed(shell, counts, "one thread", "after-4")
    path = shell.home / "recordings" / recording.id / "events.jsonl"
    path.write_bytes(path.read_bytes() + b'{"event":"drew","at":"ma')
    done = shell.run("resume", "last")
    assert done.status == 0, done.err
    assert shell.replay().status == 0


def test_what_cannot_be_resumed_is_refused_in_one_line(shell, counts):
    shell.write("agent.py", HEAD + TAILS["one thread"])
    _, sealed = shell.record("agent.py")
    done = shell.run("resume", "last")
    assert (done.status, len(done.ours)) == (2, 1)
    assert f"recording {sealed.id} has ended (ok): there is nothing to resume" in done.err
    done = shell.run("resume", "last", "--policy", "pay=liev")
    assert done.status == 2
    assert "did you mean live?" in done.err


def test_a_recording_that_is_still_written_is_refused(shell, counts):
    recording = killed(shell, counts, "one thread", "after-4")
    path = shell.home / "recordings" / recording.id / "events.jsonl"
    file = os.open(path, os.O_RDWR)
    fcntl.flock(file, fcntl.LOCK_EX)
    done = shell.run("resume", "last")
    os.close(file)
    assert done.status == 2
    assert "still being written" in done.err


@pytest.mark.thorough
def test_a_recorded_block_goes_on(shell, counts):
    shell.write("agent.py", HEAD + "\n    with reenact.record('shop'):\n        print(job('a', 3))\n")
    counts.kill("after-4")
    with pytest.raises(subprocess.CalledProcessError):
        shell.plain("agent.py")
    counts.spare()
    done = shell.run("resume", "last")
    assert done.status == 0, done.err
    assert counts.paid == Counter({f"pay a.{n}": 1 for n in range(3)})
    assert shell.last().status == "ok"
    assert shell.replay().status == 0


@pytest.mark.sampled
@pytest.mark.parametrize("place", ["in-1", "in-2", "in-3"])
def test_the_state_of_a_resumed_run_can_be_read(shell, counts, place):
    shell.write(
        "agent.py",
        HEAD
        + """
    memory = reenact.track("memory", [], every=1)
    def both(name):
        memory.append(name)
        return look(name)
    for n in range(3):
        both(f"a{n}")
        passed()
    memory.append("end")
""",
    )
    counts.kill(place)
    done, _ = shell.record("agent.py")
    counts.spare()
    assert "SIGKILL" in done.err
    done = shell.run("resume", "last")
    assert done.status == 0, done.err
    assert list(shell.last().state()["memory"]) == ["a0", "a1", "a2", "end"]
    assert shell.replay().status == 0


def test_a_tool_that_was_made_again_runs_again_in_a_replay(shell, counts):
    shell.write(
        "agent.py",
        HEAD
        + """
    import signal
    dies, cart = os.path.exists("counts/dies"), []
    @reenact.tool(writes=False)
    def add(n):
        cart.append(n)
        if dies and n == 2:
            signal.raise_signal(9)
        return len(cart)
    for n in range(4):
        add(n)
    print(cart)
""",
    )
    counts.kill("dies")
    done, _ = shell.record("agent.py")
    counts.spare()
    assert "SIGKILL" in done.err
    done = shell.run("resume", "last")
    assert done.out == "[0, 1, 2, 3]\n", done.err
    done = shell.replay()
    assert (done.status, done.out) == (0, "[0, 1, 2, 3]\n"), done.err
