"""The steps of a session: the browser's actions, and the run's other steps between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from reenact.analysis.views.step_pictures import beside, holder
from reenact.browser.camera.footage import FootageEntry
from reenact.browser.video import labels
from reenact.browser.watch.budget import Budget
from reenact.core.messages import Message
from reenact.core.messages.spelling import spelled
from reenact.core.model.plain import compact, parsed
from reenact.core.query.conversation import Turn
from reenact.core.query.facts import RecordingFacts, StepFacts

_LONGEST = 6000
_LINE = 200
_BESIDE = ("model", "tool")
_FAILED = ("error", "cancelled")
_NAMES = ("name", "label", "text")
_QUIET = ("start", "observe", "get_cookies", "set_cookies", "cdp_url")
"""Effects of a session that do not act on the page: they are steps, but not actions."""

Row = dict[str, Any]


@dataclass
class ActionMarks:
    """The lines of actions in the session's file, by the number of the effect.

    Attributes:
        before: The line at the start of each.
        after: The line at the end of each.
        others: The numbers of the effects of the recording's other sessions.
    """

    before: dict[int, FootageEntry] = field(default_factory=dict)
    after: dict[int, FootageEntry] = field(default_factory=dict)
    others: set[int] = field(default_factory=set)

    def take(self, entries: Sequence[FootageEntry]) -> None:
        """Sort a session's `before` and `after` lines."""
        for entry in entries:
            if isinstance(entry["call"], int):
                (self.before if entry.event == "before" else self.after).setdefault(entry["call"], entry)


def rows(facts: RecordingFacts, marks: ActionMarks, budget: Budget) -> list[Row]:
    """Return the steps by time. Times are the recording's."""
    found = [row for step in facts if (row := _row(facts, step, marks, budget)) is not None]
    known = {row["call"] for row in found}
    # An action that is only in the session's file was running when the run was cut off, or its events are lost.
    found += [_torn(call, marks, budget) for call in marks.before if call not in known]
    return sorted(found, key=lambda row: row["t"])


def _row(facts: RecordingFacts, step: StepFacts, marks: ActionMarks, budget: Budget) -> Row | None:
    call, turn = step.call, step.turn
    if call.kind == "browser":
        return None if call.number in marks.others else _action(step, marks, budget)
    if turn is None and call.kind not in _BESIDE and facts.within(step) is not None:
        return None
    row = _plain_row(step)
    row["title"] = _question(step, turn)
    row["message"] = step.error or ""
    if turn is not None:
        row |= {
            "said": list(_messages_of(facts, step, turn, budget)),
            "known": turn.known,
            "model": turn.call.model or "",
        }
    else:
        row["fields"] = _fields(step.args, budget)
        row["gave"] = _value(step.output, budget)
    return row


def _plain_row(step: StepFacts) -> Row:
    call = step.call
    return {
        "n": step.step.number,
        "call": call.number,
        "kind": "model" if step.turn is not None else call.kind,
        "name": call.name,
        "t": call.began,
        "end": None if call.duration is None else call.began + call.duration,
        "status": "failed" if call.status in _FAILED else call.status,
        "edited": call.edited,
    }


def _action(step: StepFacts, marks: ActionMarks, budget: Budget) -> Row:
    given = step.output if isinstance(step.output, dict) else {}
    before, after = marks.before.get(step.call.number), marks.after.get(step.call.number)
    row = _plain_row(step)
    if given.get("success") is False:
        row["status"] = "failed"
    action = given.get("action") or (before and before["action"]) or {"type": step.call.name, **step.args}
    row |= _acted(action, given, before, after, budget)
    row["acts"] = step.call.name not in _QUIET
    row["message"] = row["message"] or step.error or ""
    if given.get("data") is not None:
        row["gave"] = _value(given["data"], budget)
    return row


def _acted(
    action: Any,
    given: Mapping[str, Any],
    before: FootageEntry | None,
    after: FootageEntry | None,
    budget: Budget,
) -> Row:
    """Describe an action from its outcome and the session's file, as far as they exist."""
    action = action if isinstance(action, Mapping) else {}
    facts: dict[str, Any] = {**(after.data if after is not None else {}), **given}
    target = before["target"] if before is not None else None
    row = {
        "title": _headline(action, facts.get("selectors"), given.get("fingerprint")),
        "actor": str(given.get("actor") or (before and before["actor"]) or ""),
        "message": budget.text(str(facts.get("message") or ""), _LONGEST),
        "url": str(facts.get("url") or (before and before["url"]) or ""),
        "line": str((before and before["line"]) or ""),
        "tab": facts["tab"] if isinstance(facts.get("tab"), int) else None,
        "fields": _fields({name: item for name, item in action.items() if name != "type"}, budget),
        "why": _spelled(facts["why"], budget) if isinstance(facts.get("why"), Mapping) else [],
        "selectors": _spelled(_named(facts.get("selectors")), budget),
        "target": target if isinstance(target, Mapping) else None,
    }
    if isinstance(facts.get("why"), str):
        row["why"] = [["why", budget.text(facts["why"], _LONGEST)]]
    times = {"t": before.t if before is not None else None, "end": after.t if after is not None else None}
    return {**row, **{name: t for name, t in times.items() if t is not None}}


