"""Many agents at once, and what sends their recordings, with a watch in its hand:

    python -m tests.soak.crowd agents <how many> <seconds>      records, each agent a recording of its own
    python -m tests.soak.crowd shipper <home> <file>            the shipper; each answer's milliseconds into a file

An agent is a thread that records with `reenact.record` and asks a tool ten times a second: two events each, the call
and its answer. (Two hundred Pythons would measure this machine's memory.) The shipper is `python -m reenact.team.ship`,
run here so that its requests can be timed; the recorders find its lock held, and start none.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from time import perf_counter

import reenact
from reenact.team.ship import shipper
from reenact.team.ship.__main__ import main as ship
from reenact.team.ship.sender import Sender

EVERY = 0.1
TEXT = "The order was shipped on Monday and will be there by Thursday; its number is {}, its weight {} g. "


@reenact.tool
def look_up(order):
    return {"order": order, "text": TEXT.format(order, random.randrange(1000)) * 4}


def agent(number, until, began):
    with reenact.record(f"agent {number}"):
        turn = 0
        while time.monotonic() < until:
            look_up(f"{number}-{turn}")
            turn += 1
            # Waited for outside of the recording, by an event that is never set: it is no sleep of the agent's.
            began.wait(EVERY * random.uniform(0.9, 1.1))


def agents(count, seconds):
    until = time.monotonic() + seconds
    never = threading.Event()
    threads = [threading.Thread(target=agent, args=(number, until, never)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def timed(home, file):
    send = Sender.send

    def sent(self, pieces, live=()):
        began = perf_counter()
        answers = send(self, pieces, live)
        with open(file, "a", encoding="utf-8") as told:
            told.write(f"{1000 * (perf_counter() - began):.2f} {len(pieces)}\n")
        return answers

    Sender.send = sent
    shipper._LINGER = 10**6
    ship(home)


if __name__ == "__main__":
    if sys.argv[1] == "agents":
        agents(int(sys.argv[2]), float(sys.argv[3]))
    else:
        timed(sys.argv[2], sys.argv[3])
