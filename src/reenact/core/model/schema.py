"""Check each line of a recording against the format, so that readers can rely on the types.

`docs/format.md` documents the events and their members. Unknown events and unknown members pass: a reader skips them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import starmap
from typing import Any, TypeAlias

from reenact.core.model import storable
from reenact.core.model.codec.written import nested
from reenact.core.model.event import Tree
from reenact.core.model.header import ID
from reenact.core.patterns import lazy

DEEPEST = 200
"""The maximum depth of a line in objects and lists.

A recorder keeps no value deeper than 190.
"""

TAGS, TAG = 1000, 1000
"""The maximum number of a recording's tags, and of the characters in each."""

_MOST = 1 << 53
_HEX = lazy(r"(?:[0-9a-f]{2}){0,128}")
_ADDRESS = lazy(r"sha256:[0-9a-f]{64}")


class Unfit(ValueError):
    """A line does not fit the format; the text names the member and the reason."""


Test: TypeAlias = Callable[[Any], bool]
Members: TypeAlias = Mapping[str, Test]
Specification: TypeAlias = tuple[Members, Members]
"""The required members of a line, and the others, each with its test."""

Compiled: TypeAlias = Mapping[
    str, tuple[tuple[tuple[str, type | None, int | None, Test], ...], tuple[tuple[str, Test], ...]]
]
"""The same as tuples.

A required member also has the type, and the least number, that passes without a call of its test.
"""


def members(tree: Mapping[str, Tree], tests: Members) -> str:
    """Return the name of the first member that fails its test; empty if all present ones pass."""
    return next((name for name, test in tests.items() if name in tree and not test(tree[name])), "")


def check(data: dict[str, Tree], events: Compiled | None = None) -> None:
    """Check one line's members by the tests for its event. Raises Unfit.

    `events` are the tests: by default those of recordings.

    A text that UTF-8 cannot hold is written as `{"$surrogates": …}` at any place; its escaped form takes its place
    here, so that a text is always a str.
    """
    event = (events or _EVENTS).get(data["event"])
    if event is None:
        return
    required, others = event
    for name, passes, least, test in required:
        try:
            value = data[name]
        except KeyError:
            raise Unfit(f"`{name}` is missing") from None
        kind = type(value)
        passed = kind is passes and (least is None or least <= value < _MOST)
        if not passed and not test(value):
            _repair(data, name, test)
    if len(data) > len(required) + 1:
        for name, test in others:
            if name in data and not test(data[name]):
                _repair(data, name, test)


def too_deep(line: bytes, tree: Tree) -> bool:
    """Return True if a line's tree is nested deeper than `DEEPEST`."""
    return nested(line, tree, DEEPEST)


def is_address(value: Any) -> bool:
    """Return True if a value names a blob, `sha256:<64 hex digits>`."""
    return type(value) is str and _ADDRESS.fullmatch(value) is not None


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


def means(what: str) -> Callable[[Test], Test]:
    def said(test: Test) -> Test:
        _MEANINGS[test] = what
        return test

    return said


@means("anything")
def anything(value: Tree) -> bool:
    return True


@means("a text")
def text(value: Tree) -> bool:
    return type(value) is str


@means("a whole number from 0 on")
def count(value: Tree) -> bool:
    return type(value) is int and 0 <= value < _MOST


@means("a whole number from 1 on")
def number(value: Tree) -> bool:
    return type(value) is int and 0 < value < _MOST


@means("a whole number")
def _integer(value: Tree) -> bool:
    return type(value) is int and -_MOST < value < _MOST


@means("seconds from 0 on")
def seconds(value: Tree) -> bool:
    return (type(value) is float or type(value) is int) and 0 <= value < _MOST


@means("a number of seconds")
def instant(value: Tree) -> bool:
    return (type(value) is float or type(value) is int) and -_MOST < value < _MOST


@means("true or false")
def flag(value: Tree) -> bool:
    return type(value) is bool


