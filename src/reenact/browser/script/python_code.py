"""Write a session as Python: actions as calls, values as literals, remarks as comments.

The code is one syntax tree. A page's text never becomes code: it is a constant of the tree, or one line of a comment.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from reenact.analysis.report import python
from reenact.browser.actions.types import MASK

_ID = frozenset({"id", "selector", "timeout"})
_TOKEN = re.compile(r"\[\[secret:[^\]]*\]\]")


@dataclass(frozen=True)
class RecordedAction:
    """One action as it was recorded."""

    kind: str
    fields: Mapping[str, Any]
    success: bool
    message: str
    selectors: Mapping[str, Any]
    agent: bool = False


@dataclass
class ActionGroup:
    """Consecutive actions of one actor.

    Attributes:
        task: The task of the agent, or of the block in which the script did them.
        block: The block's number, from 1; 0 for none.
        heal: The block's `heal` option, if it is not the default.
    """

    actor: str
    agent: str = ""
    task: str = ""
    block: int = 0
    heal: str = ""
    actions: list[RecordedAction] = field(default_factory=list)


def fields_of(done: RecordedAction) -> dict[str, Any]:
    """Return an action's fields, with durable selectors instead of an observation's id."""
    fields = {name: value for name, value in done.fields.items() if name not in _ID}
    if "id" in done.fields or "selector" in done.fields:
        selector = dict(done.selectors) or done.fields.get("selector")
        aim = {"selector": selector} if selector else {"id": done.fields.get("id")}
        fields = {**aim, **fields}
        if "timeout" in done.fields and not done.agent:
            fields["timeout"] = done.fields["timeout"]
    return fields


def is_secret(value: Any) -> bool:
    """Return True if the value contains a masked secret."""
    return isinstance(value, str) and (MASK in value or _TOKEN.search(value) is not None)


PREFIX = "REENACT_INPUT_"
"""The beginning of each variable's name.

A page can influence the rest, and must not be able to name other variables of the environment.
"""


class SecretNames:
    """Environment variables for secrets: one for each field that contained one."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def of(self, done: RecordedAction, part: str = "") -> str:
        """Return the variable for an element's secret; the same element gets the same one."""
        aim = done.selectors or {"given": done.fields.get("selector") or done.fields.get("on")}
        key = part or json.dumps(aim, sort_keys=True, default=str)
        if key not in self._known:
            word = _variable(part or _label(aim))
            self._counts[word] += 1
            # No label ends in two underscores and a number, so a page cannot choose another field's name.
            number = self._counts[word]
            self._known[key] = f"{PREFIX}{word}" if number == 1 else f"{PREFIX}{word}__{number}"
        return self._known[key]


_LABELS = (
    r"""name=["']([^"']+)""",
    r"""get_by_(?:label|placeholder|test_id)\((?:re\.compile\()?["']([^"']+)""",
    r"#([\w-]+)",
)
"""Patterns of an element's name in its selectors, the best first."""


def _label(selectors: Mapping[str, Any]) -> str:
    """Return an element's name from its selectors: its label, or its id."""
    texts = [value for value in selectors.values() if isinstance(value, str)]
    for pattern in _LABELS:
        for text in texts:
            if found := re.search(pattern, text):
                return found[1]
    return "secret"


def _variable(text: str) -> str:
    word = re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_")[:40]
    return word if word and not word[0].isdigit() else "SECRET"


# -- as Python ---------------------------------------------------------------------------------------------------


_OF_THIS_MACHINE = frozenset({
    "cdp_url", "chrome_args", "cookie_file", "downloads", "executable_path", "home", "model", "profile",
})  # fmt: skip
"""Options of a session that name programs, files or addresses of the recording's machine."""


