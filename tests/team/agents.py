"""Agents that record, with pictures in between, for as long as a file is not there:

    python -m tests.team.agents <how many> <the file>

Each is a thread with a recording of its own, sent as it is made (`REENACT_SERVER`). What sends is a process of its own.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import reenact

PICTURE = 90_000


@reenact.tool
def look(order):
    return {"order": order, "text": f"The order {order} was shipped on Monday. " * 5}


@reenact.tool
def picture(order):
    return os.urandom(PICTURE)


def agent(number, ended):
    with reenact.record(f"agent {number}"):
        turn = 0
        while not ended.is_set():
            look(f"{number}-{turn}")
            if turn % 10 == 0:
                picture(f"{number}-{turn}")
            turn += 1
            # Waited for outside of the recording, by an event: it is no sleep of the agent's.
            ended.wait(0.02)


def main(count, file):
    ended = threading.Event()
    threads = [threading.Thread(target=agent, args=(number, ended)) for number in range(count)]
    for thread in threads:
        thread.start()
    never = threading.Event()
    while not Path(file).exists():
        never.wait(0.05)
    ended.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
