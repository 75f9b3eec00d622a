"""The calls of `execute(...)` in a user's script, with their selectors.

The script is parsed (libcst) and never run. Only a selector that is a literal in the call can be changed; one that is
computed, named or used in a loop is reported with its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from reenact.browser.actions import types as do
from reenact.errors import UsageError

_EXECUTES = frozenset({"execute", "aexecute"})
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MODELS = {kind.__name__: name for name, kind in do.TYPES.items()}


class UnchangeableSelector(Exception):
    """A selector that a program cannot change."""


@dataclass(frozen=True)
class ScriptCall:
    """One call of `execute` in the script.

    Attributes:
        lines: Its first and its last line.
        function: The function that contains it, or `<module>`.
        kind: The type of its action, or None if that is no literal.
        value: Its selector, or None if that is no literal.
        at: The place of that literal, or None.
        why: The reason that its selector cannot be changed, or empty.
    """

    lines: tuple[int, int]
    function: str
    kind: str | None
    value: Any
    at: CodeRange | None
    why: str

    def may_be(self, action: str) -> bool:
        """Return True if the call may do an action of that type."""
        return self.kind is None or self.kind == action


class ScriptSource:
    """The parsed text of a script.

    Args:
        data: The bytes of the file, in the encoding that it declares.
        name: The script's name, for errors.

    Attributes:
        calls: Its calls of `execute`, from its top.

    Raises:
        UsageError: The text cannot be parsed as Python.
    """

    def __init__(self, data: bytes, name: str) -> None:
        try:
            wrapper = MetadataWrapper(cst.parse_module(data))
            reader = _CallCollector()
            wrapper.visit(reader)
        except (cst.ParserSyntaxError, UnicodeDecodeError, LookupError, RecursionError) as error:
            line = f", line {error.editor_line}" if isinstance(error, cst.ParserSyntaxError) else ""
            raise UsageError(f"{name}{line}: this is no Python that can be read") from None
        self._encoding, self._end = wrapper.module.encoding, wrapper.module.default_newline
        self._lines = _LINE.findall(wrapper.module.code)
        self.calls: Sequence[ScriptCall] = reader.found

    def literal(self, number: int) -> tuple[str, int, str]:
        """Return the beginning of a call's literal, its column, and the indentation of its line."""
        place = self._at(number).start
        line = self._lines[place.line - 1]
        return line[place.column :], place.column, line[: len(line) - len(line.lstrip())]

    def replaced(self, literals: Mapping[int, str]) -> bytes:
        """Return the script's bytes with some selectors replaced by other literals.

        Args:
            literals: By the number of the call: Python's text of the new literal.
        """
        lines = list(self._lines)
        # Replace from the bottom up, so that the places above stay valid.
        for number in sorted(literals, key=lambda one: _start(self._at(one)), reverse=True):
            start, end = self._at(number).start, self._at(number).end
            before = lines[start.line - 1][: start.column]
            after = lines[end.line - 1][end.column :]
            text = literals[number].replace("\n", self._end)
            lines[start.line - 1 : end.line] = [before + text + after]
        return "".join(lines).encode(self._encoding)

    def _at(self, number: int) -> CodeRange:
        at = self.calls[number].at
        assert at is not None
        return at

    def find(self, action: str, old: Any, line: int, function: str, *, same: bool) -> int:
        """Return the number of the call that asked for a selector.

        Args:
            action: The type of its action.
            old: The selector that it asked for.
            line: The line of the call in that run.
            function: The function that contained it.
            same: True if the script is unchanged since that run. Then the line decides, else the selector, which must
                occur exactly once.

        Raises:
            UnchangeableSelector: The call cannot be changed, or is ambiguous.
        """
        fits = [number for number, call in enumerate(self.calls) if call.may_be(action)]
        here = [
            number for number in fits if self.calls[number].lines[0] <= line <= self.calls[number].lines[1]
        ]
        exact = [number for number in here if self.calls[number].value == old]
        if same or any(self.calls[number].value is None for number in here):
            if len(exact) == 1:
                return self._reached(exact[0])
            raise UnchangeableSelector(self._missed(here, exact, same=same))
        return self._reached(self._moved(fits, old, function))

    def _reached(self, number: int) -> int:
        if self.calls[number].why:
            raise UnchangeableSelector(self.calls[number].why)
        return number

    def _missed(self, here: Sequence[int], exact: Sequence[int], *, same: bool) -> str:
        if exact:
            return "several calls in this line have that selector"
        whys = [self.calls[number].why for number in here if self.calls[number].why]
        if whys:
            return whys[0]
        if not same:
            return "the script has changed since"
        return "the call in this line has another selector" if here else "no call of execute() in this line"

    def _moved(self, fits: Sequence[int], old: Any, function: str) -> int:
        """Return the one call with that selector in a script that has changed since."""
        equal = [number for number in fits if self.calls[number].value == old]
        near = [number for number in equal if self.calls[number].function == function.rpartition(".")[2]]
        for found in (equal, near):
            if len(found) == 1:
                return found[0]
        if not equal:
            raise UnchangeableSelector("the script has changed since, and no call has that selector any more")
        lines = ", ".join(str(self.calls[number].lines[0]) for number in equal)
        raise UnchangeableSelector(
            f"the script has changed since, and {len(equal)} calls have that selector (lines {lines})"
        )


