"""Pools of processes: the same worker takes a job again, and jobs end in the recorded order."""

from __future__ import annotations

import pytest

from tests.soak.scripts.running import record, replay

SCRIPT = """
import random, time
from concurrent.futures import ProcessPoolExecutor, as_completed

count = 0


def work(number):
    global count
    count += 1
    time.sleep(random.random() * 0.05)
    if number == 3:
        raise ValueError(f"{number} after {count}")
    return number, count, random.randrange(10**6)


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(work, number) for number in range(6)]
        for job in as_completed(jobs):
            print(job.exception() or job.result())
        print(list(pool.map(pow, range(4), range(4))))
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_jobs_end_in_the_recorded_order_with_the_state_of_their_recorded_workers(script, tmp_path):
    recorded = record(script, tmp_path / "home")
    assert recorded.status == 0, recorded.said
    assert "3 after" in recorded.output
    for _ in range(2):
        again = replay(script, tmp_path / "home")
        assert again.output == recorded.output, again.said
        assert again.status == 0, again.said


def test_a_script_with_another_job_ends_with_a_verdict(script, tmp_path):
    recorded = record(script, tmp_path / "home")
    script.write_text(SCRIPT.replace("range(6)", "range(7)"))
    again = replay(script, tmp_path / "home")
    assert again.status == 1, again.said
    assert again.output != recorded.output
