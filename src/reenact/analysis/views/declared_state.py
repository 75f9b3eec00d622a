"""The agent's declared state, and how it changes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from reenact.analysis.views.base import Json, View
from reenact.core.model.plain import plain
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.state import State

_MOST = 200


class ValueView(View):
    """A tracked value.

    `as_of_step` is the step at which it was kept, `exact` whether it is exactly that of the step that was asked for,
    `why` the reason for keeping it, `label` the label that the program gave.
    """

    value: Json
    why: str
    as_of_step: int | None
    exact: bool
    label: str | None


class StateChangeView(View):
    """A part of the state that differs; a side that has nothing there is absent."""

    path: str
    before: Json = None
    after: Json = None


class StateView(View):
    """The declared state at a step, null for the end."""

    step: int | None
    state: dict[str, ValueView]


class StoredStateView(StateView):
    """The declared state of a recording, as `show ID --state --json` writes it."""

    id: str


class ComparedStateView(StateView):
    """The declared state at a step, and its differences from that at another one."""

    changes: tuple[StateChangeView, ...]


def values(state: State) -> dict[str, ValueView]:
    """Return the tracked values by name."""
    return {name: _value(state, name) for name in state}


def stored_state(recording: RecordedRun, state: State) -> StoredStateView:
    """Return the declared state of a recording of this machine."""
    return StoredStateView(id=recording.id, step=state.step, state=values(state))


def compared_state(state: State, before: State | None = None) -> ComparedStateView:
    """Return the declared state at a step, with its differences from another one, if any."""
    now = values(state)
    changes = tuple(_changes(before, now)) if before is not None else ()
    return ComparedStateView(step=state.step, state=now, changes=changes)


def state_at(recording: RecordedRun, number: int) -> ComparedStateView:
    """Return the declared state at a step, with its first differences from the step before."""
    now = values(recording.state(number))
    if not now:
        return ComparedStateView(step=number, state={}, changes=())
    before = recording.state(number - 1) if number > 1 else None
    changes = tuple(islice(_changes(before, now), _MOST))
    return ComparedStateView(step=number, state=now, changes=changes)


def _value(state: State, name: str) -> ValueView:
    taken = state.of(name)
    return ValueView(
        value=plain(state.tree(name)),
        as_of_step=taken.step,
        exact=taken.exact,
        why=taken.why,
        label=taken.label or None,
    )


def _changes(before: State | None, now: dict[str, ValueView]) -> Iterator[StateChangeView]:
    was = {name: plain(before.tree(name)) for name in before} if before is not None else {}
    return _differing(was, {name: found.value for name, found in now.items()})


def _differing(before: Any, after: Any, path: str = "") -> Iterator[StateChangeView]:
    """Yield the differences of two plain values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            inner = f"{path}.{key}" if path else str(key)
            if key not in after:
                yield StateChangeView(path=inner, before=before[key])
            elif key not in before:
                yield StateChangeView(path=inner, after=after[key])
            else:
                yield from _differing(before[key], after[key], inner)
    elif isinstance(before, list) and isinstance(after, list):
        for place in range(max(len(before), len(after))):
            inner = f"{path}[{place}]"
            if place >= len(after):
                yield StateChangeView(path=inner, before=before[place])
            elif place >= len(before):
                yield StateChangeView(path=inner, after=after[place])
            else:
                yield from _differing(before[place], after[place], inner)
    elif type(before) is not type(after) or before != after:
        yield StateChangeView(path=path, before=before, after=after)
