"""The boundary: the one place that every effect crosses.

Adapters call `perform`, `aperform`, `stream`, `astream`, or `begin` where a library's calls have a life of their own
(an HTTP response that streams). Handlers (recording, replaying) stand behind it. Neither knows the other.
"""

from reenact.core.boundary.answer import Answer, Sidecar, Ticket, Wire
from reenact.core.boundary.arrival import arrive, live_now
from reenact.core.boundary.call import Call
from reenact.core.boundary.current import current, entered, span
from reenact.core.boundary.inside import ToolInside
from reenact.core.boundary.lock_order import NO_ORDER, LockOrder, RecordedTake
from reenact.core.boundary.perform import aperform, astream, begin, draw, perform, stream
from reenact.core.boundary.reporting import areporting, reporting
from reenact.core.boundary.scope import Family, Handler, Run, Scope
from reenact.core.boundary.turnstile import (
    RecordingTurnstile,
    Turnstile,
)

__all__ = [
    "NO_ORDER",
    "Answer",
    "Call",
    "Family",
    "Handler",
    "LockOrder",
    "RecordedTake",
    "RecordingTurnstile",
    "Run",
    "Scope",
    "Sidecar",
    "Ticket",
    "ToolInside",
    "Turnstile",
    "Wire",
    "aperform",
    "areporting",
    "arrive",
    "astream",
    "begin",
    "current",
    "draw",
    "entered",
    "live_now",
    "perform",
    "reporting",
    "span",
    "stream",
]
