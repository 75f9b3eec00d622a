"""The agent's declared state at a step, read from snapshots and other recorded facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.model import patch
from reenact.core.model.event import Tree
from reenact.core.model.log import CallRecord, Log
from reenact.errors import CorruptRecording

DEPS = "pydantic_ai.deps"
"""The name under which a Pydantic AI agent's dependencies are tracked."""

CONTEXT = "openai_agents.context"
"""The name under which the context of an OpenAI Agents SDK run is tracked."""

BELONGINGS = (DEPS, CONTEXT)
"""The names that adapters track by themselves."""

_KEPT = 64
_AT_THE_QUESTION = ("every", "risky")
_OTHER = (":count_tokens", ":compact_messages")


@dataclass(frozen=True, slots=True)
class _Kind:
    """A framework whose model requests have the agent's message history as an argument.

    Attributes:
        name: The name of the history.
        argument: The argument that holds it.
        known: An argument that only this framework's requests have beside it.
        answer: Returns the part that an answer adds to the history, from its tree and those of its chunks.
    """

    name: str
    argument: str
    known: str
    answer: Callable[[Tree, list[Tree]], list[Tree]]


def _response(value: Tree, chunks: list[Tree]) -> list[Tree]:
    pydantic_ai = import_module("reenact.core.messages.pydantic_ai")
    if chunks:
        value = pydantic_ai.streamed(value, chunks)
    return [pydantic_ai.in_history(value)] if isinstance(value, dict) and "parts" in value else []


def _items(value: Tree, chunks: list[Tree]) -> list[Tree]:
    found: list[Tree] = import_module("reenact.core.messages.openai_agents").output(value, chunks)
    return found


_KINDS = (
    _Kind("pydantic_ai.messages", "messages", "provider", _response),
    _Kind("openai_agents.items", "input", "handoffs", _items),
)

HISTORIES = tuple(kind.name for kind in _KINDS)
"""The names of message histories. They are not tracked: model requests contain them."""


@dataclass(frozen=True, slots=True)
class SnapshotMoment:
    """The moment and reason of a snapshot.

    Attributes:
        step: The value is as of the moment this step was asked; None: after the last step.
        exact: True if the value is of exactly the requested moment. If not, the state may have changed since.
        why: `every` (so many steps had passed), `risky`, `asked`, `end`, or `recorded` (it was an argument).
        label: The label that the caller gave the snapshot.
    """

    step: int | None
    exact: bool
    why: str
    label: str = ""


class State(Mapping[str, Any]):
    """The known part of the declared state at a step: names to values.

    `of(name)` has the step of a value, and if it is exact. Between two snapshots the state may have been different.

    Attributes:
        step: The requested step: the state is as it was when that step was asked. None: at the end.
    """

    def __init__(self, step: int | None, log: Log, known: Mapping[str, tuple[Tree, SnapshotMoment]]) -> None:
        self.step = step
        self._log = log
        self._trees = {name: tree for name, (tree, _) in known.items()}
        self._taken = {name: taken for name, (_, taken) in known.items()}
        self._values: dict[str, Any] = {}

    def of(self, name: str) -> SnapshotMoment:
        """Return the moment of that value. Raises KeyError for a name that was not tracked by then."""
        return self._taken[name]

    @property
    def exact(self) -> bool:
        """True if every value is exactly that of the step."""
        return all(taken.exact for taken in self._taken.values())

    def tree(self, name: str) -> Tree:
        """Return the tree of a value, without its types."""
        return self._log.filled(self._trees[name])

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._log.value(self._trees[name])
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._trees)

    def __len__(self) -> int:
        return len(self._trees)

    def __repr__(self) -> str:
        at = "the end" if self.step is None else f"step {self.step}"
        return f"<State at {at}: {', '.join(self._trees) or 'nothing tracked'}>"

    def only(self, names: Iterable[str]) -> State:
        """Return the state with these values only."""
        return State(self.step, self._log, {name: (self._trees[name], self.of(name)) for name in names})


