"""Python as text: actions as calls, values as literals, remarks as comments.

Nothing that a page said ends up as code: texts are string literals, and in comments stand on one line.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from reenact.browser.actions import MASK

WIDTH = 100
"""Longer lines are broken up."""

_ID = frozenset({"id", "selector", "timeout"})
_TOKEN = re.compile(r"\[\[secret:[^\]]*\]\]")


@dataclass(frozen=True)
class Done:
    """One action as it was recorded."""

    kind: str
    fields: Mapping[str, Any]
    success: bool
    message: str
    selectors: Mapping[str, Any]
    agent: bool = False


@dataclass
class Stretch:
    """Actions of one actor, one after the other.

    Attributes:
        task: The agent's, or that of the block in which the script did them.
        block: The block's number, from 1; 0 outside of any.
        heal: Who helps in it, where that is not as always.
    """

    actor: str
    agent: str = ""
    task: str = ""
    block: int = 0
    heal: str = ""
    actions: list[Done] = field(default_factory=list)


def fields_of(done: Done) -> dict[str, Any]:
    """An action's fields, with a durable selector for an element that was named by its place in an observation."""
    fields = {name: value for name, value in done.fields.items() if name not in _ID}
    if "id" in done.fields or "selector" in done.fields:
        selector = dict(done.selectors) or done.fields.get("selector")
        aim = {"selector": selector} if selector else {"id": done.fields.get("id")}
        fields = {**aim, **fields}
        if "timeout" in done.fields and not done.agent:
            fields["timeout"] = done.fields["timeout"]
    return fields


def is_secret(value: Any) -> bool:
    """Whether a secret stood there."""
    return isinstance(value, str) and (MASK in value or _TOKEN.search(value) is not None)


class Names:
    """Environment variables for secrets: one for each field that held one."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, done: Done, part: str = "") -> str:
        """The variable for what was filled into that element; the same element gets the same one."""
        aim = done.selectors or {"given": done.fields.get("selector") or done.fields.get("on")}
        key = part or json.dumps(aim, sort_keys=True, default=str)
        if key not in self._known:
            word = _variable(part or _label(aim))
            taken = set(self._known.values())
            names = [word, *(f"{word}_{number}" for number in range(2, len(taken) + 3))]
            self._known[key] = next(name for name in names if name not in taken)
        return self._known[key]


_LABELS = (
    r"""name=["']([^"']+)""",
    r"""get_by_(?:label|placeholder|test_id)\((?:re\.compile\()?["']([^"']+)""",
    r"#([\w-]+)",
)
"""What an element is called by one of its selectors, the best first."""


def _label(selectors: Mapping[str, Any]) -> str:
    """What an element is called, by its selectors: its label, or its id."""
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


@dataclass(frozen=True)
class _Code:
    """Python as it stands, among values that are written as literals."""

    text: str


class Writer:
    """Writes the script, line by line.

    Args:
        recording: Where it comes from, for its first line.
    """

    def __init__(self, recording: str) -> None:
        self._recording = recording
        self._names = Names()
        self._lines: list[str] = []
        self._secrets = self._patterns = self._suppresses = False

    def script(self, stretches: Sequence[Stretch], options: Mapping[str, Any]) -> str:
        """The whole text."""
        opened = _call("with client.Session", options)
        opened[-1] += " as session:"
        self._lines += opened
        for _, together in groupby(stretches, _block_of):
            self._stretches(list(together))
        if not stretches:
            self._lines.append("    pass")
        used = {"contextlib": self._suppresses, "os": self._secrets, "re": self._patterns}
        imports = "".join(f"import {name}\n" for name, is_used in used.items() if is_used)
        head = [
            f'"""Recording {_one_line(self._recording)}, as a script. Written by `reenact export-script`."""\n',
            *([imports] if imports else []),
            "from reenact import Client\n",
            "client = Client()\n",
        ]
        return "\n".join([*head, *self._lines]) + "\n"

    def _stretches(self, together: Sequence[Stretch]) -> None:
        """Those of one block, an agent's, or one of the script's."""
        first = together[0]
        if not first.block and first.actor != "agent":
            for done in first.actions:
                self._action(done, "    ")
            return
        heal = {"heal": first.heal} if first.heal else {}
        block = _call("    with client.AgentFallback", {"task": first.task, **heal}, "session")
        block[-1] += ":"
        self._lines += block
        indent = " " * 8
        before = len(self._lines)
        for done in (done for stretch in together for done in stretch.actions):
            if done.success:
                self._action(done, indent)
            else:  # there it would call an agent; what was done in its place comes next
                self._say(indent, f"{done.kind} failed: {done.message}")
        if all(line.lstrip().startswith("#") for line in self._lines[before:]):
            self._lines.append(f"{indent}pass")

    def _action(self, done: Done, indent: str) -> None:
        if done.kind == "set_cookies":
            self._say(indent, "Cookies were set here; their values are not in the recording:")
            self._say(indent, 'session.set_cookies(cookie_file="cookies.json")')
            return
        failed = not done.success
        if failed:
            self._say(indent, f"It failed: {done.message}")
        if done.kind.startswith("page."):
            self._page(done, indent, failed=failed)
            return
        fields = {}
        for name, value in fields_of(done).items():
            fields[name] = self._literal(done, name, value, indent)
        more = {"raise_on_failure": False} if failed else {}
        self._lines += _call(f"{indent}session.execute", {"type": done.kind, **fields, **more})

    def _page(self, done: Done, indent: str, *, failed: bool) -> None:
        """A call of `session.page`, which is Playwright's."""
        target = str(done.fields.get("on") or "page")
        given = list(done.fields.get("args") or ())
        if not _describes(target) or not _plain(given):
            self._say(
                indent, f"Left out, as it holds what only that browser had: {target}.{done.kind[5:]}(...)"
            )
            return
        first = [
            _written(self._literal(done, f"{place}", value, indent)) for place, value in enumerate(given)
        ]
        options = {name: value for name, value in done.fields.items() if name not in {"on", "args"}}
        self._patterns = self._patterns or "re.compile(" in target
        if failed:
            # It raised, and the script went on, or ended there.
            self._lines.append(f"{indent}with contextlib.suppress(Exception):")
            self._suppresses = True
            indent += "    "
        self._lines += _call(f"{indent}session.{target}.{done.kind[5:]}", options, *first)

    def _say(self, indent: str, text: str) -> None:
        self._lines.append(f"{indent}# {_one_line(text)}"[: WIDTH + 20])

    def _literal(self, done: Done, name: str, value: Any, indent: str) -> Any:
        if isinstance(value, Mapping) and name == "value":
            return {key: self._literal(done, key, one, indent) for key, one in value.items()}
        if not is_secret(value):
            return value
        self._secrets = True
        self._say(indent, "A secret was filled in here: it is not in the recording.")
        part = name if name != "value" and not done.kind.startswith("page.") else ""
        return _Code(f'os.environ["{self._names.of(done, part)}"]')


