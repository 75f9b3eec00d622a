"""Objects of a `multiprocessing.Manager`: used in the recorded order, and other uses are found."""

from __future__ import annotations

import multiprocessing

import pytest

from tests.adapters.changed_script import ChangedScript
from tests.soak.scripts.running import record, replay

ALL_KINDS = """
import multiprocessing as mp, queue, random, time

def work(name, board, rows, lock, box, ready, space, value, free):
    ready.wait()
    for turn in range(3):
        time.sleep(random.random() * 0.005)
        with lock:
            board[name] = board.get(name, 0) + random.randrange(10)
            rows.append((name, turn, len(rows)))
            value.value += 1
        space.last = name
        if free.acquire(False):
            free.release()
            box.put((name, turn, len(rows), space.last, random.random()))
        else:
            box.put((name, "busy", len(rows)))

if __name__ == "__main__":
    c = mp.get_context("METHOD")
    with c.Manager() as made:
        board, rows, lock, box = made.dict(), made.list(), made.Lock(), made.Queue(2)
        ready, space, value, free = made.Event(), made.Namespace(), made.Value("i", 0), made.Semaphore(1)
        given = (board, rows, lock, box, ready, space, value, free)
        workers = [c.Process(target=work, args=(name, *given)) for name in "xyz"]
        for worker in workers: worker.start()
        ready.set()
        got, late = [], 0
        while len(got) < 9:
            try: got.append(box.get(timeout=0.002))
            except queue.Empty: late += 1
        for worker in workers: worker.join()
        print(dict(board), list(rows), value.value, space.last, str(rows)[:30], rows._getvalue()[0], late)
        for line in got: print(line)
"""

THREADS = """
import multiprocessing as mp, threading, random, time

def work(name, rows, box):
    for turn in range(3):
        time.sleep(random.random() * 0.005)
        rows.append(name)
        box.put((name, len(rows)))
        box.task_done()

if __name__ == "__main__":
    with mp.Manager() as made:
        rows, box = made.list(), made.JoinableQueue()
        threads = [threading.Thread(target=work, args=(name, rows, box)) for name in "xyz"]
        for thread in threads: thread.start()
        got = [box.get() for _ in range(9)]
        for thread in threads: thread.join()
        box.join()
        print(got, list(rows))
"""


@pytest.mark.parametrize("program", [
    ALL_KINDS.replace("METHOD", "fork"), pytest.param(ALL_KINDS.replace("METHOD", "spawn"), marks=pytest.mark.thorough), THREADS,
], ids=["fork", "spawn", "threads"])  # fmt: skip
def test_shared_objects_are_used_in_the_recorded_order(program, tmp_path):
    script, home = tmp_path / "script.py", tmp_path / "home"
    script.write_text(program)
    recorded = record(script, home)
    assert recorded.status == 0, recorded.said
    assert "not recorded" not in recorded.said
    again = replay(script, home)
    assert (again.status, again.output) == (0, recorded.output), again.said


CHANGED = """
import multiprocessing as mp

def work(name, rows, board, box):
    for turn in range(2):
        rows.append(name)
        board[name] = turn
    box.put(name)

if __name__ == "__main__":
    with mp.Manager() as made:
        rows, board, box = made.list(), made.dict(), made.Queue()
        workers = [mp.Process(target=work, args=(name, rows, board, box)) for name in "xy"]
        for worker in workers: worker.start()
        for worker in workers: worker.join()
        print(len(rows))
"""


@pytest.fixture(scope="module")
def recorded_once(tmp_path_factory):
    """The script, and the home with its recording, which replays leave as it is."""
    return ChangedScript(tmp_path_factory.mktemp("changed"), CHANGED)


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("= turn", "= turn + 1", "__setitem__ of an object of a manager was given something else"),
        (
            "rows.append(name)",
            "rows.append(name + name)",
            "append of an object of a manager was given something",
        ),
        ("    box.put(name)", "    pass", "1 uses of objects of a manager were made when it was recorded"),
        ("rows.append(name)", "rows.insert(0, name)", "append, not insert, of an object of a manager"),
    ],
)
def test_a_changed_use_is_found_though_the_output_is_equal(before, after, said, recorded_once):
    again = recorded_once.replay(before, after)
    assert again.status == 1, again.said
    assert said in " ".join(again.said.split())


def test_a_use_that_waits_for_a_process_that_has_ended_does_not_wait_for_ever(tmp_path):
    script = tmp_path / "script.py"
    text = CHANGED.replace("for worker in workers: worker.join()", "box.get(); box.get()")
    script.write_text(text)
    assert record(script, tmp_path / "home").status == 0
    script.write_text(
        text.replace("    for turn in range(2)", "    import os; os._exit(1)\n    for turn in range(2)")
    )
    again = replay(script, tmp_path / "home")
    assert again.status == 1, again.said


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("kind", ["Condition()", "Barrier(2)"])
def test_kinds_without_a_recorded_order_are_named(kind, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing as mp\n"
        f"if __name__ == '__main__':\n    made = mp.Manager()\n    made.{kind}\n    print('done')\n    made.shutdown()\n"
    )
    recorded = record(script, tmp_path / "home")
    name = kind.partition("(")[0]
    named = f"processes share {name} objects of multiprocessing.SyncManager"
    assert f"{named}: which one comes first is not recorded" in recorded.said
    again = replay(script, tmp_path / "home")
    assert again.status == 0, again.said
    assert f"not compared: an order that is not recorded ({named}" in " ".join(again.said.split())


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_objects_of_a_manager_work_without_a_recording(method):
    with multiprocessing.get_context(method).Manager() as made:
        rows, lock = made.list([1]), made.Lock()
        with lock:
            rows.append(2)
        assert list(rows) == [1, 2]
        assert not lock.acquire(True, 0) or lock.release() is None
