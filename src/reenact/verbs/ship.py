"""`ship`: send unsent recordings to the server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from typing import TYPE_CHECKING, Annotated, Any

from reenact.core.dataclass import dataclass
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team import ship as shipping
from reenact.verbs import interface
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, optional
from reenact.verbs.marks import RECORDING, Cli
from reenact.verbs.push import own

if TYPE_CHECKING:
    from reenact.team.ship.waiting import Waiting


class Options(interface.Options):
    """Send recordings to the server that REENACT_SERVER names.

    With REENACT_SERVER (and REENACT_API_KEY) set, a separate process sends each recording while it is made. While the
    server cannot be reached, recordings wait in a queue. This command sends the queue now and ends when the server has
    all of it, for example before a container ends. Exit status 1: some could not be sent.

    [bold]reenact ship[/bold]             the queue

    [bold]reenact ship 3k9 last[/bold]    these recordings, too
    """

    refs: Annotated[
        tuple[str, ...],
        Field(description="Recordings made without REENACT_SERVER; by default, the queue."),
        Cli(argument=True, metavar="[ID]..."),
        RECORDING,
    ] = ()
    all: Annotated[bool, Field(description="All recordings of this home.")] = False
    follow: Annotated[bool, Field(description="Continue while programs are being recorded.")] = False
    status: Annotated[bool, Field(description="Show the queue, with reasons. Sends nothing.")] = False


@dataclass(frozen=True)
class Result(interface.Result):
    """The sent recordings, and those that wait.

    Attributes:
        server: The address of the server; empty without one.
        trouble: The reason why the server did not answer; empty if it did.
        waiting: The recordings that are not all there, if that was asked.
        sent: The ids of the sent recordings.
        left: The ids of those that are not all there.
        stuck: The reasons why some cannot be sent, by id.
        dropped: The reasons why some are not to be sent any more, by id.
    """

    server: str
    trouble: str
    waiting: Sequence[Waiting] | None = None
    sent: Sequence[str] = ()
    left: Sequence[str] = ()
    stuck: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """1 if something was not sent."""
        return int(self.waiting is None and bool(self.left or self.trouble))

    def tree(self) -> dict[str, Any]:
        """Return the sent or the waiting recordings as JSON values."""
        found: dict[str, Any] = {"server": self.server, "trouble": self.trouble}
        if self.waiting is not None:
            return found | {"waiting": [asdict(one) for one in self.waiting]}
        return found | {"sent": self.sent, "waiting": self.left, "stuck": self.stuck, "dropped": self.dropped}


def run(options: Options, context: Context) -> Result:
    """Send the recordings, or find those that wait. Raises UsageError without a server."""
    store = LocalStore(context.home)
    to = shipping.Destination.of(os.environ)
    if options.status:
        waiting, trouble = optional("reenact.team.ship.waiting", "ship", "reenact ship").waiting(store, to)
        return Result(to.server if to else "", trouble, waiting)
    if to is None:
        raise UsageError("which server? Set REENACT_SERVER=http://127.0.0.1:8090, and REENACT_API_KEY")
    queue = shipping.Queue(store.root)
    known = {mark.id for mark in queue.marks() if mark.server == to.server}
    for ref in store.ids() if options.all else options.refs:
        if (id := own(store, ref)) not in known:
            queue.add(shipping.ShipMark(id, to.server, to.name)).release()
    return _sent(store, to, follow=options.follow)


def _sent(store: LocalStore, to: shipping.Destination, *, follow: bool) -> Result:
    away = optional("reenact.team.ship.sender", "ship", "reenact ship").Away
    # By hand, this key sends all recordings for the server, also those recorded with another one.
    shipper = optional("reenact.team.ship.shipper", "ship", "reenact ship").Shipper(
        store, to, chosen=lambda mark: mark.server == to.server
    )
    trouble = ""
    try:
        if follow:
            shipper.run()
        else:
            shipper.flush()
    except away as error:
        trouble = str(error)
    finally:
        shipper.close()
    left = {mark.id for mark in shipping.Queue(store.root).marks() if mark.server == to.server}
    return Result(
        to.server,
        trouble,
        sent=shipper.finished,
        left=sorted(left),
        stuck=shipper.stuck,
        dropped=shipper.dropped,
    )
