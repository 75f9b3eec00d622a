"""The state of a replay: on its recording, stopped at a divergence, or gone live."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

from reenact.core.boundary.turnstile.forking_turns import ForkingTurnstile
from reenact.core.boundary.turnstile.replaying_turns import ReplayingTurnstile
from reenact.core.model.divergence import forking_hint
from reenact.core.model.log import Log
from reenact.core.replay.departures import FORK_HINT, HINT
from reenact.core.replay.question import Question
from reenact.core.replay.watch import Watch
from reenact.errors import Divergence, Halt, UsageError

Policy = Literal["raise", "realign", "live"]
Inserted = Literal["refuse", "live"]


class ReplayState:
    """Takes the divergences of a replay, and stops it or goes on, by its policy.

    Args:
        log: The recorded process.
        turnstile: Releases all waiters where the replay stops or goes live.
        policy: The effect of a departure; see `Replayer`.
        inserted: The treatment of calls without a counterpart.

    Attributes:
        divergences: The divergences so far.
        poison: The divergence that stopped the replay, if one did.
        gone_live: True if effects are answered live.
        ran: The first step of a tool that ran for real, or None.
        watch: The debugger or fork that watches the replay, if any.
        on_halt: Called once, when the replay is stopped by a divergence.
    """

    def __init__(
        self, log: Log, turnstile: ReplayingTurnstile, policy: Policy, inserted: Inserted = "refuse"
    ) -> None:
        for name, value, known in (
            ("on_divergence", policy, get_args(Policy)),
            ("inserted", inserted, get_args(Inserted)),
        ):
            if value not in known:
                raise UsageError(f"{name}={value!r} is not one of {', '.join(map(repr, known))}")
        self.policy: Policy = policy
        self.inserted: Inserted = inserted
        self.divergences: list[Divergence] = []
        self.poison: Halt | None = None
        self.gone_live = False
        self.ran: int | None = None
        self.watch: Watch | None = None
        self.on_halt: Callable[[], None] = lambda: None
        self.lock = threading.RLock()
        self._turnstile = turnstile
        self._forked = isinstance(turnstile, ForkingTurnstile)
        self._uncertain = (log.sealed or {}).get("uncertain")

    @property
    def on_recording(self) -> bool:
        """True if the recording answers."""
        return not self.gone_live and self.poison is None

    @property
    def strict(self) -> bool:
        """True if questions that the recording does not have are refused."""
        return self.policy == "raise" or (self.policy == "realign" and self.inserted == "refuse")

    def depart(self, divergence: Divergence, question: Question | None = None) -> None:
        """Report a departure: stop there, or go on by the policy. It is always named."""
        if divergence.hint == HINT and (self._forked or self.ran is not None):
            divergence = replace(divergence, hint=FORK_HINT if self.ran is None else forking_hint(self.ran))
        if self._uncertain:
            doubt = f"the recorded order is uncertain in {self._uncertain} places, where threads raced"
            detail = f"{divergence.detail}; {doubt}" if divergence.detail else doubt
            divergence = replace(divergence, detail=detail)
        if self.policy == "raise":
            raise self.halt(divergence, question)
        self.divergences.append(divergence)
        self._show(divergence, question)
        if self.policy == "live":
            self.go_live()

    def lenient(self) -> None:
        """Treat a later departure as no error: answer live after it."""
        self.policy = "live"

    def go_live(self) -> None:
        """Answer live from here on."""
        self.gone_live = True
        self._turnstile.open()

    def halt(self, divergence: Divergence, question: Question | None = None) -> Halt:
        """Stop the replay at a divergence; return the exception that stops the program."""
        with self.lock:
            if self.poison is None:
                self.divergences.append(divergence)
                self.poison = Halt(divergence)
                self._show(divergence, question)
                self.on_halt()
        self._turnstile.open()
        return self.poison

    def _show(self, divergence: Divergence, question: Question | None) -> None:
        if self.watch is not None:
            with self._turnstile.paused():
                self.watch.departed(divergence, question)
