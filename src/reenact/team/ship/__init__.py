"""Recordings on their way to a server, as they are written.

The recording is written to its folder as always, and that is the truth. What is to be sent is *marked*: a small file in
`<home>/ship/queue`, held by the process that records. A *shipper*, one detached process for a home and a server, reads
what is new in marked recordings and sends it; what the server has, the server says. So neither the end nor the death of
the agent, of the shipper or of the server loses anything, and nothing is there twice.
"""

from reenact.team.ship.destination import Destination
from reenact.team.ship.queue import Held, Mark, Queue, keep_here
from reenact.team.ship.starting import begin, ended, enlist, sending, wake

__all__ = ["Destination", "Held", "Mark", "Queue", "begin", "ended", "enlist", "keep_here", "sending", "wake"]