class ScriptWriter:
    """Writes the script, as a syntax tree.

    Args:
        recording: The recording's id, for the first line.
    """

    def __init__(self, recording: str) -> None:
        self._recording = recording
        self._names = SecretNames()
        self._secrets = self._patterns = self._suppresses = False

    def script(self, stretches: Sequence[ActionGroup], options: Mapping[str, Any]) -> str:
        """Return the whole script."""
        body: list[ast.stmt] = []
        for _, together in groupby(stretches, _block_of):
            body += self._stretches(list(together))
        used = {"contextlib": self._suppresses, "os": self._secrets, "re": self._patterns}
        imports = [python.imported(name) for name, is_used in used.items() if is_used]
        own = {name: value for name, value in options.items() if name not in _OF_THIS_MACHINE}
        return python.source(
            [
                python.docstring(
                    [
                        f"Recording {_one_line(self._recording)}, as a script. Written by `reenact export-script`."
                    ]
                ),
                python.Blank(),
                *([*imports, python.Blank()] if imports else []),
                python.imported("reenact", "Client"),
                python.Blank(),
                ast.Assign([ast.Name("client", ast.Store())], python.call(python.name("Client"))),
                python.Blank(),
                *(
                    python.Comment(f"Left out, as it is of the machine that recorded: {name}={value!r}")
                    for name, value in options.items()
                    if name in _OF_THIS_MACHINE
                ),
                python.within(
                    python.call(python.dotted("client.Session"), (), _written(own)), body, "session"
                ),
            ]
        )

    def _stretches(self, together: Sequence[ActionGroup]) -> list[ast.stmt]:
        """Return the statements of one block, of an agent, or of one part of the script."""
        first = together[0]
        if not first.block and first.actor != "agent":
            return [line for done in first.actions for line in self._action(done)]
        body: list[ast.stmt] = []
        for done in (done for stretch in together for done in stretch.actions):
            if done.success:
                body += self._action(done)
            else:  # a failing call would start an agent; the agent's recorded actions follow
                body.append(python.Comment(f"{done.kind} failed: {done.message}"))
        options = _written({"task": first.task, **({"heal": first.heal} if first.heal else {})})
        return [
            python.within(
                python.call(python.dotted("client.AgentFallback"), [python.name("session")], options), body
            )
        ]

    def _action(self, done: RecordedAction) -> list[ast.stmt]:
        if done.kind == "set_cookies":
            return [
                python.Comment("Cookies were set here; their values are not in the recording:"),
                python.Comment('session.set_cookies(cookie_file="cookies.json")'),
            ]
        failed = not done.success
        said: list[ast.stmt] = [python.Comment(f"It failed: {done.message}")] if failed else []
        if done.kind.startswith("page."):
            return [*said, *self._page(done, failed=failed)]
        fields = {name: self._literal(done, name, value, said) for name, value in fields_of(done).items()}
        more = {"raise_on_failure": False} if failed else {}
        arguments = _written({"type": done.kind, **fields, **more})
        return [*said, ast.Expr(python.call(python.dotted("session.execute"), (), arguments))]

    def _page(self, done: RecordedAction, *, failed: bool) -> list[ast.stmt]:
        """Return the statements of a call of `session.page`, which is Playwright's."""
        target = str(done.fields.get("on") or "page")
        given = list(done.fields.get("args") or ())
        described = _described(target)
        method = done.kind[5:]
        if described is None or not _plain(given) or not python.is_name(method):
            text = f"Left out, as it holds what only that browser had: {target}.{method}(...)"
            return [python.Comment(text)]
        said: list[ast.stmt] = []
        first = [_node(self._literal(done, f"{place}", value, said)) for place, value in enumerate(given)]
        options = {name: value for name, value in done.fields.items() if name not in {"on", "args"}}
        called = python.call(ast.Attribute(described, method, ast.Load()), first, _written(options))
        self._patterns = self._patterns or "re.compile(" in target
        if not failed:
            return [*said, ast.Expr(called)]
        # The call raised, and the script went on or ended.
        self._suppresses = True
        suppressed = python.call(python.dotted("contextlib.suppress"), [python.name("Exception")])
        return [*said, python.within(suppressed, [ast.Expr(called)])]

    def _literal(self, done: RecordedAction, name: str, value: Any, said: list[ast.stmt]) -> Any:
        if isinstance(value, Mapping) and name == "value":
            return {key: self._literal(done, key, one, said) for key, one in value.items()}
        if not is_secret(value):
            return value
        self._secrets = True
        said.append(python.Comment("A secret was filled in here: it is not in the recording."))
        part = name if name != "value" and not done.kind.startswith("page.") else ""
        variable = ast.Constant(self._names.of(done, part))
        return ast.Subscript(python.dotted("os.environ"), variable, ast.Load())


