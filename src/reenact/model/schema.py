"""Check each line of a recording against the format, so that no reader meets a member of the wrong type.

`docs/format.md` documents the events and their members. Unknown events and unknown members pass: a reader skips them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from reenact.model import delta
from reenact.model.event import Tree

DEEPEST = 300
"""How many levels the objects and lists of a line may be nested. A recorder writes at most 254 of them in a value."""

TAGS, TAG = 1000, 1000
"""How many tags a recording may have, and how many characters each."""

_MOST = 1 << 53
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
_HEX = re.compile(r"(?:[0-9a-f]{2}){0,128}")
_ADDRESS = re.compile(r"sha256:[0-9a-f]{64}")


class Unfit(ValueError):
    """A line is not as the format says; the text says which member and why."""


Test: TypeAlias = Callable[[Any], bool]
Members: TypeAlias = Mapping[str, Test]


def members(tree: Mapping[str, Tree], tests: Members) -> str:
    """The name of the first member that fails its test; empty if all that are there pass."""
    return next((name for name, test in tests.items() if name in tree and not test(tree[name])), "")


def check(data: dict[str, Tree]) -> None:
    """Check one event's members. Raises Unfit.

    A text that UTF-8 cannot hold is written as `{"$surrogates": …}` wherever it stands; its escaped form takes the
    place of that here, so that a text is always a str.
    """
    event = _EVENTS.get(data["event"])
    if event is None:
        return
    required, others = event
    for name, test in required:
        try:
            value = data[name]
        except KeyError:
            raise Unfit(f"`{name}` is missing") from None
        if not test(value):
            _repair(data, name, test)
    if len(data) > len(required) + 1:
        for name, test in others:
            if name in data and not test(data[name]):
                _repair(data, name, test)


def too_deep(line: bytes, tree: Tree) -> bool:
    """Whether a line's tree is nested deeper than `DEEPEST`."""
    if line.count(b"[") + line.count(b"{") <= DEEPEST:
        return False
    level = [tree]
    for _ in range(DEEPEST):
        level = [
            item
            for parent in level
            for item in (parent.values() if type(parent) is dict else parent)
            if type(item) is dict or type(item) is list
        ]
        if not level:
            return False
    return True


def is_address(value: Any) -> bool:
    """Whether a value names a blob, `sha256:<64 hex digits>`."""
    return type(value) is str and _ADDRESS.fullmatch(value) is not None


class References:
    """Check what the lines of one file say of each other: calls, and arguments written against earlier ones.

    A call that a line refers to may be missing only after a hole was noted: the recorder says so where it could not
    write one.
    """

    def __init__(self) -> None:
        self._args: dict[int, Mapping[str, Tree]] = {}
        self._sizes: dict[tuple[int, str], tuple[str, int]] = {}
        self._hole = False

    def check(self, data: Mapping[str, Tree]) -> None:
        """Check the next line, whose members have the right types. Raises Unfit."""
        event = data["event"]
        if event == "called":
            self._called(data["call"], data["in"], data["args"])
        elif event in _ANSWERS:
            if data["call"] not in self._args and not self._hole:
                raise Unfit(f"it belongs to call {data['call']}, which is not there")
        elif event == "noted" and data["what"] == "hole":
            self._hole = True

    def _called(self, number: int, within: int | None, args: Mapping[str, Tree]) -> None:
        if number in self._args:
            raise Unfit(f"call {number} is asked twice")
        if within is not None and within >= number:
            raise Unfit(f"call {number} is inside call {within}, which is not an earlier one")
        for name, tree in args.items():
            if type(tree) is dict:
                self._argument(number, name, tree)
        self._args[number] = args

    def _argument(self, number: int, name: str, tree: Mapping[str, Tree]) -> None:
        tag = delta.tag_of(tree)
        if tag is None:
            return
        written = tree[tag]
        reference = written if tag != "$same" else [written, 0, 0]
        if type(reference) is not list or len(reference) != 3 or not all(map(_count, reference)):
            raise Unfit(f"the argument `{name}` has no valid reference in `{tag}`")
        base, head, tail = reference
        if base >= number or (base not in self._args and not self._hole):
            raise Unfit(f"the argument `{name}` is written against call {base}, which is not an earlier one")
        kind, size = self._size(base, name)
        if tag == "$same":
            found = kind, size
        else:
            wanted, new = _SHARED[tag], tree["new"]
            if type(new) is not wanted:
                raise Unfit(f"the argument `{name}` has a member `new` of the wrong type")
            if kind and (kind != wanted.__name__ or head + tail > size):
                raise Unfit(
                    f"the argument `{name}` does not fit that of call {base}, which it is written against"
                )
            found = wanted.__name__, head + len(new) + tail
        if not kind and not self._hole:
            raise Unfit(f"the argument `{name}` is written against call {base}, which has none of that name")
        self._sizes[number, name] = found

    def _size(self, call: int, name: str) -> tuple[str, int]:
        """The type and length of an earlier argument when it is whole; an empty type where it is not there."""
        known = self._sizes.get((call, name))
        if known is not None:
            return known
        args = self._args.get(call)
        if args is None or name not in args:
            return "", 0
        tree: Any = args[name]
        return type(tree).__name__, len(tree) if isinstance(tree, (str, list)) else 0