@means("an object")
def object_(value: Tree) -> bool:
    return type(value) is dict


@means("a call's number or null")
def call(value: Tree) -> bool:
    return value is None or number(value)


@means("a list of texts")
def texts(value: Tree) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


@means("a list of texts")
def words(value: Tree) -> bool:
    return type(value) is list and (not value or all(type(_escaped(item)) is str for item in value))


@means("a text without NUL")
def _given(value: Tree) -> bool:
    """A text that is given to the system: a path, a variable's name or value, an argument."""
    value = _escaped(value)
    return type(value) is str and "\0" not in value


@means("a list of texts without NUL")
def _argv(value: Tree) -> bool:
    return type(value) is list and all(map(_given, value))


@means("an object of texts without NUL")
def _variables(value: Tree) -> bool:
    return type(value) is dict and all(map(_given, (*value, *value.values())))


@means("a date and time (ISO 8601) of the years 1 to 9999")
def _moment(value: Tree) -> bool:
    # Without one, a recording's age is that of its file.
    return type(value) is str and (not value or storable.moment(value) is not None)


@means("an object of texts")
def _named(value: Tree) -> bool:
    return type(value) is dict and all(type(item) is str for item in value.values())


@means("an object of whole numbers from 0 on")
def _counts(value: Tree) -> bool:
    return type(value) is dict and all(map(count, value.values()))


@means("an object of seconds or null")
def _limits(value: Tree) -> bool:
    return type(value) is dict and all(item is None or seconds(item) for item in value.values())


@means("an object of the messages left in queues: `count` and `first`")
def _left(value: Tree) -> bool:
    return type(value) is dict and all(
        type(item) is dict and count(item.get("count")) and type(item.get("first")) is list
        for item in value.values()
    )


@means(f"a list of at most {TAGS} texts of at most {TAG} characters each")
def _tags(value: Tree) -> bool:
    return texts(value) and len(value) <= TAGS and all(len(item) <= TAG for item in value)


@means("an id (letters, digits, `_` and `-`, at most 64)")
def _id(value: Tree) -> bool:
    return type(value) is str and ID.fullmatch(value) is not None


@means("hex digits")
def _salt(value: Tree) -> bool:
    return type(value) is str and _HEX.fullmatch(value) is not None


def or_null(test: Test) -> Test:
    def either(value: Tree) -> bool:
        return value is None or test(value)

    return means(f"{_MEANINGS.get(test, 'valid')} or null")(either)


def _with(what: str, /, **tests: Test) -> Test:
    def whole(value: Tree) -> bool:
        return type(value) is dict and not members(value, tests)

    return means(what)(whole)


@means("an error")
def _error(value: Tree) -> bool:
    while type(value) is dict and "type" in value and "text" in value and not members(value, _ERROR):
        value = value.get("cause")
        if value is None:
            return True
    return False


_ERROR: Members = {
    "type": text,
    "text": lambda value: type(_escaped(value)) is str,
    "args": lambda value: type(value) is list,
    "attributes": or_null(object_),
    "raised": flag,
}


@means("the tools that a fork ran again")
def _again(value: Tree) -> bool:
    if type(value) is not dict or not count(value.get("until")):
        return False
    lists = value.get("calls"), value.get("real", [])
    return all(type(calls) is list and all(map(count, calls)) for calls in lists)


@means("a process's number, or a recording's id with its step")
def _parent(value: Tree) -> bool:
    if type(value) is dict:
        return _id(value.get("id")) and not members(value, {"how": text, "step": or_null(count)})
    return value is None or count(value)


_PROGRAM = _with(
    "a program",
    argv=_argv,
    cwd=or_null(_given),
    python=text,
    platform=text,
    hash_seed=or_null(_given),
    packages=or_null(_named),
    git=or_null(_with("a revision", revision=or_null(text), dirty=or_null(flag))),
    proxy=or_null(_with("a proxy", port=count, upstreams=_variables, keys=_argv)),
    tty=or_null(object_),
)
_FUNCTION = _with("a function with its arguments", name=text, args=object_)
_RULES = _with("rules for redaction", names=texts, headers=texts, patterns=texts)
_PRINTED = _with(
    "what was printed", sha256=text, length=count, text=lambda value: type(_escaped(value)) is str,
    threads=anything, width=or_null(count), bytes=anything,
)  # fmt: skip
_SIGNED = _with("a key with a signature", key=text, signature=text)

