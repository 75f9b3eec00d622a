"""The differences between two paired steps, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from reenact.analysis.diff.content import Content, said, settled
from reenact.analysis.diff.result import Difference
from reenact.core.align.subsequence import common
from reenact.core.messages import Message, ToolCall
from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.model.plain import compact, plain
from reenact.core.replay.match import Rules, mismatches, same
from reenact.errors import ABSENT

_MANY = 12


def differences(a: Content, b: Content, rules: Rules) -> tuple[Difference, ...]:
    """Return the differences between two steps of one family, except those that rules remove."""
    found: list[Difference] = []
    if a.inside or b.inside:
        pass
    elif a.turn is not None and b.turn is not None:
        found += _settings(a, b, rules)
        if a.question != b.question:
            found += _messages(a.turn.new, b.turn.new)
        found += _answers(a, b)
    else:
        log = a.facts.step.log, b.facts.step.log
        args = log[0].args(a.facts.call), log[1].args(b.facts.call)
        found += parts(args[0], args[1], "args", a.facts.call.label, rules)
        if a.answer != b.answer:
            found += _grown(a.outputs, b.outputs)
    if a.error != b.error:
        found.append(Difference("error", a.error or ABSENT, b.error or ABSENT))
    elif a.facts.call.status != b.facts.call.status:
        found.append(Difference("ended", a.facts.call.status, b.facts.call.status))
    return tuple(found)


def parts(
    a: Mapping[str, Tree], b: Mapping[str, Tree], root: str, label: str, rules: Rules | None = None
) -> list[Difference]:
    """Return the differences of two sets of named trees; whole values if nothing is in common."""
    if same(a, b):
        return []
    one, other = settled(dict(a)), settled(dict(b))
    found = mismatches(label, one, other, rules or Rules())
    told: list[Difference] = []
    for name in dict.fromkeys((*one, *other)):
        path = f"args.{name}"
        own = [item for item in found if item.path == path or item.path.startswith((f"{path}.", f"{path}["))]
        if len(own) > _MANY:
            whole = one.get(name, ABSENT), other.get(name, ABSENT)
            told.append(Difference(_named(path, root), *(_spread(tree) for tree in whole)))
        else:
            told += [
                Difference(_named(item.path, root), _shown(item.recorded), _shown(item.actual))
                for item in own
            ]
    return told


def _grown(a: Mapping[str, Tree], b: Mapping[str, Tree]) -> list[Difference]:
    """Return the differences of parts of an answer, to which no rules apply."""
    return parts(a, b, "", "")


def _named(path: str, root: str) -> str:
    return path if root == "args" else f"{root}.{path[5:]}" if root else path[5:]


def _shown(tree: Any) -> Any:
    return tree if tree is ABSENT else plain(tree)


def _spread(tree: Any) -> Any:
    """Return a value as indented JSON, so that its words can be marked."""
    shown = _shown(tree)
    if isinstance(shown, str):
        return shown
    return orjson.dumps(shown, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()


# -- model calls ---------------------------------------------------------------------------------------------


def _settings(a: Content, b: Content, rules: Rules) -> list[Difference]:
    if a.facts.call.kind != b.facts.call.kind:
        models = [content.turn.call.model for content in (a, b) if content.turn is not None]
        return [Difference("args.model", *models)] if models[0] != models[1] else []
    return parts(a.settings(), b.settings(), "args", a.facts.call.label, rules)


def _messages(a: Sequence[Message], b: Sequence[Message]) -> Iterator[Difference]:
    """Compare the new messages of both sides; those between equal ones by role."""
    keys = [[codec.packed(settled(said(message))) for message in side] for side in (a, b)]
    for one, other in gaps_with_ends(common(*keys), (len(a), len(b))):
        left = list(other)
        for i in one:
            j = next((j for j in left if (b[j].role, b[j].name) == (a[i].role, a[i].name)), None)
            if j is None:
                yield Difference(f"new_messages[{i}]", _spelled(a[i]), ABSENT, _who(a[i]))
            else:
                left.remove(j)
                yield from _message(a[i], b[j], f"new_messages[{i}]")
        for j in left:
            yield Difference(f"new_messages[{j}]", ABSENT, _spelled(b[j]), _who(b[j]))


def gaps_with_ends(
    anchors: Sequence[tuple[int, int]], lengths: tuple[int, int]
) -> Iterator[tuple[range, range]]:
    """Yield as `gaps` does, also the gaps with only one side."""
    i = j = 0
    for p, q in [*anchors, lengths]:
        if i < p or j < q:
            yield range(i, p), range(j, q)
        i, j = p + 1, q + 1


def _message(a: Message, b: Message, path: str) -> Iterator[Difference]:
    who = _who(a)
    one, other = settled(a.text), settled(b.text)
    if one.strip() != other.strip():
        yield Difference(f"{path}.text", one, other, who)
    if path == "answer" and a.thinking != b.thinking:
        yield Difference(f"{path}.thinking", settled(a.thinking), settled(b.thinking), who)
    for place in range(max(len(a.calls), len(b.calls))):
        left = a.calls[place] if place < len(a.calls) else None
        right = b.calls[place] if place < len(b.calls) else None
        yield from _call(left, right, f"{path}.calls[{place}]", who)


def _call(a: ToolCall | None, b: ToolCall | None, path: str, who: str) -> Iterator[Difference]:
    if a is not None and b is not None and a.name == b.name:
        for found in _grown({"args": a.args}, {"args": b.args}):
            where = found.path.removeprefix("args")
            yield Difference(f"{path}.args{where}", found.a, found.b, f"{who} calls {a.name}")
    else:
        left, right = (ABSENT if call is None else spelled(call) for call in (a, b))
        yield Difference(path, left, right, who)


def _answers(a: Content, b: Content) -> Iterator[Difference]:
    if a.answer == b.answer or a.turn is None or b.turn is None:
        return
    one, other = a.turn.call.answer, b.turn.call.answer
    if one is not None and other is not None:
        yield from _message(one, other, "answer")
    elif one is not other:
        yield Difference(
            "answer", *(ABSENT if answer is None else _spelled(answer) for answer in (one, other))
        )
    problems = a.turn.call.problem, b.turn.call.problem
    if problems[0] != problems[1]:
        yield Difference("answer.problem", *(problem or ABSENT for problem in problems))


def spelled(call: ToolCall) -> str:
    """A tool call on one line."""
    return f"{call.name}({compact(settled(call.args)) if call.args is not None else ''})"


def _spelled(message: Message) -> str:
    told = [settled(message.text)] if message.text.strip() else []
    return "\n".join([*told, *map(spelled, message.calls)])


def _who(message: Message) -> str:
    named = message.name and message.name != "instructions"
    return f"{message.role} {message.name}" if named else message.role
