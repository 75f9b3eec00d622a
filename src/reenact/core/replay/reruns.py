"""The tools of a replay: which run their own code again, and how results are compared.

A tool runs again if it was recorded whole: all that it asked is in the recording. Any other tool is answered from the
recording, without running; the verdict lists it with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, get_args

from reenact.core.boundary import ToolInside
from reenact.core.boundary.answer import End
from reenact.core.model import codec
from reenact.core.model.event import TOOL, Cancelled, Effect, Outcome, Tree, Value, unnumbered
from reenact.core.model.exact import exact
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay import match
from reenact.core.replay.question import Question
from reenact.core.replay.terms import Terms
from reenact.errors import Departure, Divergence, Mismatch, UsageError

Mode = Literal["rerun", "answer", "live"]

MODES: tuple[Mode, ...] = get_args(Mode)

_FORK_RAN = "it ran for real in the fork, before its step"


class Modes:
    """The mode of each tool: run again, be answered from the recording, or run for real.

    Args:
        words: `rerun`, `answer` or `live` for all tools, and `NAME=MODE` for one; the default is `rerun`.

    Raises:
        UsageError: A word has no valid mode.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._all: Mode = "rerun"
        self._one: dict[str, Mode] = {}
        for word in words:
            name, _, mode = word.rpartition("=")
            if mode not in MODES:
                raise UsageError(
                    f"tools={word!r}: a mode is one of {', '.join(MODES)}, for one tool NAME=MODE"
                )
            if name:
                self._one[name.removeprefix(f"{TOOL}:")] = mode
            else:
                self._all = mode

    def names_live(self, effect: Effect) -> bool:
        """Return True if a tool runs for real by its own name."""
        return effect.kind == TOOL and self._one.get(effect.name) == "live"

    def of(self, name: str) -> Mode:
        """Return the mode of a tool."""
        return self._one.get(name, self._all)


