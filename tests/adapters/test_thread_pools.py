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