def _block_of(stretch: Stretch) -> int:
    """What belongs together: all of a block; else each stretch is by itself."""
    return stretch.block or -id(stretch)


def _describes(target: str) -> bool:
    """Whether that is an expression which only describes an element of the page, with nothing but literals in it."""
    try:
        tree = ast.parse(target, mode="eval")
    except (SyntaxError, ValueError):
        return False
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names <= {"page", "re"} and all(isinstance(node, _ALLOWED) for node in ast.walk(tree))


_ALLOWED = (
    ast.Expression, ast.Call, ast.Attribute, ast.Name, ast.Load, ast.Constant, ast.keyword, ast.List, ast.Tuple,
    ast.Dict, ast.UnaryOp, ast.USub, ast.BinOp, ast.BitOr,
)  # fmt: skip


def _plain(value: Any) -> bool:
    """Whether a value can be written down: no element, and no pattern, of the browser's."""
    if isinstance(value, Mapping):
        return not {"element", "pattern"} & value.keys() and all(map(_plain, value.values()))
    return all(map(_plain, value)) if isinstance(value, list | tuple) else True


def _call(function: str, arguments: Mapping[str, Any], *first: str) -> list[str]:
    """A call, on one line, or one line an argument where that is too long."""
    plain = {
        name: value
        for name, value in arguments.items()
        if name.isidentifier() and not keyword.iskeyword(name)
    }
    flat = (
        f"{function}({', '.join([*first, *(f'{name}={_written(value)}' for name, value in plain.items())])})"
    )
    if len(flat) <= WIDTH:
        return [flat]
    indent = " " * (len(function) - len(function.lstrip()) + 4)
    lines = [f"{function}(", *(f"{indent}{one}," for one in first)]
    for name, value in plain.items():
        lines += _argument(f"{indent}{name}=", value, indent)
    return [*lines, f"{indent[4:]})"]


def _argument(start: str, value: Any, indent: str) -> list[str]:
    flat = f"{start}{_written(value)},"
    if len(flat) <= WIDTH or not isinstance(value, Mapping):
        return [flat]
    inner = [
        line
        for key, one in value.items()
        for line in _argument(f"{indent}    {_written(key)}: ", one, indent + "    ")
    ]
    return [start + "{", *inner, indent + "},"]


def _written(value: Any) -> str:
    """A value as a literal."""
    match value:
        case _Code():
            return value.text
        case str():
            # JSON's strings are Python's, and read better; what does not print is spelt out.
            plain = value.isprintable() and value.count('"') <= value.count("'")
            return json.dumps(value, ensure_ascii=False) if plain else repr(value)
        case Mapping():
            return "{" + ", ".join(f"{_written(key)}: {_written(one)}" for key, one in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_written, value)) + "]"
    return repr(value)


def _one_line(text: str) -> str:
    return (
        "".join(letter if letter.isprintable() else " " for letter in text)
        .replace('"""', "'''")
        .replace("\\", "/")
    )
