"""The driver of Ray: it hands batches of recordings to the actors of the cluster.

Started as `python -m reenact.verbs.verify.dispatch FD`; speaks lines of JSON on that descriptor with the command that
began the fleet. It is a process of its own because a driver of Ray does not end well: if the head of the cluster is
lost, it hangs for minutes, or Ray ends it in the middle of a line.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any

import orjson

import reenact
from reenact.core.dataclass import dataclass
from reenact.core.extras import needing
from reenact.core.store.local import LocalStore
from reenact.errors import ProgramError, ReenactError, UsageError
from reenact.team.location import TeamPlace
from reenact.team.open import team_store
from reenact.verbs.verify.actor import UNREAD, Parcel, line_of, packed, remote
from reenact.verbs.verify.crew import CrewOptions, Report

BATCH = 8
"""The maximum size of a batch: a message costs more than a short replay."""
SPAN = 1.0
"""Seconds of replays in a batch: the outcomes are reported after each batch."""
AHEAD = 2
"""Batches that an actor has before it, so that it never waits."""
TRIES = 4
"""The maximum number of tries of a recording, if its actors are lost."""
TICK = 1.0
"""Seconds between signs of life."""
LOOK = 5.0
"""Seconds between looks at the head."""
LEAVE = 5.0
"""Seconds for the actors to delete their files on the nodes."""
GONE = 3
"""The number of failed looks after which the head counts as lost."""
EXCLUDED = [".git", ".reenact", ".venv*", "node_modules", "__pycache__", "*.reenact"]

Tell = Callable[[dict[str, Any]], None]


@dataclass(slots=True)
class WantedReplay:
    """One recording to replay: its place, its path or its id in the team's store, its tries."""

    place: int
    what: str
    tries: int = 0
    sent: bool = True
    """True if it is sent with the task; otherwise the node reads it."""


@dataclass(slots=True)
class Hand:
    """An actor, and its batches in their order."""

    actor: Any
    batches: deque[tuple[Any, list[WantedReplay]]] = field(default_factory=deque)
    since: float = 0.0
    """The start time of the first one."""


