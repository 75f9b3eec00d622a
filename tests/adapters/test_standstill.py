"""A replay whose threads wait for each other in vain ends with a sentence that names the wait."""

import pytest

HEAD = """
    import os, queue, threading
    from concurrent.futures import Future
    import reenact

    @reenact.tool
    def look(number):
        return number

    asked = threading.Event()
    box = queue.Queue()
    gate = threading.Semaphore(0)
    future = Future()

    @reenact.tool
    def pay():
        os.getpid()
        ACT

    worker = threading.Thread(target=pay)
    worker.start()
    WAIT
    print(look(1))
    worker.join()
"""
WAITS = {
    "an event": ("asked.set()", "asked.wait()", "wait()"),
    "a queue": ("box.put(1)", "box.get()", "get()"),
    "a semaphore": ("gate.release()", "gate.acquire()", "acquire()"),
    "a future": ("future.set_result(1)", "future.result()", "result()"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("kind", WAITS)
def test_a_wait_for_what_an_answered_tool_had_done_is_named(shell, kind):
    act, wait, said = WAITS[kind]
    shell.write("agent.py", HEAD.replace("ACT", act).replace("WAIT", wait))
    shell.record("agent.py")
    done = shell.replay()
    assert done.status == 1
    text = " ".join(done.err.split())
    line = (shell.folder / "agent.py").read_text().splitlines().index(wait) + 1
    assert (
        f"the program stands still: MainThread waits in {said} at agent.py:{line}; tool:pay did not run"
        in text
    )


def test_a_worker_that_waits_in_vain_lets_the_program_end(shell):
    shell.write(
        "agent.py",
        HEAD.replace("ACT", "asked.set()").replace(
            "WAIT", "other = threading.Thread(target=asked.wait); other.start(); other.join()"
        ),
    )
    shell.record("agent.py")
    done = shell.replay()
    assert done.status == 1
    assert "the program stands still: Thread-2 (wait) waits in wait()" in " ".join(done.err.split())


def test_a_wait_for_a_thread_that_works_is_no_standstill(shell):
    shell.write(
        "agent.py",
        """
        import threading
        import reenact

        done = threading.Event()

        @reenact.tool
        def look(number):
            return number

        def work():
            number = 0
            while number < 40_000_000:
                number += 1
            done.set()

        threading.Thread(target=work).start()
        done.wait()
        print(look(1))
        """,
    )
    shell.record("agent.py")
    assert shell.replay().status == 0