_ANSWERS = frozenset(("returned", "raised", "cancelled", "chunk", "ended", "closed"))
_SHARED: Mapping[str, type] = {"$text": str, "$items": list}


def _repair(data: dict[str, Tree], name: str, test: Test) -> None:
    value = data[name]
    repaired = [_escaped(item) for item in value] if type(value) is list else _escaped(value)
    if not test(repaired):
        raise Unfit(f"`{name}` is not {_MEANINGS.get(test, 'valid')}")
    data[name] = repaired


def _escaped(value: Tree) -> Tree:
    if type(value) is dict and len(value) == 1 and type(value.get("$surrogates")) is str:
        return value["$surrogates"]
    return value


# -- tests, each with the words for what it lets pass ------------------------------------------------------------

_MEANINGS: dict[Test, str] = {}


def _means(what: str) -> Callable[[Test], Test]:
    def said(test: Test) -> Test:
        _MEANINGS[test] = what
        return test

    return said


@_means("anything")
def _anything(value: Tree) -> bool:
    return True


@_means("a text")
def _text(value: Tree) -> bool:
    return type(value) is str


@_means("a whole number from 0 on")
def _count(value: Tree) -> bool:
    return type(value) is int and 0 <= value < _MOST


@_means("a whole number from 1 on")
def _number(value: Tree) -> bool:
    return type(value) is int and 0 < value < _MOST


@_means("a whole number")
def _integer(value: Tree) -> bool:
    return type(value) is int and -_MOST < value < _MOST


@_means("seconds from 0 on")
def _seconds(value: Tree) -> bool:
    return (type(value) is float or type(value) is int) and 0 <= value < _MOST


@_means("a number of seconds")
def _moment(value: Tree) -> bool:
    return (type(value) is float or type(value) is int) and -_MOST < value < _MOST


@_means("true or false")
def _flag(value: Tree) -> bool:
    return type(value) is bool


@_means("an object")
def _object(value: Tree) -> bool:
    return type(value) is dict


@_means("a call's number or null")
def _call(value: Tree) -> bool:
    return value is None or _number(value)


@_means("a list of texts")
def _texts(value: Tree) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


@_means("a list of texts")
def _words(value: Tree) -> bool:
    return type(value) is list and all(type(_escaped(item)) is str for item in value)


@_means("an object of texts")
def _named(value: Tree) -> bool:
    return type(value) is dict and all(type(item) is str for item in value.values())


@_means(f"a list of at most {TAGS} texts of at most {TAG} characters each")
def _tags(value: Tree) -> bool:
    return _texts(value) and len(value) <= TAGS and all(len(item) <= TAG for item in value)


@_means("an id (letters, digits, `_` and `-`, at most 64)")
def _id(value: Tree) -> bool:
    return type(value) is str and _ID.fullmatch(value) is not None


@_means("hex digits")
def _salt(value: Tree) -> bool:
    return type(value) is str and _HEX.fullmatch(value) is not None


