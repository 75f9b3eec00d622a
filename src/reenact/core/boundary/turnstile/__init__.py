"""The turnstile: the order in which outcomes reach the program.

Values alone do not make a replay: code whose next prompt depends on which tool came first needs the order too. So
every wake-up from outside (an outcome, a chunk, a timer, an executor's job) passes here one at a time, in recording
and replay alike. In an event loop the next one passes only when the loop is quiet, so that all consequences of one
have run before the next begins. Between threads the next one waits, briefly and within bounds, until the thread
that passed last has reached the boundary again, blocks, or ends.

Recording must not disturb: nothing waits longer than `GRACE` there, and a loop that is never quiet is not waited
for. A replay releases in the recorded order; it passes over a place as soon as no thread is left that could still
reach it.
"""

from reenact.core.boundary.turnstile.protocol import GRACE, LAST, PATIENCE, Turnstile
from reenact.core.boundary.turnstile.recording_turns import RecordingTurnstile

__all__ = [
    "GRACE",
    "LAST",
    "PATIENCE",
    "RecordingTurnstile",
    "Turnstile",
]