class Dispatch:
    """Hands batches to actors, and the batches of lost actors to others.

    Args:
        ray: Ray, connected.
        asked: The command's message: see `verify.cluster`.
        tell: Sends a message to the command.
    """

    def __init__(self, ray: Any, asked: dict[str, Any], tell: Tell) -> None:
        self._ray, self._tell = ray, tell
        self._job = CrewOptions(**asked["job"])
        self._workers = int(asked["workers"])
        self._placed, self._slack = float(asked["placed"]), float(asked["slack"])
        self._team = (
            TeamPlace(**{**asked["team"], "cache": Path(asked["team"]["cache"])}) if asked["team"] else None
        )
        self._store: LocalStore | None = None
        self._remote = remote(ray)
        self._hands: list[Hand] = []
        self._coming: dict[Any, Any] = {}
        """The actors that are not ready yet, by the references to their `ready`."""
        self._waiting = deque(
            WantedReplay(place, what, sent=self._team is None) for place, what in asked["tasks"]
        )
        self._refused = 0
        self._said = ""
        self._pace = 0.0
        """Seconds that a replay takes, about; 0 where that is not known yet."""
        self._idle_since = monotonic()
        self._head = Head(ray, str(asked["address"]))

    def run(self) -> None:
        """Replay them all. Raises ProgramError or UsageError."""
        self._grow()
        while self._waiting or any(hand.batches for hand in self._hands):
            self._hand_out()
            self._receive()
            self._overdue()
            if self._head.looked():
                self._grow()
            self._tell({"alive": True})
        ends = [hand.actor.close.remote() for hand in self._hands]
        if ends:
            self._ray.wait(ends, num_returns=len(ends), timeout=LEAVE)

    # -- actors ----------------------------------------------------------------------------------------------

    def _grow(self) -> None:
        """Start actors until there is one for each core of the cluster, or the wanted number."""
        left = len(self._waiting) + sum(len(batch) for hand in self._hands for _, batch in hand.batches)
        cores = self._workers or int(self._ray.cluster_resources().get("CPU", 1))
        have = len(self._hands) + len(self._coming)
        for _ in range(max(1, min(cores, left)) - have):
            self._start_actor()
        self._say()

    def _start_actor(self) -> None:
        actor = self._remote.remote(self._job)
        self._coming[actor.ready.remote()] = actor

    def _say(self) -> None:
        more = f", {len(self._coming)} to come" if self._coming else ""
        said = f"{len(self._hands)} at work{more}"
        if said != self._said:
            self._said = said
            self._tell({"said": said})

    def _receive(self) -> None:
        """Process messages. Raises UsageError if no actor works and no node takes one."""
        waiting = [*self._coming, *(reference for hand in self._hands for reference, _ in hand.batches)]
        ready, _ = self._ray.wait(waiting, num_returns=1, timeout=TICK) if waiting else ([], [])
        for reference in ready:
            if reference in self._coming:
                self._add_ready(reference)
            else:
                self._take(
                    next(hand for hand in self._hands if reference in (one for one, _ in hand.batches))
                )
        if self._hands:
            self._idle_since = monotonic()
        elif monotonic() - self._idle_since > self._placed:
            raise UsageError(
                f"no node of the cluster had room for a replay within {self._placed:g} seconds; "
                "each takes one CPU (`ray status` shows what is free)"
            )

    def _add_ready(self, reference: Any) -> None:
        """Add an actor that is ready. Raises ProgramError or UsageError if it cannot work."""
        actor = self._coming.pop(reference)
        try:
            said = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._refused += 1
            why = line_of(error)
            if "No module named 'reenact" in why or self._refused >= TRIES:
                raise UsageError(f"no node of the cluster can run this: {why}{_hint(why)}") from None
            self._start_actor()
            return
        if said.get("failed"):
            raise ProgramError(f"on {said['node']}: {said['failed']}{_hint(said['failed'])}")
        if said["version"] != reenact.__version__:
            raise UsageError(
                f"on {said['node']} there is Reenact {said['version']}, and here {reenact.__version__}: "
                "results may differ; install the same version"
            )
        self._refused = 0
        self._hands.append(Hand(actor))
        self._say()

    # -- batches ---------------------------------------------------------------------------------------------

    def _hand_out(self) -> None:
        for hand in self._hands:
            while self._waiting and len(hand.batches) < AHEAD:
                if parcels := self._parcels(batch := self._batch()):
                    if not hand.batches:
                        hand.since = monotonic()
                    hand.batches.append((hand.actor.run.remote(parcels), batch))

    def _batch(self) -> list[WantedReplay]:
        """Return the next batch: smaller for slow replays, few left, or a suspect recording."""
        fair = len(self._waiting) // (AHEAD * (len(self._hands) + len(self._coming)))
        slow = int(SPAN / self._pace) if self._pace else 1
        size = max(1, min(BATCH, fair, slow))
        found = [self._waiting.popleft()]
        while self._waiting and len(found) < size and not found[0].tries and not self._waiting[0].tries:
            found.append(self._waiting.popleft())
        return found

    def _parcels(self, batch: list[WantedReplay]) -> list[Parcel]:
        found: list[Parcel] = []
        for one in [*batch]:
            try:
                found.append((one.place, packed(self._here(one.what)) if one.sent else one.what))
            except (ReenactError, OSError) as error:
                batch.remove(one)
                self._report(one, {"failed": str(error)})
        return found

    def _here(self, what: str) -> Path:
        if self._team is None:
            return Path(what)
        if self._store is None:
            self._store = team_store(self._team)
        return self._store.find(what)

    def _take(self, hand: Hand) -> None:
        """Take the results of an actor's finished batches, in order."""
        while hand.batches and self._ray.wait([hand.batches[0][0]], timeout=0)[0]:
            reference, batch = hand.batches[0]
            try:
                found = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                self._lose(hand, line_of(error))
                return
            hand.batches.popleft()
            hand.since = monotonic()
            known = {one.place: one for one in batch}
            for place, report in found:
                self._report(known[place], report)

    def _report(self, one: WantedReplay, report: Report) -> None:
        if UNREAD in report and not one.sent:
            self._tell(
                {
                    "said": f"the recordings are sent along: the nodes do not read the team's store ({report[UNREAD]})"
                }
            )
            one.sent = True
            for other in self._waiting:
                other.sent = True
            self._waiting.append(one)
            return
        if seconds := float(report.get("seconds") or 0):
            self._pace = 0.8 * self._pace + 0.2 * seconds if self._pace else seconds
        self._tell({"place": one.place, "report": report})

    def _overdue(self) -> None:
        for hand in [*self._hands]:
            if hand.batches:
                allowed = self._job.timeout * len(hand.batches[0][1]) + self._slack
                if monotonic() - hand.since > allowed:
                    self._lose(hand, f"no answer within {allowed:g} seconds")

    def _lose(self, hand: Hand, why: str) -> None:
        """Replace a lost actor; the new one gets its recordings one by one.

        A recording in progress may be the cause, and is tried a few times only; those that waited are not to blame.
        """
        self._hands.remove(hand)
        with suppress(Exception):
            self._ray.kill(hand.actor)
        self._start_actor()
        begun = hand.batches.popleft()[1]
        rest = [one for _, batch in hand.batches for one in batch]
        for one in begun:
            one.tries += 1
            if one.tries < TRIES:
                self._waiting.append(one)
            else:
                self._report(one, {"failed": f"{TRIES} workers died on it: {why}"})
        self._waiting.extendleft(reversed(rest))
        self._say()


