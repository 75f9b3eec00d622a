"""Compare a question with the recorded one, less the parts that named rules remove.

A rule is a pattern over dotted paths (`args.headers.user-agent`, `args.body.messages[*].id`), optionally after a
pattern over labels (`http:* args.headers.x-trace`). Rules that made a difference are listed in the verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.patterns import lazy
from reenact.errors import ABSENT, Mismatch, UsageError

VOLATILE_HEADERS = (
    "accept-encoding", "amz-sdk-*", "api-key", "authorization", "connection", "content-length", "cookie", "host",
    "idempotency-key", "traceparent", "tracestate", "user-agent", "x-amz-date", "x-api-key", "x-goog-api-client",
    "x-goog-api-key", "x-request-id", "x-stainless-*",
)  # fmt: skip
"""Request headers that differ between runs or library versions of the same question.

A blocklist: a header missing here is a loud false divergence, whereas one missing in an allowlist would be a silent
wrong answer.
"""

BUILT_IN = tuple(
    f"{kind}:* args.headers.{name}" for kind in ("http", "websocket") for name in VOLATILE_HEADERS
)
"""The parts of the rules that need not match."""

_BOUNDARY = lazy(r"boundary=\"?([^\";,]+)")
_LONG = lazy(r"[0-9.]{17}")
_EXACT = 17
"""Digits from which a number in a JSON text may be more than a float or 64 bits hold."""

SPELLING = "compare JSON bodies and messages by their values, not by their spaces, escapes and order of names"
"""The rule under which two texts were equal: libraries write a value in several ways."""

_KEPT = 1024
_TYPED = ("fields", "items", "value")
SINGLE = {str, int, bool, type(None)}
"""Types of equal values that have the same JSON."""


class Rules:
    """The ignore rules of one replay; `applied` collects those that made a difference.

    Args:
        ignore: The user's rules, on top of the built-in ones. Raises UsageError for one that cannot match anything.
    """

    def __init__(self, ignore: Iterable[str] = ()) -> None:
        self.applied: dict[str, None] = {}
        self.order = False
        self.silent: set[str] = set()
        """The standard streams that are not compared: `stdout`, `stderr`."""
        self._ignored: dict[tuple[str, str], str | None] = {}
        self._rules: list[tuple[str, re.Pattern[str], re.Pattern[str]]] = []
        for text in ignore:
            if text == "order":
                self.order = True
            elif text in ("stdout", "stderr"):
                self.silent.add(text)
            else:
                self._rules.append(_parse(text))
        self._rules += [_parse(text) for text in BUILT_IN]

    def ignores(self, label: str, path: str) -> bool:
        """Return True if a rule removes that part of an effect from the comparison."""
        key = (label, path)
        if key in self._ignored:
            rule = self._ignored[key]
        else:
            matching = (
                text for text, labels, paths in self._rules if labels.fullmatch(label) and paths.match(path)
            )
            rule = next(matching, None)
            if len(self._ignored) >= _KEPT:
                self._ignored.clear()
            # The same headers differ in every request.
            self._ignored[key] = rule
        if rule is not None:
            self.applied[f"ignore {rule}"] = None
        return rule is not None


@lru_cache
def _parse(text: str) -> tuple[str, re.Pattern[str], re.Pattern[str]]:
    label, _, path = text.strip().rpartition(" ")
    if not path.startswith("args"):
        raise UsageError(
            f"ignore={text!r}: a rule is a path that begins with `args`, such as 'args.headers.x-trace' or "
            f"'http:* args.body.seed', or one of the words 'order', 'stdout' and 'stderr'"
        )
    # A rule covers a part with everything below it.
    return text, _glob(label or "*"), re.compile(_glob(path).pattern + r"(?=$|[.\[])", re.IGNORECASE)


def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."))


def same(recorded: Mapping[str, Tree], actual: Mapping[str, Tree]) -> bool:
    """Return True if two sets of arguments are exactly equal (dict order aside).

    This is the fast path of every replay.
    """
    return recorded.keys() == actual.keys() and not any(True for _ in differing(recorded, actual))


def differing(recorded: Mapping[str, Tree], actual: Mapping[str, Tree]) -> Iterator[str]:
    """Yield the names of the actual arguments that differ from the recorded ones."""
    for name, tree in actual.items():
        known = recorded.get(name, ABSENT)
        kind = type(tree)
        if (kind in SINGLE and type(known) is kind) or is_texts(tree):
            if known != tree:
                yield name
        elif type(known) is list and type(tree) is codec.Items:
            if not tree.equals(known):
                yield name
        # Bytes, not trees, are compared: to Python 1, 1.0 and True are equal.
        elif known is ABSENT or codec.packed(known) != codec.packed(tree):
            yield name


def is_texts(value: Any) -> bool:
    """Return True for a dict of texts (headers): it is its own tree, and `==` compares it."""
    return (
        type(value) is dict
        and {*map(type, value.values()), *map(type, value)} == {str}
        and "$" not in "".join(value)
    )


def mismatches(
    label: str, recorded: Mapping[str, Tree], actual: Mapping[str, Tree], rules: Rules
) -> list[Mismatch]:
    """Return the differences of two sets of arguments, part by part, that no rule removes."""
    if label.startswith(("http:", "websocket:")):
        recorded, actual = _same_boundary(recorded), _same_boundary(actual)
        for part in ("body", "message"):
            if _same_json(recorded.get(part), actual.get(part)):
                rules.applied[SPELLING] = None
                actual = {**actual, part: recorded[part]}
    return [one for one in differences(recorded, actual) if not rules.ignores(label, one.path)]


def differences(recorded: Mapping[str, Tree], actual: Mapping[str, Tree]) -> Iterator[Mismatch]:
    """Yield all differences of two sets of arguments, part by part."""
    for name in dict.fromkeys((*recorded, *actual)):
        yield from _differ(recorded.get(name, ABSENT), actual.get(name, ABSENT), f"args.{name}")


def likeness(recorded: Mapping[str, Tree], actual: Mapping[str, Tree]) -> float:
    """Return the likeness of two sets of arguments, from 0 to 1. An estimate: `same` is exact."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - for departures alone

    one, other = (codec.packed(dict(args)).decode("utf-8", "replace") for args in (recorded, actual))
    # Chats differ at their ends; the middle is shared history.
    one, other = (text if len(text) < 4000 else text[:2000] + text[-2000:] for text in (one, other))
    return SequenceMatcher(None, one, other, autojunk=False).quick_ratio()


