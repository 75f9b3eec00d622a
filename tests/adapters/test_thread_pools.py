"""The end of a pool: who waits for its last job goes on before anything that comes later."""

from __future__ import annotations

PROGRAM = """
import threading, time
from concurrent.futures import ThreadPoolExecutor
import reenact

def forever():
    while True:
        time.sleep(0.02)

@reenact.tool
def ask(*seen):
    time.sleep(0.004)
    return len(seen)

rows = []

def work(who):
    for turn in range(4):
        rows.append((who, ask(who, turn)))
        ask([row[0] for row in rows])

threading.Thread(target=forever, daemon=True).start()
with ThreadPoolExecutor(2) as pool:
    pool.submit(ask, "first")
    pool.submit(time.sleep, 0.01)
threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(rows)
"""


def test_a_program_goes_on_behind_a_pool_before_later_sleeps(shell):
    shell.write("agent.py", PROGRAM)
    for _ in range(3):
        done, _ = shell.record("agent.py")
        for _ in range(2):
            replay = shell.replay()
            assert (replay.status, replay.out) == (0, done.out), replay.err


def test_a_fork_within_a_pool_leaves_it_at_once(shell):
    program = """
        import os, sys, time
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(2) as pool:
            pool.submit(time.sleep, 0.2)
            if (pid := os.fork()) == 0:
                pool.shutdown()
                os._exit(3)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert (done.status, done.out) == (0, "3\n"), done.err
    assert shell.replay().out == done.out


def test_a_job_that_leaves_its_own_pool_fails_as_it_does_by_itself(shell):
    program = """
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(2)
        print(repr(pool.submit(pool.shutdown).exception()))
    """
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert (done.status, done.out) == (0, shell.plain("agent.py").stdout), done.err


def test_a_pool_ends_behind_a_job_that_is_cancelled_as_its_turn_comes(shell):
    program = """
        import threading
        from concurrent.futures import ThreadPoolExecutor

        gate = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            first, second = pool.submit(gate.wait), pool.submit(print, "second")
            first.add_done_callback(lambda _: second.cancel())
            gate.set()
        print(second.cancelled())
    """
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert (done.status, done.out) == (0, "True\n"), done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err


def test_a_pool_that_refuses_a_job_ends_all_the_same(shell):
    program = """
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            pool.submit(print, "first")
            pool.shutdown()
            try:
                pool.submit(print, "second")
            except RuntimeError as error:
                print(error)
        print("over")
    """
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert (done.status, done.out.splitlines()[-1]) == (0, "over"), done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err