class Head:
    """Checks the cluster's head now and then: Ray waits for a lost one for minutes, silently."""

    def __init__(self, ray: Any, address: str) -> None:
        known = address.removeprefix("ray://") if address.startswith("ray://") else ""
        self.address = known or str(ray.get_runtime_context().gcs_address)
        self._missed = 0
        self._next = monotonic() + LOOK

    def looked(self) -> bool:
        """Return True if a look was due, and it answered. Raises UsageError if it is lost."""
        if monotonic() < self._next:
            return False
        self._missed = 0 if answers(self.address) else self._missed + 1
        if self._missed >= GONE:
            raise UsageError(f"the head of the Ray cluster {self.address} is lost")
        self._next = monotonic() + (LOOK if not self._missed else TICK)
        return not self._missed


def answers(address: str, within: float = 3.0) -> bool:
    """Return True if a server listens at `host:port`."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=within).close()
    except (OSError, ValueError):
        return False
    return True


def connected(asked: dict[str, Any]) -> Any:
    """Return the module `ray`, connected to the wanted cluster. Raises UsageError."""
    address = str(asked["address"])
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if not address:
        # Ray would start spare workers, on a machine that is busy with its own start.
        os.environ.setdefault("RAY_enable_worker_prestart", "0")
        os.environ.setdefault("RAY_prestart_worker_first_driver", "0")
    with needing("ray", "reenact verify --engine ray"):
        ray: Any = import_module("ray")
    try:
        ray.init(
            address=address or "local",
            runtime_env={"working_dir": asked["folder"], "excludes": [*EXCLUDED, *asked["excludes"]]},
            log_to_driver=False,
            logging_level="error",
            **({} if address else {"include_dashboard": False}),
        )
    except Exception as error:
        why = line_of(error)
        if "exceeds the maximum size" in str(error):
            raise UsageError(
                f"{asked['folder']} is more than Ray ships to its nodes: {why}; leave out what the program does not "
                "need by --exclude data/, .gitignore or .rayignore"
            ) from None
        asks = address not in {"", "auto"} and "RAY_AUTH_MODE" not in os.environ
        token = "; if it asks for a token: RAY_AUTH_MODE=token and RAY_AUTH_TOKEN=…" if asks else ""
        where = address or "of this machine"
        raise UsageError(f"the Ray cluster {where} cannot be reached: {why}{token}") from None
    return ray


def _hint(why: str) -> str:
    if "ModuleNotFoundError" not in why:
        return ""
    return "; packages must be installed on the nodes, and of this folder Ray ships what .gitignore does not name"


def main() -> None:
    """Connect to the cluster, and hand out the replays of the command's message."""
    line = socket.socket(fileno=int(sys.argv[1]))
    # Ray would write a traceback on SIGTERM.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1))

    def tell(said: dict[str, Any]) -> None:
        try:
            line.sendall(orjson.dumps(said, default=repr) + b"\n")
        except OSError:
            # The command has ended.
            os._exit(1)

    asked = orjson.loads(line.makefile("rb").readline())
    try:
        ray = connected(asked)
        tell({"connected": True})
        Dispatch(ray, asked, tell).run()
        tell({"over": True})
        ray.shutdown()
    except ReenactError as error:
        tell({"program" if isinstance(error, ProgramError) else "usage": str(error)})
        if asked["address"]:
            # Ray takes minutes to disconnect from a lost head.
            os._exit(1)


if __name__ == "__main__":
    main()