def _torn(call: int, marks: ActionMarks, budget: Budget) -> Row:
    before, after = marks.before[call], marks.after.get(call)
    status = "in flight" if after is None else "ok" if after["success"] else "failed"
    row = {"n": None, "call": call, "kind": "browser", "end": None, "status": status}
    acted = _acted(before["action"], {}, before, after, budget)
    return {**row, "acts": True, "name": str((before["action"] or {}).get("type", "")), **acted}


def _named(selectors: Any) -> Mapping[str, Any]:
    if isinstance(selectors, Mapping):
        return selectors
    if isinstance(selectors, Sequence) and not isinstance(selectors, str):
        return {str(place): item for place, item in enumerate(selectors, 1)}
    return {}


def _fields(values: Mapping[str, Any], budget: Budget) -> list[list[str]]:
    return [
        [str(name), _value(value, budget)]
        for name, value in values.items()
        if value is not None and value != []
    ]


def _spelled(values: Mapping[str, Any], budget: Budget) -> list[list[str]]:
    """Format facts for reading, with each nested part on its own line."""
    return [
        [str(name).replace("_", " "), budget.text(_lines(value), _LONGEST)]
        for name, value in values.items()
        if value is not None and value not in ([], {}, "")
    ]


def _lines(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {_inline(item)}" for name, item in value.items() if item is not None)
    return "\n".join(map(_inline, value)) if isinstance(value, list) else compact(value)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_inline(item)}" for name, item in value.items() if item is not None)
    return compact(value)


def _value(value: Any, budget: Budget) -> str:
    """Return a value for reading: text as it is, short values on one line, others indented."""
    text = compact(value)
    value = parsed(value)
    if isinstance(value, (dict, list)) and len(text) > _LINE:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
    return budget.text(text, _LONGEST)


# -- between the actions -------------------------------------------------------------------------------------


def _question(step: StepFacts, turn: Turn | None) -> str:
    answer = turn.call.answer if turn is not None else None
    if answer is not None:
        text = answer.text or ", ".join(map(spelled, answer.calls))
        return _line(text) or step.call.label
    given = ", ".join(f"{name}={compact(value)}" for name, value in step.args.items()) if turn is None else ""
    return _line(f"{step.call.label}({given})" if given else step.call.label)


def _line(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= _LINE else f"{joined[: _LINE - 1]}…"


def _messages_of(facts: RecordingFacts, step: StepFacts, turn: Turn, budget: Budget) -> Iterator[Row]:
    before, after = beside(facts, step)
    with_pictures = holder([message.text for message in turn.new])
    for place, message in enumerate(turn.new):
        yield {**_message(message, budget), "pictures": before if place == with_pictures else []}
    if turn.call.answer is not None:
        yield {**_message(turn.call.answer, budget), "answer": True, "pictures": after}
    if turn.call.problem:
        yield {"role": "problem", "text": budget.text(turn.call.problem, _LONGEST)}


def _message(message: Message, budget: Budget) -> Row:
    return {
        "role": f"{message.role} {message.name}".strip(),
        "text": budget.text(message.text, _LONGEST),
        "thinking": budget.text(message.thinking, _LONGEST),
        "calls": [[call.name, _value(call.args, budget)] for call in message.calls],
    }


def _headline(action: Mapping[str, Any], selectors: object = None, fingerprint: object = None) -> str:
    """Describe an action on one line; an element by its role and name if known.

    Args:
        action: Its type and fields.
        selectors: The durable selectors of the element that it found.
        fingerprint: Further facts of it: `role`, `name`, `label`, `text`, `tag`, and `secret`.
    """
    known = fingerprint if isinstance(fingerprint, Mapping) else {}
    element = labels.element(selectors, "") or _element(known)
    return labels.action(action, element, hidden=bool(known.get("secret")))


def _element(known: Mapping[str, Any]) -> str:
    name = next((labels.plain(known[key], 60) for key in _NAMES if known.get(key)), "")
    return f"{known.get('role') or known.get('tag') or ''} “{name}”".strip() if name else ""
