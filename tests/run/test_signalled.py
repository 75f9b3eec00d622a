"""A process that is killed has made its recorded calls by then, and what it did is compared."""

from __future__ import annotations

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

WORKER = """
import random, sys, time
import reenact

@reenact.tool
def work(n):
    return [n, random.random()]

COUNT = 4
for n in range(COUNT):
    work(n)
print("done", flush=True)
REST
"""
REST = "time.sleep(3600)"
PARENT = """
import multiprocessing, os, signal, subprocess, sys, time

child = subprocess.Popen([sys.executable, "worker.py"], stdout=subprocess.PIPE, text=True)
print(child.stdout.readline().strip())
END
print(child.wait())
"""
ENDS = {
    "terminate": "child.terminate()",
    "kill": "child.kill()",
    "by number": "os.kill(child.pid, signal.SIGTERM)",
    "a time limit": """
try:
    child.communicate(timeout=0.2)
except subprocess.TimeoutExpired:
    child.kill()
""",
}


def _written(shell, end="kill", rest=REST, **changes):
    worker = WORKER.replace("REST", rest)
    for before, after in changes.items():
        worker = worker.replace(before, after)
    shell.write("worker.py", worker)
    shell.write("parent.py", PARENT.replace("END", ENDS[end]))


@pytest.mark.parametrize("end", ENDS)
def test_the_calls_of_a_killed_process_run_again(shell, end):
    _written(shell, end)
    done, recording = shell.record("parent.py")
    assert [log.sealed is None for log in recording.logs] == [False, True], done.err
    for _ in range(2):
        again = shell.replay("--json")
        assert again.status == 0, again.err
        assert again.json["verdict"]["again"] == {"tool:work": 4}


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [("COUNT = 4", "COUNT = 3", "MISSING"), ("work(n)\n", "work(-n)\n", "CHANGED")],
    ids=["one too few", "another"],
)
def test_a_change_of_a_killed_process_is_found(shell, before, after, kind):
    _written(shell)
    shell.record("parent.py")
    _written(shell, **{before: after})
    again = shell.replay("--json")
    assert again.status == 1, again.out
    found = again.json["verdict"]["divergences"]
    assert kind in {each["kind"] for each in found}
    assert all("main/proc:worker.0" in each["address"] for each in found)


@pytest.mark.parametrize(
    "rest",
    [
        "while True: work(0); time.sleep(0.01)",
        "while True: time.sleep(0.01); work(0)",
        "import threading; threading.Thread(target=lambda: [work(n) for n in iter(int, 1)]).start()",
        """
import asyncio
async def tick():
    while True:
        await asyncio.sleep(0.01)
        work(0)
async def main():
    await asyncio.gather(tick(), tick())
asyncio.run(main())
""",
    ],
    ids=["work then sleep", "sleep then work", "a thread", "tasks"],
)
def test_a_process_that_works_until_it_is_killed_is_killed_where_it_was(shell, rest):
    _written(shell, "a time limit", rest)
    _, recording = shell.record("parent.py")
    steps = len([step for step in recording if step.label.startswith("tool:")])
    assert steps > 4
    for _ in range(2):
        again = shell.replay("--json")
        assert again.status == 0, again.err + again.out
        # The process may have been killed in its last call.
        assert again.json["verdict"]["again"]["tool:work"] in (steps - 1, steps)


def test_a_daemon_that_the_end_of_the_program_kills_has_made_its_calls(shell):
    shell.write(
        "agent.py",
        WORKER.partition("COUNT")[0]
        + """
import multiprocessing

def child(box):
    for n in range(5):
        work(n)
    box.put("up")
    time.sleep(3600)

if __name__ == "__main__":
    box = multiprocessing.Queue()
    multiprocessing.Process(target=child, args=(box,), daemon=True).start()
    print(box.get())
""",
    )
    shell.record("agent.py")
    again = shell.replay("--json")
    assert again.status == 0, again.err
    assert again.json["verdict"]["again"] == {"tool:work": 5}


def test_a_signal_waits_for_the_handler_that_is_set_in_time(shell):
    shell.write(
        "agent.py",
        WORKER.partition("COUNT")[0]
        + """
import multiprocessing, signal

def child():
    def stop(*_):
        print("stopped", work("stop"), flush=True)
        sys.exit(3)
    sum(range(3_000_000))
    signal.signal(signal.SIGTERM, stop)
    while True:
        time.sleep(0.05)

if __name__ == "__main__":
    process = multiprocessing.Process(target=child)
    process.start()
    time.sleep(2)
    process.terminate()
    process.join()
    print(process.exitcode)
""",
    )
    done, _ = shell.record("agent.py")
    assert done.out.endswith("3\n"), done.out
    for _ in range(2):
        again = shell.replay()
        assert (again.status, again.out) == (0, done.out), again.err