def state_at(log: Log, asked_at: CallRecord | None, steps: Mapping[int, int]) -> State:
    """Return the state of a process when a call was asked; without a call, at the end.

    `steps` has the step of each call.
    """
    call = asked_at.number if asked_at is not None else None
    found: dict[str, tuple[Tree, SnapshotMoment]] = {}
    for name, snapshots in log.snapshots.items():
        before = [at for at, data in enumerate(snapshots) if call is None or (data["call"] or 0) < call]
        if not before:
            continue
        data = snapshots[before[-1]]
        asked = (data["call"] or 0) + 1
        exact = data["why"] in _AT_THE_QUESTION and asked == call
        if call is None:
            exact = data["why"] == "end"
        taken = SnapshotMoment(steps.get(asked), exact, str(data["why"]), str(data.get("label") or ""))
        found[name] = tree_of(log, name, before[-1]), taken
    for name, tree, taken in _histories(log, asked_at, steps):
        found[name] = tree, taken
    return State(steps[call] if call is not None else None, log, found)


def tree_of(log: Log, name: str, place: int) -> Tree:
    """Return the tree of a snapshot: the last whole one, with all changes since applied."""
    snapshots, known = log.snapshots[name], log.states
    first = place
    while (name, first) not in known and not patch.readable(snapshots[first]["value"]) and first > 0:
        first -= 1
    tree = known.get((name, first))
    for at in range(first, place + 1):
        if (name, at) in known:
            tree = known[name, at]
            continue
        if snapshots[at]["n"] != at:
            raise CorruptRecording(f"the state of {name!r} cannot be read: its snapshot {at} is missing")
        try:
            tree = patch.patched(snapshots[at]["value"], tree)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError):
            text = f"the state of {name!r} cannot be read: its snapshot {at} does not fit the one before"
            raise CorruptRecording(text) from None
        if len(known) >= _KEPT:
            del known[next(iter(known))]
        known[name, at] = tree
    return tree


# -- message histories ---------------------------------------------------------------------------------------


def _histories(
    log: Log, asked_at: CallRecord | None, steps: Mapping[int, int]
) -> Iterator[tuple[str, Tree, SnapshotMoment]]:
    """Yield each agent's message history, that of the call's own agent first."""
    for kind in _KINDS:
        yield from _of_kind(kind, log, asked_at, steps)


def _of_kind(
    kind: _Kind, log: Log, asked_at: CallRecord | None, steps: Mapping[int, int]
) -> Iterator[tuple[str, Tree, SnapshotMoment]]:
    last: dict[str, CallRecord] = {}
    for call in log.calls.values():
        if asked_at is not None and call.number > asked_at.number:
            break
        if _is_request(kind, call):
            last.pop(call.scope, None)
            last[call.scope] = call
    if not last:
        return
    around = [
        scope for scope in last if asked_at is not None and f"{asked_at.scope}/".startswith(f"{scope}/")
    ]
    mine = max(around, key=len) if around else next(reversed(last))
    for scope, call in last.items():
        exact = call is asked_at
        taken = SnapshotMoment(steps.get(call.number), exact, "recorded")
        tree = _history(kind, log, call, asked_at)
        if scope == mine:
            yield kind.name, tree, taken
        if len(last) > 1:
            yield f"{kind.name}@{scope}", tree, taken


def _is_request(kind: _Kind, call: CallRecord) -> bool:
    args = call.called["args"]
    return (
        call.kind == "model"
        and kind.argument in args
        and kind.known in args
        and not call.name.endswith(_OTHER)
    )


def _history(kind: _Kind, log: Log, call: CallRecord, asked_at: CallRecord | None) -> Tree:
    """Return the agent's messages: the request's, and the answer if it had come by then."""
    messages = log.args(call)[kind.argument]
    if not isinstance(messages, list) or (
        asked_at is not None and (call is asked_at or not _came_before(call, asked_at))
    ):
        return messages
    answer = _answer(kind, call)
    following = next(
        (other for other in log.calls.values() if other.number > call.number and _follows(kind, other, call)),
        None,
    )
    if following is not None:
        later = log.args(following)[kind.argument]
        if isinstance(later, list) and later[: len(messages)] == messages and len(later) > len(messages):
            return later[: len(messages) + (len(answer) or 1)]
    return [*messages, *answer]


def _follows(kind: _Kind, other: CallRecord, call: CallRecord) -> bool:
    return other.scope == call.scope and _is_request(kind, other)


def _came_before(call: CallRecord, other: CallRecord) -> bool:
    order = call.end_order if call.pieces else call.order
    return order is not None and order < other.place


def _answer(kind: _Kind, call: CallRecord) -> list[Tree]:
    outcome = call.outcome
    if outcome is None or "value" not in outcome:
        return []
    try:
        return kind.answer(outcome["value"], [tree for _, _, tree in call.pieces])
    except (LookupError, TypeError, AttributeError, ValueError):
        # It does not have the form that the framework uses.
        return []
