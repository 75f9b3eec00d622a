"""Replay a fleet of recordings against today's code; report the departures and causes.

    results = verify(["a1b2", "recordings/old.reenact"], entry="shop.agent:answer")

Each replay runs in a process of its own, forked from one that has imported the program already; a crash, a hang or a
kill costs that one recording.
"""

from reenact.analysis.views.verification import Outcome, Status, verification
from reenact.verbs.verify.fleet import verify

__all__ = ["Outcome", "Status", "verification", "verify"]
