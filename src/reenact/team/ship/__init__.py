"""Send recordings to a server while they are written.

A recording is always written to its folder first. A process marks it for sending by a small file in
`<home>/ship/queue`, which it locks while it records. A *shipper*, one detached process for a home and a server, reads
new lines of marked recordings and sends them; the server answers with the lengths that it has. So the end or a crash of
the agent, of the shipper or of the server loses nothing, and nothing is stored twice.
"""

from reenact.team.ship.destination import Destination
from reenact.team.ship.queue import Held, Queue, ShipMark, keep_here
from reenact.team.ship.starting import begin, ended, enlist, sending, wake

__all__ = [
    "Destination",
    "Held",
    "Queue",
    "ShipMark",
    "begin",
    "ended",
    "enlist",
    "keep_here",
    "sending",
    "wake",
]