def _differ(recorded: Any, actual: Any, path: str) -> Iterator[Mismatch]:
    recorded, actual = _in_order(recorded), _in_order(actual)
    tags, contents = (_tag(recorded), _tag(actual)), (_unwrapped(recorded), _unwrapped(actual))
    if tags[0] != tags[1]:
        # Without their tags, a tuple equals a list, and a date its text.
        names = _type(recorded), _type(actual)
        if names[0] == names[1] or type(contents[0]) is not type(contents[1]):
            yield Mismatch(path, *contents)
            return
        yield Mismatch(f"{path}.type", *names)
    recorded, actual = contents
    if isinstance(recorded, dict) and isinstance(actual, dict):
        for key in dict.fromkeys((*recorded, *actual)):
            below = path if key in _TYPED and "type" in recorded else f"{path}.{key}"
            yield from _differ(recorded.get(key, ABSENT), actual.get(key, ABSENT), below)
    elif isinstance(recorded, list) and isinstance(actual, list):
        for index in range(max(len(recorded), len(actual))):
            left = recorded[index] if index < len(recorded) else ABSENT
            right = actual[index] if index < len(actual) else ABSENT
            yield from _differ(left, right, f"{path}[{index}]")
    elif isinstance(recorded, str) and isinstance(actual, str):
        if recorded != actual:
            yield from _differing_texts(recorded, actual, path)
    elif codec.packed(recorded) != codec.packed(actual):
        yield Mismatch(path, recorded, actual)


def _differing_texts(recorded: str, actual: str, path: str) -> Iterator[Mismatch]:
    """Yield the differing parts of two JSON texts, or the whole texts if there are none."""
    inside = _json(recorded), _json(actual)
    found = [] if None in inside else [*_differ(*inside, path)]
    yield from found or [Mismatch(path, recorded, actual)]


def _in_order(tree: Any) -> Any:
    """Sort a set's items again: they were sorted before their secrets became tokens."""
    if isinstance(tree, dict) and len(tree) == 1:
        ((key, items),) = tree.items()
        if key in ("$set", "$frozenset"):
            return {key: sorted(items, key=codec.packed)}
    return tree


def _tag(tree: Any) -> str:
    """Return the tag of a tagged value, or nothing."""
    if isinstance(tree, dict) and len(tree) == 1:
        ((key, inner),) = tree.items()
        if key.startswith("$") and isinstance(inner, (str, dict, list)):
            return str(key)
    return ""


def _type(tree: Any) -> str:
    """Return the name of a value's Python type."""
    name = _tag(tree)[1:] or type(tree).__name__
    return "bytes" if name == "utf8" else name


def _unwrapped(tree: Any) -> Any:
    """Return the content of a tagged value: a path reads better without the tags."""
    return next(iter(tree.values())) if _tag(tree) else tree


def repeats_name(text: str) -> bool:
    """Return True for a JSON text in which an object has a name twice."""
    import json  # noqa: PLC0415 - for differing texts alone

    found = False

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal found
        found = found or len(pairs) != len({name for name, _ in pairs})

    json.loads(text, object_pairs_hook=look, parse_int=str, parse_float=str)
    return found


def _json(text: str) -> Any:
    """Return the value of a JSON text, with the digits of long numbers.

    None for another text, and for one that repeats a name: no value holds all that it says.
    """
    if text[:1] not in ("{", "["):
        return None
    try:
        if repeats_name(text):
            return None
        if _LONG.search(text) is None:
            return codec.loads(text)
        import json  # noqa: PLC0415 - for differing texts with long numbers alone

        return json.loads(text, parse_int=_number, parse_float=_number)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> Any:
    """Return a number, or one that no 64 bits hold as its tagged digits."""
    if len(digits) < _EXACT:
        return codec.loads(digits)
    return {"$int" if digits.lstrip("-").isdigit() else "$float": digits}


def _same_json(recorded: Any, actual: Any) -> bool:
    """Return True if two texts are the same JSON, with other spaces, escapes or order of names."""
    if not isinstance(recorded, str) or not isinstance(actual, str) or recorded == actual:
        return False
    inside = _json(recorded), _json(actual)
    return None not in inside and not any(True for _ in _differ(*inside, ""))


def _same_boundary(args: Mapping[str, Tree]) -> Mapping[str, Tree]:
    """Replace the random boundary of a multipart form by a fixed one."""
    headers, body = args.get("headers"), args.get("body")
    if not isinstance(headers, dict) or not isinstance(body, str):
        return args
    found = _BOUNDARY.search(str(headers.get("content-type", "")))
    if found is None:
        return args
    fixed = {**headers, "content-type": str(headers["content-type"]).replace(found[1], "(boundary)")}
    return {**args, "headers": fixed, "body": body.replace(found[1], "(boundary)")}