class Tools:
    """The tools of one process's replay.

    Args:
        log: The recorded process.
        terms: Puts results into the recording's terms.
        rules: The parts that are not compared.
        words: The modes; see `Modes`.
        here: True if this process has made the recording; the state of its objects is then a later one.

    Attributes:
        again: The number of calls that ran again, by label.
        answered: The tools that were answered without running though they are functions of this process, with the
            reason.
        changed: The answered tools with changed sources, one sentence each.
        streams: True if tools that answer in parts run again, too.
        disk: True if the replay has the recorded files: tools that use nothing else that crossed no boundary run again.
    """

    def __init__(
        self, log: Log, terms: Terms, rules: match.Rules, words: Iterable[str], *, here: bool = False
    ) -> None:
        self.here = here
        self.disk = False
        self.streams = not here
        self.modes = Modes(words)
        self.again: dict[str, int] = {}
        self.answered: dict[str, str] = {}
        self.changed: dict[str, None] = {}
        self._terms = terms
        self._rules = rules
        self._digests: dict[int, str] = {}
        self._noted: list[tuple[str, str, int, bool]] = []
        self._ran: set[str] = set()
        self._did_not_run: set[str] = set()
        """The addresses of tool calls whose code runs again or does not.

        They have no numbers of tasks and threads. The latest notes are added on use.
        """
        self._args = log.args
        self._log = log
        self.withheld: Callable[[Effect, CallRecord], str] = lambda _effect, _call: ""
        """Returns a further reason to answer a tool, or an empty text."""
        self._fork = isinstance(log.opened.get("parent"), Mapping)
        again = (log.sealed or {}).get("again")
        self._in_fork = (again["until"], frozenset(again["calls"])) if again else None
        self._real_in_fork = frozenset(again.get("real", ())) if again else frozenset()

    @cached_property
    def _partly(self) -> dict[str, str]:
        return _partly_recorded(self._log, disk=self.disk)

    def live(self, effect: Effect) -> bool:
        """Return True if a tool runs for real."""
        return effect.kind == TOOL and self.modes.of(effect.name) == "live"

    def runs_again(self, question: Question, call: CallRecord) -> ToolInside | None:
        """Return the inside of a tool that is to run again, or None: it is answered."""
        effect = question.effect
        recorded = call.called.get("source")
        if effect.kind != TOOL or recorded is None:
            return None
        outcome = call.outcome or {}
        if outcome.get("event") in ("returned", "raised") and not (
            "unrecorded" in outcome or outcome.get("stream")
        ):
            # A fork ran it around its step: the question is the parent's, and the outcome may be another tool's.
            if call.number in self._real_in_fork:
                self.answered[question.label] = _FORK_RAN
            return None
        reason = self._reason(question, call)
        if not (reason or question.equal or match.same(self._args(call), question.args)):
            # A rule allows it, or the program was edited: the recorded result belongs to other arguments.
            reason = "it was asked with other arguments than recorded"
        digest = effect.source.digest if effect.source is not None else ""
        if not reason:
            self._digests[call.number] = digest
            return ToolInside(again=True)
        self.answered[question.label] = reason
        if digest != recorded:
            now = f"to {digest}" if digest else "and it is no function of this program now"
            text = (
                f"{question.label} did not run ({reason}), and its source has changed from {recorded} {now}"
            )
            self.changed[text] = None
        elif effect.source is not None and effect.source.constants != call.called.get(
            "constants", effect.source.constants
        ):
            self.changed[
                f"{question.label} did not run ({reason}), and constants that it uses have changed"
            ] = None
        return None

    def note(self, question: Question, *, ran: bool) -> None:
        """Note that the code of the asked call runs again, or not."""
        self._noted.append((question.scope.path, question.label, question.ordinal, ran))

    def ran_inside(self, path: str) -> bool:
        """Return True if all calls around the scopes of that path ran again.

        The scopes are those of all tasks and threads of one name.
        """
        noted, self._noted = self._noted, []
        for path_, label, ordinal, ran in noted:
            (self._ran if ran else self._did_not_run).add(unnumbered(f"{path_}/{label}#{ordinal}"))
        parts = unnumbered(path).split("/")
        around = {"/".join(parts[:end]) for end, part in enumerate(parts, 1) if "#" in part}
        return around <= self._ran and not around & self._did_not_run

    def not_done(self) -> str:
        """Return a clause on the answered tools, which did not run.

        Empty without such tools.
        """
        if not self.answered:
            return ""
        label, reason = next(iter(self.answered.items()))
        more = f" and {len(self.answered) - 1} more" if len(self.answered) > 1 else ""
        return f"; {label}{more} did not run ({reason}), so what its code does for others was not done"

    def departure(self, call: CallRecord, step: int, outcome: Outcome) -> Divergence | None:
        """Compare the outcome of a tool that ran again with the recorded one."""
        found = self._differences(call, outcome)
        if not found:
            label = call.label
            self.again[label] = self.again.get(label, 0) + 1
            return None
        if isinstance(outcome, Cancelled):
            detail = "the program cancelled this tool, which had come to its end when it was recorded"
            return Divergence(Departure.CHANGED, call.address, step, found, detail)
        return self._changed(call, step, found)

    def other_chunk(self, call: CallRecord, step: int, number: int, value: Any) -> Divergence | None:
        """Compare a chunk of a tool that runs again with the recorded one, by its number."""
        if number >= len(call.pieces):
            return self._changed(call, step, (Mismatch("chunks", len(call.pieces), number + 1),))
        recorded = {"event": "returned", "value": call.pieces[number][2]}
        found = self._differences(call, Value(value), recorded)
        named = tuple(replace(each, path=f"chunk {number + 1} {each.path}") for each in found)
        return self._changed(call, step, named) if named else None

    def other_end(
        self, call: CallRecord, step: int, count: int, how: str | BaseException
    ) -> Divergence | None:
        """Compare the end of the chunks of a tool that ran again with the recorded one."""
        if how == call.end and count == len(call.pieces):
            return self._other_result(call, step, how)
        if isinstance(how, BaseException):
            now = _error(self._terms.clean(codec.encode_error(how, codec.Encoder())))
            if count == len(call.pieces) and match.same({"error": _error(call.end)}, {"error": now}):
                return None
            how = f"raised {now}"
        then = call.end if isinstance(call.end, str) else f"raised {_error(call.end)}"
        ends = Mismatch("end", f"{then} after {len(call.pieces)} chunks", f"{how} after {count} chunks")
        return self._changed(call, step, (ends,))

    def _other_result(self, call: CallRecord, step: int, how: str | BaseException) -> Divergence | None:
        """Compare the result of a generator that ran again, if one was recorded."""
        if call.closing is None or "value" not in call.closing:
            return None
        recorded = {"event": "returned", "value": call.closing["value"]}
        found = self._differences(call, Value(how.value if isinstance(how, End) else None), recorded)
        return self._changed(call, step, found) if found else None

    def _changed(self, call: CallRecord, step: int, found: tuple[Mismatch, ...]) -> Divergence:
        then, now = call.called["source"], self._digests.get(call.number, "")
        detail = (
            f"its source has changed from {then} to {now}"
            if then != now
            else f"its source is the same ({now}), so code or data that it uses has changed, or it reads what is not "
            "recorded"
        )
        detail = f"the tool ran again and gave another result; {detail}"
        hint = f"to answer it from the recording: tools=['{call.name}=answer']"
        return Divergence(Departure.CHANGED, call.address, step, found, detail, hint)

    def unchanged(self, call: CallRecord) -> bool:
        """Return True if a tool that runs again has the recorded source."""
        return bool(call.called["source"] == self._digests.get(call.number))

    def moved_on(self, call: CallRecord) -> None:
        """Answer a tool from the recording after all, as its state has changed since."""
        self.answered[call.label] = (
            "this process has made the recording, and the tool's state is a later one by now"
        )

    def _reason(self, question: Question, call: CallRecord) -> str:
        """Return the reason to answer a tool without running it; empty if it can run again."""
        effect = question.effect
        if self.modes.of(effect.name) == "answer":
            return "as asked"
        if call.number in self._real_in_fork:
            return _FORK_RAN
        if self._fork and not self._ran_in_fork(call):
            return "the recording is a fork, in which it did not run"
        if reason := self.withheld(effect, call):
            return reason
        outcome = call.outcome or {}
        if (call.pieces or outcome.get("stream")) and (not self.streams or "unrecorded" not in call.inside):
            return "it answers in parts"
        if outcome.get("event") == "cancelled":
            return "it was cancelled when it was recorded"
        if question.label in self._partly:
            return self._partly[question.label]
        if outcome.get("event") not in ("returned", "raised") or effect.source is None:
            return "its inside is not known"
        return ", ".join(effect.source.unrecorded)

    def only_in_fork(self) -> list[str]:
        """Return the labels of calls whose code ran in the recorded fork before its step.

        A replay answers them, so what they did to the program's own state is not repeated.
        """
        calls = (self._log.calls[number] for number in self._real_in_fork if number in self._log.calls)
        return sorted({call.label for call in calls})

    def _ran_in_fork(self, call: CallRecord) -> bool:
        """Return True if a tool ran in the recorded fork: after its step, or again before it.

        In forks of earlier versions, those before it did not, and what they drew is missing.
        """
        return self._in_fork is not None and (
            call.number > self._in_fork[0] or call.number in self._in_fork[1]
        )

    def _differences(
        self, call: CallRecord, outcome: Outcome, entry: Mapping[str, Tree] | None = None
    ) -> tuple[Mismatch, ...]:
        entry = call.outcome or {} if entry is None else entry
        if isinstance(outcome, Value) and entry.get("event") == "returned":
            value, recorded = outcome.value, entry.get("value")
            if type(value) is type(recorded) and type(value) in match.SINGLE and value == recorded:
                return ()
            data = exact(value)
            if data is not None and data == codec.dumps(recorded):
                # As recorded, byte for byte: so it holds no secret either, which would be a token there.
                return ()
        then, now = _recorded(entry), self._actual(outcome)
        if match.same(then, now):
            return ()
        if self._terms.recognise(match.differences(then, now)):
            now = self._actual(outcome)
        found = match.mismatches(call.label, then, now, self._rules)
        return tuple(Mismatch(m.path.removeprefix("args."), m.recorded, m.actual) for m in found)

    def _actual(self, outcome: Outcome) -> dict[str, Tree]:
        if isinstance(outcome, Value):
            return {"result": self._terms.value(outcome.value)}
        if isinstance(outcome, Cancelled):
            return {"cancelled": True}
        return {"error": _error(self._terms.clean(codec.encode_error(outcome.error, codec.Encoder())))}


def _partly_recorded(log: Log, *, disk: bool) -> dict[str, str]:
    """Return the tools with input that is not recorded, by label, with the first such inputs.

    One such call is enough: what it has read (a cache, an open file) may serve the tool's other calls.
    """
    found: dict[str, dict[str, None]] = {}
    for call in log.calls.values():
        files = call.inside.get("files") or () if disk else ()
        reasons = [what for what in call.inside.get("unrecorded") or () if what not in files]
        if call.kind == TOOL and reasons:
            found.setdefault(call.label, {}).update(dict.fromkeys(reasons))
    return {label: ", ".join(list(reasons)[:3]) for label, reasons in found.items()}


def _recorded(outcome: Mapping[str, Tree]) -> dict[str, Tree]:
    if outcome.get("event") == "returned":
        return {"result": outcome.get("value")}
    if outcome.get("event") == "raised":
        return {"error": _error(outcome.get("error"))}
    return {"cancelled": True}


def _error(tree: Tree) -> Tree:
    return {"type": tree["type"], "text": tree["text"]} if isinstance(tree, dict) else tree
