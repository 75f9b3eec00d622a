"""Serve the recorded answers of one MCP server: each to the call with the same content.

The content of a call selects the answer, the order selects among equal calls. A call is out of turn if an unanswered
call was answered before it was recorded, which is a divergence. Concurrent calls may come in any order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from reenact.adapters.mcp.server_request import GREETINGS, KIND, MESSAGES, effect_of, server_name
from reenact.core.model import codec
from reenact.core.model.divergence import Verdict
from reenact.core.model.event import Tree
from reenact.core.model.header import salt_of
from reenact.core.query.recorded_run import RecordedRun, Step
from reenact.core.redact import Redactor
from reenact.core.replay import match
from reenact.core.store.local import argument_of
from reenact.errors import Departure, Divergence, UsageError
from reenact.run.processes import rules_of

_FREE = {
    *GREETINGS, MESSAGES, "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
    "subscriptions/listen", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
    "sampling/createMessage", "elicitation/create", "roots/list",
}  # fmt: skip
"""Methods that are not matched strictly: discovery, lists, and the server's own requests."""

_CALLS = ("tools/call", "resources/read", "prompts/get", "completion/complete")

_ASKED_BACK = ("sampling/createMessage", "elicitation/create", "roots/list")


class UnrecordedCall(Exception):
    """A call that was not recorded, or came out of turn; the message names the departure."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(str(divergence))
        self.divergence = divergence


def servers(recording: RecordedRun) -> list[str]:
    """Return the names of the recorded MCP servers, in the order of their first answer."""
    return list(dict.fromkeys(name for step in recording if (name := _server_of(step)) is not None))


class ServerAnswers:
    """The answers of one server in a recording, and the steps that were answered already.

    Args:
        recording: The recording.
        server: The server's name; may be left out if the recording has only one.
        ignore: Rules for differences to ignore, as in a replay.
    """

    def __init__(self, recording: RecordedRun, server: str = "", ignore: Iterable[str] = ()) -> None:
        self.recording = recording
        self.server = server or _only(recording)
        steps = [step for step in recording if _server_of(step) == self.server]
        if not steps:
            known = ", ".join(servers(recording))
            raise UsageError(f"{recording.id} has no MCP server {self.server!r}; it has: {known}")
        self._free = [step for step in steps if not _is_call(step)]
        self._calls = [step for step in steps if _is_call(step)]
        self._asked: set[int] = set()
        self._rules = match.Rules(ignore)
        self._redactor = Redactor(
            rules_of(recording.header),
            salt=salt_of(recording.header),
            environ=dict(os.environ),
        )
        self._departed: Divergence | None = None
        self._progress: dict[str, list[list[Any]]] = {}
        for step in self._free:
            for chunk in step.chunks if step.call.name == MESSAGES else ():
                if "progress" in chunk:
                    self._progress.setdefault(chunk["of"], []).append(chunk["progress"])

    # -- answers ---------------------------------------------------------------------------------------------

    def free(self, method: str, params: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return the recorded answer to a greeting or a list, as often as asked, or None."""
        known = [step for step in self._free if step.label == f"{KIND}:{method}" and step.call.status == "ok"]
        if not known:
            return None
        wanted = effect_of(method, params, leaf=True).args.get("cursor")
        found = next((step for step in known if step.args.get("cursor") == wanted), known[0])
        return dict(found.output or {})

    def call(self, method: str, params: Mapping[str, Any] | None) -> Step:
        """Return the recorded step of a request.

        Raises UnrecordedCall, and raises it again for every later call.
        """
        if self._departed is not None:
            raise UnrecordedCall(self._departed)
        effect = effect_of(method, params, leaf=True)
        args = self._tree(effect.args)
        same = (
            step
            for step in self._open()
            if step.label == effect.label
            and not match.mismatches(effect.label, step.log.args(step.call), args, self._rules)
        )
        found = next(same, None)
        if found is None:
            raise self._depart(self._unlike(effect.label, args))
        before = next((step for step in self._open() if _answered_before(step, found)), None)
        if before is not None and not self._rules.order:
            detail = f"step {before.number}, {before.call.address}, was answered before it, and is still open"
            hint = "if the order means nothing: --ignore order"
            address, step = found.call.address, found.number
            raise self._depart(Divergence(Departure.REORDERED, address, step, detail=detail, hint=hint))
        self._asked.add(found.number)
        return found

    @property
    def methods(self) -> list[str]:
        """The methods that the server offers: the recorded ones and MCP's calls, without greetings."""
        known = {step.call.name for step in (*self._free, *self._calls) if step.call.kind == KIND}
        return sorted({*_CALLS, *known} - {*GREETINGS, *_ASKED_BACK, MESSAGES})

    def is_call(self, method: str) -> bool:
        """Return True if a request is matched strictly."""
        return method not in _FREE

    def progress(self, step: Step) -> list[list[Any]]:
        """Return the recorded progress of a call, a list of `[progress, total, message]`."""
        return self._progress.get(step.call.address, [])

    @property
    def asked_back(self) -> int:
        """The number of requests from the recorded server to its client, which are not repeated."""
        return sum(step.call.name in _ASKED_BACK for step in self.recording if step.call.kind == KIND)

    def verdict(self) -> Verdict:
        """Return the verdict so far."""
        left = [step for step in self._open() if step.call.outcome is not None]
        return Verdict(
            recording=self.recording.id,
            served=len(self._asked),
            rules=tuple(self._rules.applied),
            missing=tuple((step.number, step.call.address) for step in left),
            divergences=(self._departed,) if self._departed is not None else (),
        )

    # -- within ----------------------------------------------------------------------------------------------

    def _open(self) -> list[Step]:
        return [step for step in self._calls if step.number not in self._asked]

    def _tree(self, args: Mapping[str, Any]) -> dict[str, Tree]:
        """Return the arguments in the form of the recording, with tokens for secrets."""
        raw = codec.dumps({name: codec.Encoder().encode(value) for name, value in args.items()})
        tree: dict[str, Tree] = codec.loads(self._redactor.line(raw))
        return tree

    def _unlike(self, label: str, args: Mapping[str, Tree]) -> Divergence:
        nearest = next((step for step in self._open() if step.label == label), None)
        if nearest is not None:
            recorded = nearest.log.args(nearest.call)
            differing = tuple(match.mismatches(label, recorded, args, self._rules))
            return Divergence(Departure.CHANGED, nearest.call.address, nearest.number, differing)
        following = next(iter(self._open()), None)
        if following is None:
            return Divergence(Departure.EXTRA, label, detail="the recording has no further call")
        detail = f"the next recorded step is {following.number}, {following.label}"
        return Divergence(Departure.EXTRA, label, following.number, detail=detail)

    def _depart(self, divergence: Divergence) -> UnrecordedCall:
        self._departed = divergence
        return UnrecordedCall(divergence)


def _only(recording: RecordedRun) -> str:
    known = servers(recording)
    if not known:
        raise UsageError(
            f"{recording.id} has no answers of an MCP server (`reenact show {argument_of(recording)}`)"
        )
    if len(known) > 1:
        raise UsageError(f"{recording.id} has several MCP servers; choose with --server: {', '.join(known)}")
    return known[0]


def _server_of(step: Step) -> str | None:
    """Return the name of the server that a step was sent to."""
    kind, name = step.call.kind, step.call.name
    if kind == KIND and name in GREETINGS:
        return server_name(step.output) if isinstance(step.output, Mapping) else None
    last = step.call.scope.rpartition("/")[2]
    return last.removeprefix(f"{KIND}:") if last.startswith(f"{KIND}:") else None


def _is_call(step: Step) -> bool:
    if step.call.kind == KIND:
        return step.call.name not in _FREE and not step.call.name.startswith("notifications/")
    return True


def _answered_before(step: Step, other: Step) -> bool:
    outcome = step.call.outcome
    return outcome is not None and step.log is other.log and float(outcome["t"]) <= other.call.began
