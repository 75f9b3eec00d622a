"""A program of which one `record()` block is run again."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

from reenact import adapters, api, family
from reenact.adapters.stdlib import seal
from reenact.bootstrap.process import Process, Watch, options, tell
from reenact.boundary import current
from reenact.errors import Halt
from reenact.model.divergence import Departure, Divergence, Verdict, merged
from reenact.model.recording import Recording
from reenact.plan import Plan
from reenact.store.local import load


class Block(Process):
    """A program of which one `record()` block is replayed; what is around it runs, but reaches no network."""

    def __init__(self, plan: Plan) -> None:
        self.recording = load(Path(plan.folder))
        super().__init__(plan)
        self.session: Any = None
        self._outside: list[Divergence] = []
        family.report(plan)
        adapters.install()
        api.substitute(self._claimed)
        sys.addaudithook(self._hear)

    def _claimed(self, name: str, ordinal: int) -> Any:
        header = self.recording.header
        if self.session is not None or (name, ordinal) != (
            self.recording.name,
            int(header.get("ordinal") or 0),
        ):
            return None
        self.session = self.claim()
        return self.session

    def claim(self) -> api.Replay | api.Fork:
        """What takes the place of the block."""
        return Claimed(self.recording, self.plan)

    @property
    def free(self) -> bool:
        """Whether the program may reach the world by now."""
        return False

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if (
            event not in ("socket.connect", "socket.getaddrinfo")
            or current() is not None
            or self._outside
            or self.free
        ):
            return
        thread = threading.current_thread()
        if getattr(thread, "_reenact_own", False) or "socket" in self.plan.options.get("live", ()):
            return
        place = seal._place(arguments[1] if event == "socket.connect" else arguments[0])
        detail = f"the program reached for {place} outside of the recorded block"
        hint = "let it through: live=['socket']"
        found = Divergence(Departure.EXTRA, f"outside/socket:{place}", None, (), detail, hint)
        self._outside.append(found)
        Watch(None).halted()
        raise Halt(found)

    def end(self, code: int | None) -> None:
        status, _ = self.status(code)
        if self.session is not None:
            verdicts = [self.session.verdict]
        else:
            detail = f"the program ended without coming to its block record({self.recording.name!r})"
            found = () if self._outside else (Divergence(Departure.MISSING, "main", None, (), detail),)
            verdicts = [Verdict(self.recording.id, divergences=found)]
        verdicts.append(Verdict(self.recording.id, divergences=tuple(self._outside)))
        tell(self.plan, merged(verdicts), exit=status)


class Claimed(api.Replay):
    """The replay in the place of a block."""

    def __init__(self, recording: Recording, plan: Plan) -> None:
        super().__init__(recording, options(plan), plan.options.get("pace", "fast"))

    def _begin(self) -> Any:
        run = super()._begin()
        Watch(self.replayer).install()
        return run