_STREAM: Members = {"call": number, "t": seconds}
_PLACE: Members = {"at": text, "in": call}
_DOCUMENTED: Mapping[str, Specification] = {
    "opened": (
        {"format": number},
        {
            "rules": count, "id": _id, "name": text, "tags": _tags, "started": _moment, "entry": or_null(_given),
            "ordinal": count, "process": _given, "pid": count, "program": or_null(_PROGRAM), "salt": _salt,
            "secrets": or_null(_RULES), "offset": instant, "parent": _parent, "model": or_null(text),
            "function": _FUNCTION, "files": flag,
        },
    ),
    "called": (
        {**_STREAM, **_PLACE, "kind": text, "name": text, "n": count, "args": object_},
        {"source": text, "constants": text, "writes": flag},
    ),
    "returned": (
        {**_STREAM, "value": anything},
        {"stream": flag, "edited": flag, "policy": text, "unrecorded": words, "files": words},
    ),
    "raised": (
        {**_STREAM, "error": _error},
        {"edited": flag, "policy": text, "unrecorded": words, "files": words, "limits": _limits},
    ),
    "cancelled": (_STREAM, {"limits": _limits}),
    "chunk": ({**_STREAM, "value": anything}, {"edited": flag}),
    "printed": ({**_STREAM, "text": text}, {}),
    "ended": (_STREAM, {"edited": flag, "unrecorded": words, "files": words, "value": anything}),
    "closed": (_STREAM, {"unrecorded": words, "files": words}),
    "drew": ({**_PLACE, "source": text, "value": anything}, {}),
    "fired": ({**_PLACE, "name": text, "t": seconds}, {}),
    "locked": ({**_PLACE, "lock": text, "count": count}, {}),
    "spawned": ({**_PLACE, "process": text, "command": texts, "t": seconds}, {}),
    "snapshot": (
        {
            **_PLACE, "name": text, "n": count, "call": or_null(count), "why": text, "value": anything,
            "t": seconds,
        },
        {"label": or_null(text)},
    ),
    "files": (
        {"call": call, "how": text, "root": text, "states": object_, "t": seconds},
        {"within": or_null(count), "single": flag, "ended": flag, "since": seconds},
    ),
    "noted": ({"what": text, "text": text}, {"t": seconds, "call": call}),
    "sealed": (
        {"status": text, "t": seconds},
        {
            "error": or_null(_error), "exit": or_null(_integer), "packages": or_null(_named),
            "stdout": or_null(_PRINTED), "stderr": or_null(_PRINTED), "uncertain": count, "reason": or_null(text),
            "signed": _SIGNED,
            "state": object_, "slept": _counts, "times": _counts, "limits": _counts, "sent": _counts, "left": _left,
            "running": texts, "again": _again,
        },
    ),
}  # fmt: skip


_PASSES: Mapping[Test, tuple[type, int | None]] = {
    text: (str, None), object_: (dict, None), flag: (bool, None), call: (type(None), None),
    number: (int, 1), count: (int, 0), seconds: (float, 0),
}  # fmt: skip


def _required(name: str, test: Test) -> tuple[str, type | None, int | None, Test]:
    passes, least = _PASSES.get(test, (None, None))
    return name, passes, least, test


def compiled(documented: Mapping[str, Specification]) -> Compiled:
    """Return the tests in the form that `check` takes."""
    return {
        event: (
            tuple(starmap(_required, required.items())),
            tuple(others.items()),
        )
        for event, (required, others) in documented.items()
    }


_EVENTS = compiled(_DOCUMENTED)
