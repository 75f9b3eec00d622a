"""Facts that a recording shows: tools that only read, and hosts that are models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from reenact.core.model.event import TOOL, Effect
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay.acts import impact_of_name

_READS = (
    "lists ", "reads the file ", "asks for the state ", "it uses the file system", "it uses the process's number",
    "it uses a thread's number", "it uses the machine's load", "it uses an unrecorded clock",
    "it uses the machine's name", "it uses an object's address",
)  # fmt: skip
"""The beginnings of unrecorded inputs that change nothing."""

_HELD = ("the program holds the file", " connected to ", "uses the database")


class RecordedFacts:
    """The facts that recorded processes show of tools and of models.

    Args:
        logs: The processes of a recording.
        providers: `host[:port]` that the user names as model providers: all requests there are model calls.
    """

    def __init__(self, logs: Iterable[Log] = (), providers: Iterable[str] = ()) -> None:
        self.providers = frozenset(providers)
        self._logs = tuple(logs)
        self._judged: dict[tuple[str, str], tuple[bool, str]] = {}

    @cached_property
    def model_hosts(self) -> frozenset[str]:
        """`host[:port]` of the HTTP requests whose recorded answers are a model's."""
        return frozenset(
            call.name.partition(" ")[2].partition("/")[0]
            for log in self._logs
            for call in log.calls.values()
            if call.kind == "http" and _answered_by_model(log, call)
        )

    def judge(self, effect: Effect, allowed: Callable[[Effect], bool] | None = None) -> tuple[bool, str]:
        """Return True if a tool without a declaration may run, watched; and the reason.

        It may where its code names nothing that Reenact cannot see, and its recorded calls have only read. A tool
        without such a call may as well, unless the program holds something open through which it could write. Effects
        inside that are `allowed` do not count.
        """
        if effect.source is None:
            return False, "its code is not known"
        if effect.source.near:
            return False, f"it is not declared, and what it does through {effect.source.near} is not seen"
        key = effect.label, effect.source.digest
        if key not in self._judged:
            self._judged[key] = self._judge(effect, allowed or (lambda _: False))
        return self._judged[key]

    def hidden(self, effect: Effect) -> bool:
        """Return True if a tool may have changed something past the boundary, by its recorded calls."""
        return effect.source is None or bool(effect.source.near) or not self._judge(effect, lambda _: True)[0]

    def _judge(self, effect: Effect, allowed: Callable[[Effect], bool]) -> tuple[bool, str]:
        assert effect.source is not None
        if found := _writing(effect.source.unrecorded):
            return False, found
        known = other = False
        for log in self._logs:
            inside = _inside(log)
            for call in log.calls.values():
                if call.label != effect.label:
                    continue
                if call.called.get("source") != effect.source.digest:
                    other = True
                elif (call.outcome or {}).get("event") in ("returned", "raised"):
                    if found := self._wrote(log, call, inside, allowed):
                        return False, found
                    known = True
        if known:
            return True, "in the recording it only reads"
        why = "its code has changed" if other else "it has no recorded call"
        held = self._held
        return (False, f"{why}, and {held}") if held else (True, f"{why}; it runs watched")

    @cached_property
    def _held(self) -> str:
        """The reason that tools could write through something held open outside of them; else empty."""
        for log in self._logs:
            tools = (call for call in log.calls.values() if call.kind == TOOL)
            for reason in (str(each) for tool in tools for each in tool.inside.get("unrecorded") or ()):
                if _writing((reason,)) and any(word in reason for word in _HELD):
                    return reason
            for note in log.notes:
                text = str(note["text"])
                if "opened the database" in text:
                    return text.partition(":")[0]
        return ""

    def _wrote(
        self,
        log: Log,
        call: CallRecord,
        inside: dict[int, list[CallRecord]],
        allowed: Callable[[Effect], bool],
    ) -> str:
        """Return the reason that a recorded call of a tool may have changed something; else empty."""
        if "unrecorded" not in call.inside:
            return "the recording does not tell what it did"
        if found := _writing(call.inside["unrecorded"]):
            return f"recorded with it: {found}"
        for inner in inside.get(call.number, ()):
            if inner.kind == TOOL:
                if found := self._wrote(log, inner, inside, allowed):
                    return f"{inner.label} inside of it: {found}"
            elif inner.kind == "http" and _answered_by_model(log, inner):
                continue
            elif impact_of_name(inner.kind, inner.name) not in ("reads", "model") and not allowed(
                Effect(inner.kind, inner.name, log.args(inner))
            ):
                return f"in the recording it asked {inner.label}"
        return ""


def _inside(log: Log) -> dict[int, list[CallRecord]]:
    found: dict[int, list[CallRecord]] = {}
    for call in log.calls.values():
        if call.within is not None:
            found.setdefault(call.within, []).append(call)
    return found


def _writing(reasons: Iterable[object]) -> str:
    """Return the first reason that may be an effect on the world; empty if all only read."""
    for reason in map(str, reasons):
        if not reason.startswith(_READS) and not (
            reason.startswith("the program holds the file ") and reason.endswith(" open for reading")
        ):
            return reason
    return ""


def _answered_by_model(log: Log, call: CallRecord) -> bool:
    from reenact.core import messages  # noqa: PLC0415 - for calls that run for real

    found = messages.read(log, call)
    return (
        found is not None and bool(found.model) and (found.answer is not None or found.embedded is not None)
    )
