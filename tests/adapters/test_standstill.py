"""A replay that stands still, because an answered tool did not do its part, ends with a sentence that names the waits."""

import asyncio
import gc
import weakref

import pytest

import reenact

HEAD = """
import asyncio, os, queue, threading, time
from concurrent.futures import Future, ThreadPoolExecutor
import reenact

@reenact.tool
def look(number):
    return number
"""
THREADS = (
    HEAD
    + """
asked, future = threading.Event(), Future()
box, plain = queue.Queue(), queue.SimpleQueue()
gate, lock, flags = threading.Semaphore(0), threading.Lock(), []
condition, barrier = threading.Condition(), threading.Barrier(2)
lock.acquire()

def tell():
    with condition:
        flags.append(1)
        condition.notify()

def meet():
    barrier.wait()

@reenact.tool
def pay():
    os.getpid()
    ACT

worker = threading.Thread(target=pay, daemon=True)
worker.start()
with condition:
    WAIT
print(look(1))
worker.join()
"""
)
WAITS = {
    "an event": ("asked.set()", "asked.wait()", "in wait() "),
    "a queue": ("box.put(1)", "box.get()", "in get() "),
    "a simple queue": ("plain.put(1)", "plain.get()", "in get() "),
    "a semaphore": ("gate.release()", "gate.acquire()", "in acquire() "),
    "a future": ("future.set_result(1)", "future.result()", "in result() "),
    "a lock": ("lock.release()", "lock.acquire(True)", ""),
    "a condition": ("tell()", "condition.wait_for(lambda: flags)", "in wait_for() "),
    "a barrier": ("meet()", "barrier.wait(None)", "in wait() "),
}


def line_of(shell, text):
    return next(
        number
        for number, line in enumerate((shell.folder / "agent.py").read_text().splitlines(), 1)
        if line.strip() == text
    )


def replayed(shell, program):
    """Record and replay; return what the replay says, in one line."""
    shell.write("agent.py", program)
    shell.record("agent.py")
    done = shell.replay()
    assert done.status == 1
    return " ".join(done.err.split())


@pytest.mark.thorough
@pytest.mark.parametrize("kind", WAITS)
def test_a_wait_of_a_thread_is_named(shell, kind):
    act, wait, said = WAITS[kind]
    text = replayed(shell, THREADS.replace("ACT", act).replace("WAIT", wait))
    place = f"agent.py:{line_of(shell, wait)}"
    assert f"the program stands still: MainThread waits {said}at {place}; tool:pay did not run" in text


def test_the_hint_of_a_standstill_lets_the_program_go_on(shell):
    text = replayed(shell, THREADS.replace("ACT", "asked.set()").replace("WAIT", "asked.wait()"))
    assert "--live tool:pay runs it for real" in text
    done = shell.replay("--live", "tool:pay")
    assert done.out == "1\n"
    assert "partly from the recording" in done.err


LOOPS = (
    HEAD
    + """
async def main():
    box, asked, flags = asyncio.Queue(), asyncio.Event(), []

    @reenact.tool
    async def pay():
        os.getpid()
        asked.set()
        flags.append(1)
        await box.put(1)

    async def consume():
        return await box.get()

    async def poll():
        while not flags:
            await asyncio.sleep(0.01)

    paying = asyncio.create_task(pay())
    WAIT
    print(look(1))
    await paying

asyncio.run(main())
"""
)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "wait",
    [
        "await asked.wait()",
        "await asyncio.gather(consume(), asked.wait())",
        "await consume()",
        "await poll()",
    ],
)
def test_a_wait_of_a_task_is_named(shell, wait):
    text = replayed(shell, LOOPS.replace("WAIT", wait))
    assert "the program stands still: Task-1 waits " in text
    assert "tool:pay did not run" in text


@pytest.mark.thorough
def test_a_live_tool_that_sleeps_again_and_again_is_no_standstill(shell):
    program = (
        HEAD
        + """
@reenact.tool
async def poll():
    for _ in range(TIMES):
        await asyncio.sleep(0.0001)
    return 1

print(asyncio.run(poll()))
"""
    )
    shell.write("agent.py", program.replace("TIMES", "10"))
    shell.record("agent.py")
    shell.write("agent.py", program.replace("TIMES", "3500"))
    assert shell.replay("--live", "tool:poll").out == "1\n"


@pytest.mark.thorough
def test_a_thread_that_sleeps_again_and_again_is_named(shell):
    text = replayed(
        shell, THREADS.replace("ACT", "flags.append(1)").replace("WAIT", "while not flags: time.sleep(0.01)")
    )
    line = line_of(shell, "while not flags: time.sleep(0.01)")
    assert f"MainThread sleeps at agent.py:{line}, again and again; tool:pay did not run" in text


@pytest.mark.thorough
def test_threads_behind_their_time_limits_do_not_wait_for_each_other(shell):
    text = replayed(
        shell,
        HEAD
        + """
one, other = queue.Queue(), queue.Queue()

@reenact.tool
def pay():
    os.getpid()
    one.put(1)
    other.put(2)

threads = [threading.Thread(target=box.get, kwargs={"timeout": 3}) for box in (one, other)]
for thread in threads:
    thread.start()
pay()
for thread in threads:
    thread.join()
look(1)
""",
    )
    assert "the program stands still" in text or "no other thread can go on" in text


@pytest.mark.thorough
def test_a_job_of_a_pool_that_waits_in_vain_lets_the_program_end(shell):
    text = replayed(
        shell,
        HEAD
        + """
asked = threading.Event()

@reenact.tool
def pay():
    os.getpid()
    asked.set()

with ThreadPoolExecutor(3) as pool:
    waiting = pool.submit(asked.wait)
    pool.submit(pay)
    print(waiting.result())
print(look(1))
""",
    )
    assert "the program stands still: MainThread waits in result() at agent.py:" in text


WORKS = {
    "a thread that works": "number = sum(1 for _ in range(100_000_000))",
    "a thread in native code": "import ctypes; ctypes.CDLL(None).sleep(14)",
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", WORKS)
def test_a_wait_for_a_thread_that_works_is_no_standstill(shell, kind):
    shell.write(
        "agent.py",
        HEAD
        + f"""
done = threading.Event()

def work():
    {WORKS[kind]}
    done.set()

threading.Thread(target=work).start()
done.wait()
print(look(1))
""",
    )
    shell.record("agent.py")
    assert shell.replay().status == 0


@pytest.mark.thorough
def test_a_wait_for_a_process_that_works_is_no_standstill(shell):
    shell.write(
        "agent.py",
        HEAD
        + """
from concurrent.futures import ProcessPoolExecutor

def work(most):
    return sum(1 for _ in range(most))

if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        print(pool.submit(work, 150_000_000).result())
    print(look(1))
""",
    )
    shell.record("agent.py")
    assert shell.replay().status == 0


# -- memory ------------------------------------------------------------------------------------------------


async def agent():
    await asyncio.sleep(0)
    return act()


@reenact.tool
def act():
    return 1


# What the libraries of earlier tests left behind is collected here too.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_loop_that_stays_open_keeps_no_replay_alive():
    loop = asyncio.new_event_loop()
    with reenact.record("agent") as recording:
        loop.run_until_complete(agent())
    with reenact.replay(recording.id) as replay:
        loop.run_until_complete(agent())
    gone = weakref.ref(replay._run)
    del replay
    gc.collect()
    assert gone() is None
    loop.close()
