"""Parse edits of a recorded answer: `output.status = "lost"`, `error = "KeyError: x"`.

A path leads into the answer as `reenact show ID STEP --json` shows it. The recorded types (a tuple, a Decimal, a
dataclass) around and inside of the changed value stay.
"""

from __future__ import annotations

import builtins
import copy
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.model.plain import error_line, plain
from reenact.core.patterns import lazy
from reenact.core.query.recorded_run import RecordedRun, Step
from reenact.core.replay.fit import fit, put
from reenact.core.replay.match import differences
from reenact.core.replay.watch import Edit
from reenact.errors import Mismatch, UsageError
from reenact.run.fork import answers

Change = Mapping[str, Any] | Callable[[Any], Any]
"""An edit: paths and values, or a function from the old output to the new one."""

ROOTS = ("output", "error", "text", "body")

_SETTING = lazy(r"\s*(?P<path>[A-Za-z_][^=\s]*)\s*=\s*(?P<value>.*)", re.DOTALL)
_ERROR = lazy(r"(?P<type>[A-Za-z_][\w.:]*)\s*(?::\s*(?P<text>.*))?", re.DOTALL)


def parse(settings: Iterable[str]) -> dict[str, Any]:
    """Parse the `--set` options: `path = value`, the value JSON or bare text. Raises UsageError."""
    found: dict[str, Any] = {}
    for text in settings:
        match = _SETTING.fullmatch(text)
        if match is None:
            raise UsageError(f"--set {text!r}: write a path and a value, such as 'output.status = \"lost\"'")
        try:
            value = orjson.loads(match["value"])
        except orjson.JSONDecodeError:
            value = match["value"].strip()
            if value[:1] in ('"', "{", "["):
                raise UsageError(f"--set {text!r}: the value is no JSON; bare text needs no quotes") from None
        found[match["path"].removeprefix("outcome.")] = value
    return found


def edit_of(recording: RecordedRun, step: Step, change: Change) -> Edit:
    """Return the edit of a step's answer. Raises UsageError if it does not fit the answer."""
    old = _recorded(step)
    if callable(change):
        return _computed(step, old, change)
    if not change:
        raise UsageError("an edit without a change: say what, such as {'output': 'lost'}")
    where = f"step {step.number} ({step.call.label})"
    for path, value in change.items():
        root = re.split(r"[.\[]", path, maxsplit=1)[0]
        rest = path[len(root) :].lstrip(".")
        if root not in ROOTS:
            raise UsageError(f"{path}: an edit begins with {', '.join(ROOTS)}, as output.status")
        if root == "error":
            old = Edit(error=_error(recording, value, rest))
        elif root == "text":
            old = answers.said(step, old, _text(value, rest), where)
        elif root == "body":
            old = answers.body(step, old, rest, value, where)
        else:
            old = _output(step, old, rest, value, where)
    return old


def edited(before: Step, after: Step) -> list[Mismatch]:
    """Return the differences of a step's answer in a fork from that in its parent."""

    def answer(step: Step) -> tuple[str, Any]:
        found = _recorded(step)
        if found.error is not None:
            return "error", error_line(found.error)
        return "output", plain(found.value if found.pieces is None else list(found.pieces))

    (old, was), (new, now) = answer(before), answer(after)
    if old != new:
        return [Mismatch(new, was, now)]
    return [replace(one, path=one.path.removeprefix("args.")) for one in differences({old: was}, {new: now})]


def _recorded(step: Step) -> Edit:
    """Return the recorded answer, as an edit that changes nothing."""
    call, log = step.call, step.log
    outcome = call.outcome or {}
    if "error" in outcome:
        return Edit(error=outcome["error"])
    value = copy.deepcopy(log.filled(outcome.get("value")))
    if not outcome.get("stream"):
        return Edit(value=value)
    return Edit(value=value, pieces=tuple(copy.deepcopy(log.filled(tree)) for _, _, tree in call.pieces))


def _output(step: Step, old: Edit, rest: str, value: Any, where: str) -> Edit:
    if step.call.kind == "http" and re.match(r"body\b", rest):
        raise UsageError(
            f"{where}: the body of an HTTP answer is set as {rest} = …, without output, or as text = …"
        )
    if step.call.kind == "model" and isinstance(value, str) and not rest and isinstance(old.value, dict):
        raise UsageError(f"{where}: a model's answer is more than its text: set text = …")
    if old.error is not None:
        if rest:
            raise UsageError(f"{where} raised an error: there is no output to change; set output as a whole")
        return Edit(value=_tree(value))
    if old.pieces is not None and not rest:
        if not isinstance(value, (list, tuple)):
            raise UsageError(f"{where} is a stream: output is the list of its chunks; or set text, or body")
        last = len(old.pieces) - 1
        like = [old.pieces[min(place, last)] if old.pieces else None for place in range(len(value))]
        return Edit(old.value, tuple(fit(one, new, where) for one, new in zip(like, value, strict=True)))
    changed = put(old.value, rest, value, where) if rest else fit(old.value, value, where)
    return Edit(changed, old.pieces)


def _computed(step: Step, old: Edit, change: Callable[[Any], Any]) -> Edit:
    # The program's own function gets the objects of its own classes.
    given: Any
    if old.error is not None:
        given = codec.rebuild_error(old.error)
    else:
        given = codec.rebuild(old.value if old.pieces is None else list(old.pieces))
    new = change(given)
    if isinstance(new, BaseException):
        return Edit(error=codec.encode_error(new, codec.Encoder()))
    if old.pieces is not None:
        if not isinstance(new, (list, tuple)):
            raise UsageError(f"step {step.number} is a stream: the edit has to give the list of its chunks")
        return Edit(old.value, tuple(_tree(item) for item in new))
    return Edit(value=_tree(new))


def _error(recording: RecordedRun, value: Any, rest: str) -> Tree:
    if isinstance(value, BaseException):
        return codec.encode_error(value, codec.Encoder())
    match = _ERROR.fullmatch(value) if isinstance(value, str) and not rest else None
    if match is None:
        raise UsageError(f"error = {value!r}: write a type and a text, such as 'ToolError: no such order'")
    text = (match["text"] or "").strip()
    kind = _type(recording, match["type"])
    return {"type": kind, "text": text, "args": [text] if text else []}


def _type(recording: RecordedRun, name: str) -> str:
    """Return the full name of an exception's type: as written, built-in, or recorded."""
    if ":" in name:
        return name
    if isinstance(kind := getattr(builtins, name, None), type) and issubclass(kind, BaseException):
        return f"builtins:{name}"
    module, _, short = name.rpartition(".")
    for step in recording:
        for tree in ((step.call.outcome or {}).get("error"), step.call.end):
            if isinstance(tree, dict) and str(tree.get("type")).rpartition(":")[2] == short:
                return str(tree["type"])
    if not module:
        raise UsageError(
            f"error: no {name} is known; name its module too: error = 'package.module:{name}: text'"
        )
    return f"{module}:{short}"


def _text(value: Any, rest: str) -> str:
    if rest or not isinstance(value, str):
        raise UsageError("text = …: the text of the new answer, and nothing else")
    return value


def _tree(value: Any) -> Tree:
    encoder = codec.Encoder()
    tree = encoder.encode(value)
    if encoder.unkept:
        raise UsageError(f"an edit with a value of type {encoder.unkept[0]}, which cannot be kept")
    return tree