def _block_of(stretch: ActionGroup) -> int:
    """Return the grouping key: the same for all groups of a block, unique for others."""
    return stretch.block or -id(stretch)


_DESCRIBING = frozenset({
    "and_", "content_frame", "context", "filter", "first", "frame_locator", "get_by_alt_text", "get_by_label",
    "get_by_placeholder", "get_by_role", "get_by_test_id", "get_by_text", "get_by_title", "keyboard", "last", "locator",
    "main_frame", "mouse", "nth", "or_", "owner", "touchscreen", "clock", "frame",
})  # fmt: skip
"""Names that a description of an element may use."""


def _described(target: str) -> ast.expr | None:
    """Return `session.` and an expression that only describes an element, or None."""
    try:
        tree = ast.parse(target, mode="eval").body
        return python.as_unparsed(_describing(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError, _Other):
        return None


class _Other(Exception):
    """An expression that does more than describe an element."""


def _describing(node: ast.expr) -> ast.expr:
    """Rebuild an expression that only describes elements. Raises _Other for any other."""
    match node:
        case ast.Name("page"):
            return python.dotted("session.page")
        case ast.Attribute(value, name) if name in _DESCRIBING:
            return ast.Attribute(_describing(value), name, ast.Load())
        case ast.Call(ast.Attribute(ast.Name("re"), "compile"), arguments, []):
            return python.call(python.dotted("re.compile"), [_flag(one) for one in arguments])
        case ast.Call(ast.Attribute(value, name), arguments, options) if name in _DESCRIBING:
            given = {option.arg: _describing(option.value) for option in options if option.arg}
            if len(given) < len(options) or not all(map(python.is_name, given)):
                raise _Other
            function = ast.Attribute(_describing(value), name, ast.Load())
            return python.call(function, [_describing(one) for one in arguments], given)
    try:
        return python.literal(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError):
        raise _Other from None


def _flag(node: ast.expr) -> ast.expr:
    match node:
        case ast.Attribute(ast.Name("re"), name) if name.isalpha() and name.isupper():
            return python.dotted(f"re.{name}")
        case ast.BinOp(left, ast.BitOr(), right):
            return ast.BinOp(_flag(left), ast.BitOr(), _flag(right))
        case ast.Constant():
            return ast.Constant(node.value)
    raise _Other


def _plain(value: Any) -> bool:
    """Return True if a value can be written as a literal, without the browser's objects."""
    if isinstance(value, Mapping):
        return not {"element", "pattern"} & value.keys() and all(map(_plain, value.values()))
    return all(map(_plain, value)) if isinstance(value, list | tuple) else True


def _written(values: Mapping[str, Any]) -> dict[str, ast.expr]:
    return {name: _node(value) for name, value in values.items()}


def _node(value: Any) -> ast.expr:
    """Return a value's literal, or its `repr` as a text if it has none."""
    if isinstance(value, Mapping):
        return ast.Dict([_node(key) for key in value], [_node(one) for one in value.values()])
    if isinstance(value, list | tuple):
        return ast.List([_node(one) for one in value], ast.Load())
    try:
        return python.literal(value)
    except python.Unwritable:
        return ast.Constant(repr(value))


def _one_line(text: str) -> str:
    return python.one_line(text).replace('"""', "'''").replace("\\", "/")