class _CallCollector(cst.CSTVisitor):
    """Collects the calls of `execute`."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        self.found: list[ScriptCall] = []
        self._within: list[str] = []
        self._set: dict[str, list[int]] = {}

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef):
            self._within.append(node.name.value)
        elif isinstance(node, cst.Lambda):
            self._within.append("<lambda>")
        elif isinstance(node, _LOOPS):
            self._within.append("")
        elif isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Name):
            self._set.setdefault(node.target.value, []).append(self._place(node).start.line)
        elif isinstance(node, cst.Call) and _is_execute(node):
            self.found.append(self._read(node))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, (cst.FunctionDef, cst.Lambda, *_LOOPS)):
            self._within.pop()

    def _place(self, node: cst.CSTNode) -> CodeRange:
        place = self.get_metadata(PositionProvider, node)
        assert isinstance(place, CodeRange)
        return place

    def _read(self, call: cst.Call) -> ScriptCall:
        place = self._place(call)
        function = next((name for name in reversed(self._within) if name), "<module>")
        kind, value, at, why = None, None, None, ""
        try:
            fields = _fields(call)
            kind = _kind(fields)
            node = _selector(fields)
            at = self._place(node)
            value = self._literal(node)
        except UnchangeableSelector as beyond:
            at, why = None, str(beyond)
        if not why and self._within and not self._within[-1]:
            why = "the call stands in a loop: it may mean another element each time"
        return ScriptCall((place.start.line, place.end.line), function, kind, value, at, why)

    def _literal(self, node: cst.BaseExpression) -> Any:
        """Return the value of a selector's literal."""
        if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)):
            text = node.evaluated_value
            if isinstance(text, str):
                return text
        if isinstance(node, cst.Dict):
            return {key: self._literal(one) for key, one in _items(node)}
        if isinstance(node, cst.Name):
            lines = self._set.get(node.value, [])
            where = f"in line {lines[0]}" if len(lines) == 1 else "elsewhere"
            raise UnchangeableSelector(f"the selector is the name {node.value}, which is set {where}")
        if isinstance(node, (cst.FormattedString, cst.ConcatenatedString)):
            raise UnchangeableSelector("the selector is an f-string")
        raise UnchangeableSelector("the selector is computed")


def _start(at: CodeRange) -> tuple[int, int]:
    return at.start.line, at.start.column


_LOOPS = (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def _is_execute(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _EXECUTES


def _fields(call: cst.Call) -> dict[str, cst.BaseExpression]:
    """Return the fields of the action that a call asks for, each as its source expression."""
    fields: dict[str, cst.BaseExpression] = {}
    unpacked = ""
    for arg in call.args:
        if arg.star:
            unpacked = arg.star
        elif arg.keyword is not None and arg.keyword.value != "action":
            fields[arg.keyword.value] = arg.value
        else:
            fields |= _of_action(arg.value)
    if unpacked and "selector" not in fields:
        raise UnchangeableSelector(f"the arguments are unpacked ({unpacked})")
    return fields


def _of_action(node: cst.BaseExpression) -> dict[str, cst.BaseExpression]:
    """Return the fields of a positional action: its type, a dict, or a model."""
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)):
        return {"type": node}
    if isinstance(node, cst.Dict):
        return dict(_items(node))
    if isinstance(node, cst.Call):
        named = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        name = named.value if isinstance(named, cst.Name) else ""
        if name in _MODELS:
            fields = {one.keyword.value: one.value for one in node.args if one.keyword is not None}
            return {"type": cst.SimpleString(repr(_MODELS[name])), **fields}
    raise UnchangeableSelector("the action is made elsewhere, not in the call")


def _items(node: cst.Dict) -> list[tuple[str, cst.BaseExpression]]:
    found = []
    for one in node.elements:
        if not isinstance(one, cst.DictElement):
            raise UnchangeableSelector("the dict is unpacked (**)")
        if not isinstance(one.key, cst.SimpleString):
            raise UnchangeableSelector("the dict's keys are computed")
        found.append((str(one.key.evaluated_value), one.value))
    return found


def _kind(fields: Mapping[str, cst.BaseExpression]) -> str | None:
    node = fields.get("type")
    return str(node.evaluated_value) if isinstance(node, cst.SimpleString) else None


def _selector(fields: Mapping[str, cst.BaseExpression]) -> cst.BaseExpression:
    if "selector" in fields:
        return fields["selector"]
    if "id" in fields:
        raise UnchangeableSelector("the element is named by its id in an observation, not by a selector")
    raise UnchangeableSelector("the call has no selector")