def _or_null(test: Test) -> Test:
    def either(value: Tree) -> bool:
        return value is None or test(value)

    return _means(f"{_MEANINGS.get(test, 'valid')} or null")(either)


def _with(what: str, /, **tests: Test) -> Test:
    def whole(value: Tree) -> bool:
        return type(value) is dict and not members(value, tests)

    return _means(what)(whole)


@_means("an error")
def _error(value: Tree) -> bool:
    while type(value) is dict and not members(value, _ERROR):
        value = value.get("cause")
        if value is None:
            return True
    return False


_ERROR: Members = {
    "type": _text,
    "text": lambda value: type(_escaped(value)) is str,
    "attributes": _or_null(_object),
}


@_means("a process's number, or a recording's id with its step")
def _parent(value: Tree) -> bool:
    if type(value) is dict:
        return _id(value.get("id")) and not members(value, {"how": _text, "step": _or_null(_count)})
    return value is None or _count(value)


_PROGRAM = _with(
    "a program",
    argv=_words,
    cwd=_or_null(lambda value: type(_escaped(value)) is str),
    python=_text,
    platform=_text,
    hash_seed=_or_null(_text),
    packages=_or_null(_named),
    git=_or_null(_with("a revision", revision=_or_null(_text), dirty=_or_null(_flag))),
    proxy=_or_null(_with("a proxy", port=_count, upstreams=_named, keys=_texts)),
    tty=_or_null(_object),
)
_FUNCTION = _with("a function with its arguments", name=_text, args=_object)
_RULES = _with("rules for redaction", names=_texts, headers=_texts, patterns=_texts)
_PRINTED = _with(
    "what was printed", sha256=_text, length=_count, text=lambda value: type(_escaped(value)) is str,
    threads=_anything, width=_or_null(_count),
)  # fmt: skip
_SIGNED = _with("a key with a signature", key=_text, signature=_text)

_STREAM: Members = {"call": _number, "t": _seconds}
_PLACE: Members = {"at": _text, "in": _call}
_DOCUMENTED: Mapping[str, tuple[Members, Members]] = {
    "opened": (
        {"format": _number},
        {
            "rules": _count, "id": _id, "name": _text, "tags": _tags, "started": _text, "entry": _or_null(_text),
            "ordinal": _count, "process": _text, "pid": _count, "program": _or_null(_PROGRAM), "salt": _salt,
            "secrets": _or_null(_RULES), "offset": _moment, "parent": _parent, "model": _or_null(_text),
            "function": _FUNCTION,
        },
    ),
    "called": (
        {**_STREAM, **_PLACE, "kind": _text, "name": _text, "n": _count, "args": _object}, {},
    ),
    "returned": ({**_STREAM, "value": _anything}, {"stream": _flag, "edited": _flag}),
    "raised": ({**_STREAM, "error": _error}, {"edited": _flag}),
    "cancelled": (_STREAM, {}),
    "chunk": ({**_STREAM, "value": _anything}, {"edited": _flag}),
    "ended": (_STREAM, {"edited": _flag}),
    "closed": (_STREAM, {}),
    "drew": ({**_PLACE, "source": _text, "value": _anything}, {}),
    "fired": ({**_PLACE, "name": _text, "t": _seconds}, {}),
    "spawned": ({**_PLACE, "process": _text, "command": _texts, "t": _seconds}, {}),
    "snapshot": (
        {
            **_PLACE, "name": _text, "n": _count, "call": _or_null(_count), "why": _text, "value": _anything,
            "t": _seconds,
        },
        {"label": _or_null(_text)},
    ),
    "noted": ({"what": _text, "text": _text}, {"t": _seconds, "call": _call}),
    "sealed": (
        {"status": _text, "t": _seconds},
        {
            "error": _or_null(_error), "exit": _or_null(_integer), "packages": _or_null(_named),
            "stdout": _or_null(_PRINTED), "uncertain": _count, "reason": _or_null(_text), "signed": _SIGNED,
        },
    ),
}  # fmt: skip
_EVENTS = {
    event: (tuple(required.items()), tuple(others.items()))
    for event, (required, others) in _DOCUMENTED.items()
}
