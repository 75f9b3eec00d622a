"""The changes of a step from the one before: in a model's prompt, and in the state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reenact.analysis.views import recording as shape
from reenact.core.messages import Message
from reenact.core.model.plain import plain
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.recording import Recording
from reenact.core.query.state import State

_MOST = 200


def prompt(facts: RecordingFacts, step: StepFacts) -> dict[str, Any] | None:
    """Return the changes of a model call's prompt from the call before it in its scope.

    The answer to the earlier call does not count as new. None for other steps, and for the first call of its scope.
    """
    call = step.model_call
    before = _before(facts, step) if call is not None else None
    if call is None or before is None or before.model_call is None:
        return None
    old, new = before.model_call.messages, call.messages
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    added = list(new[same:])
    answer = before.model_call.answer
    if answer is not None and added and same == len(old) and _says(added[0], answer):
        del added[0]
    kept = list(old[same:])
    # What only moved, as where the first messages were left out, is neither.
    removed = [message for message in kept if message not in added]
    added = [message for message in added if message not in kept]
    return {
        "added": [shape.message(message) for message in added],
        "removed": [shape.message(message) for message in removed],
        "from_step": before.step.number,
    }


def _says(message: Message, answer: Message) -> bool:
    return message.role == "assistant" and message.says(answer)


def _before(facts: RecordingFacts, step: StepFacts) -> StepFacts | None:
    for other in reversed(facts.steps[: step.step.number - 1]):
        if (
            other.call.scope == step.call.scope
            and other.call.kind == step.call.kind
            and other.model_call is not None
        ):
            return other
    return None


def state(recording: Recording, number: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the declared state at a step, and its differences from the step before."""
    now = recording.state(number)
    told = {name: value(now, name) for name in now}
    if not told:
        return {}, []
    before = recording.state(number - 1) if number > 1 else None
    was = {name: plain(before.tree(name)) for name in before} if before is not None else {}
    changes: list[dict[str, Any]] = []
    for change in differing(was, {name: found["value"] for name, found in told.items()}):
        changes.append(change)
        if len(changes) == _MOST:
            break
    return told, changes


def value(state: State, name: str) -> dict[str, Any]:
    """A tracked value, with as of when it is."""
    taken = state.of(name)
    return {
        "value": plain(state.tree(name)),
        "as_of_step": taken.step,
        "exact": taken.exact,
        "why": taken.why,
        "label": taken.label or None,
    }


def differing(before: Any, after: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the differences of two plain values: `path`, `before` and `after`, as present."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            inner = f"{path}.{key}" if path else str(key)
            if key not in after:
                yield {"path": inner, "before": before[key]}
            elif key not in before:
                yield {"path": inner, "after": after[key]}
            else:
                yield from differing(before[key], after[key], inner)
    elif isinstance(before, list) and isinstance(after, list):
        for place in range(max(len(before), len(after))):
            inner = f"{path}[{place}]"
            if place >= len(after):
                yield {"path": inner, "before": before[place]}
            elif place >= len(before):
                yield {"path": inner, "after": after[place]}
            else:
                yield from differing(before[place], after[place], inner)
    elif type(before) is not type(after) or before != after:
        yield {"path": path, "before": before, "after": after}
