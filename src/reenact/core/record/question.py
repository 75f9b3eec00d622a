"""Write a question: arguments without secrets, as differences from an earlier question.

Every byte is searched once for secrets. Parts searched before (a request's headers, the name of an effect) are
remembered; the rest is searched as it is written, so that a long chat costs only its new part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import is_
from typing import Any

import orjson

from reenact.core.boundary import Scope
from reenact.core.model import codec
from reenact.core.model.delta import SMALL, Arg, adds_nothing
from reenact.core.model.event import Effect, Source, Tree
from reenact.core.model.exact import exact, exact_items
from reenact.core.redact import Redactor, is_value

_BASES = 256
_WORTH_SHARING = 512
_SHORT = 256
_ITEMS = 4096
_KEPT = 1024

_CALLED = b'{"event":"called","call":%d,"in":%b,%b,"n":%d,"args":{'
_END = b'}%b,"t":%.6f}'
_WRITES = {None: b"", True: b',"writes":true', False: b',"writes":false'}

_Args = dict[str, Arg]
_Encode = Callable[[Any], Tree]

_FIXED = {None: Arg(data=b"null"), True: Arg(data=b"true"), False: Arg(data=b"false")}
_HEADERS = "headers"
"""An argument that usually holds secrets, and mostly repeats the request before."""


class QuestionWriter:
    """Writes the `called` events of one recording.

    Args:
        redactor: Redacts every byte before it is written.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._bases: dict[tuple[str, str] | str, tuple[int, _Args]] = {}
        self._soiled: dict[str, set[str]] = {}
        self._heads: dict[tuple[int, str, str, str], bytes] = {}
        self._items: dict[bytes, bytes] = {}
        self._clean: dict[bytes, int] = {}
        self._parted: set[str] = set()
        """The labels of effects searched argument by argument, as one of them held a secret."""

    def line(
        self,
        effect: Effect,
        scope: Scope,
        *,
        number: int,
        ordinal: int,
        now: float,
        encode: _Encode,
    ) -> bytes:
        """Return the event of the call `number`. `encode` gives the tree of any value."""
        label = effect.label
        place = (scope.path, label)
        base, earlier = self._bases.get(place) or self._bases.get(label) or (0, {})
        if base > number:
            # Another thread asked later, but wrote first.
            base, earlier = 0, {}
        within = number_of(scope.call)
        end = _END % (_source(effect.source) + _WRITES[effect.declared], now)
        given = effect.args
        found = None
        if label not in self._parted and _HEADERS not in given:
            start = _CALLED % (number, within, _head(effect, scope), ordinal)
            found = self._at_once(given, encode, (start, end), (earlier, base))
            if found is None:
                self._parted.add(label)
        if found is None:
            start = _CALLED % (number, within, self._head(effect, scope), ordinal)
            found = self._one_by_one(label, given, encode, (start, end), (earlier, base))
        args, line = found
        if len(line) > _WORTH_SHARING or base:
            if len(self._bases) > _BASES:
                self._bases.clear()
            self._bases[place] = self._bases[label] = (number, args)
        return line

    def _at_once(
        self, given: Mapping[str, Any], encode: _Encode, frame: tuple[bytes, bytes], base: tuple[_Args, int]
    ) -> tuple[_Args, bytes] | None:
        """Return the line, searched once as a whole; None if it holds a secret or invalid Unicode.

        The search of the whole finds everything that a search of each part would find.
        """
        (before, end), (earlier, call) = frame, base
        args: _Args = {}
        members = []
        try:
            for name, value in given.items():
                written = _small(value)
                if written is None:
                    arg = args[name] = _arg(value, encode)
                    written = _against(arg, (earlier.get(name), call))
                members.append(_key(name) + written)
        except TypeError:
            return None
        line = b"".join((before, b",".join(members), end))
        return (args, line) if self._redactor.line(line) is line else None

    def _one_by_one(
        self,
        label: str,
        given: Mapping[str, Any],
        encode: _Encode,
        frame: tuple[bytes, bytes],
        base: tuple[_Args, int],
    ) -> tuple[_Args, bytes]:
        """Return the line, searched by argument; known clean arguments are not searched again."""
        (before, end), (earlier, call) = frame, base
        args: _Args = {}
        members: list[bytes] = []
        for name, value in given.items():
            args[name], member = self._member(label, name, value, encode, (earlier.get(name), call))
            members.append(member)
        line = b"".join((before, b",".join(members), end))
        if (self._redactor.patterns or any(map(is_value, args))) and self._redactor.line(line) is not line:
            # Here a secret shows only in two arguments together.
            whole = b",".join([_key(name) + arg.whole() for name, arg in args.items()])
            line = self._redactor.line(b"".join((before, whole, end)))
            args = {name: Arg.of(tree) for name, tree in codec.loads(line)["args"].items()}
        return args, line

    def build_on(self, number: int, scope: str, label: str, args: Mapping[str, Tree]) -> None:
        """Write later arguments as differences from those of a recorded call (in a fork)."""
        known = number, {name: Arg.of(tree) for name, tree in args.items()}
        self._bases[scope, label] = self._bases[label] = known

    def _head(self, effect: Effect, scope: Scope) -> bytes:
        """Return the scope and effect without secrets; most heads equal one of an earlier call."""
        key = (self._redactor.learnt, scope.path, effect.kind, effect.name)
        head = self._heads.get(key)
        if head is None:
            texts = {"at": scope.path, "kind": effect.kind, "name": effect.name}
            head = self._redactor.line(codec.dumps(texts))[1:-1]
            if len(self._heads) >= _BASES:
                self._heads.clear()
            self._heads[key] = head
        return head

    def _member(
        self, label: str, name: str, value: Any, encode: Callable[[Any], Tree], base: tuple[Arg | None, int]
    ) -> tuple[Arg, bytes]:
        """Return an argument for later calls to build on, and its bytes; both without secrets."""
        if type(value) is str:
            if len(value) < _SHORT and (member := self._redactor.member(name, value)) is not None:
                return Arg(member.text), member.data
            try:
                return self._without_secrets(label, name, Arg(value), base)
            except TypeError:  # lone surrogates
                return self._without_secrets(label, name, Arg(data=codec.dumps(value)), base)
        if type(value) is dict and (members := self._redactor.members(value)) is not None:
            arg = Arg(data=b"{%b}" % b",".join([member.data for member in members]))
            return arg, _key(name) + _against(arg, base)
        return self._without_secrets(label, name, _arg(value, encode), base)

    def _without_secrets(
        self, label: str, name: str, arg: Arg, base: tuple[Arg | None, int]
    ) -> tuple[Arg, bytes]:
        key = _key(name)
        soiled = name in self._soiled.get(label, ())
        if soiled:
            arg = self._cleaned(key, arg)
        written = _against(arg, base)
        member = key + written
        if adds_nothing(written) or self._is_clean(member):
            return arg, member
        if not soiled:
            # Secrets mostly stay where they are. From now on this argument is cleaned beforehand, and shared with later
            # calls like any other.
            self._soiled.setdefault(label, set()).add(name)
            return self._without_secrets(label, name, arg, base)
        # This is rare: write the argument whole.
        clean = self._redactor.line(key + arg.whole())
        return _read(clean), clean

    def _is_clean(self, member: bytes) -> bool:
        """Return True if a member holds no secret.

        Most short members (settings, unchanged tools) equal those of an earlier call: these are not searched again,
        unless more secrets have become known.
        """
        learnt = self._redactor.learnt
        if self._clean.get(member) == learnt:
            return True
        if self._redactor.line(member) is not member:
            return False
        if len(member) < _KEPT:
            if len(self._clean) >= _ITEMS:
                self._clean.clear()
            self._clean[member] = learnt
        return True

    def _cleaned(self, key: bytes, arg: Arg) -> Arg:
        """Return the whole argument without its secrets; the same object if it has none."""
        if arg.items and all(item.startswith(b"{") for item in arg.items):
            # A chat's messages: each by itself, and once.
            items = [self._clean_item(item) for item in arg.items]
            return arg if all(map(is_, items, arg.items)) else Arg(items=items)
        whole = key + arg.whole()
        clean = self._redactor.line(whole)
        return arg if clean is whole else _read(clean)

    def _clean_item(self, item: bytes) -> bytes:
        known = self._items.get(item)
        if known is None:
            if len(self._items) >= _ITEMS:
                self._items.clear()
            known = self._items[item] = self._redactor.line(item)
        return known


def number_of(call: int | None) -> bytes:
    """Return the JSON of a call's number, or `null`."""
    return b"null" if call is None else b"%d" % call


@lru_cache(_ITEMS)
def _key(name: str) -> bytes:
    return orjson.dumps(name) + b":"


def _head(effect: Effect, scope: Scope) -> bytes:
    """Return the scope and effect unchanged. Not cached: each run of an agent has a new scope."""
    return b'"at":%b,%b' % (codec.dumps(scope.path), _what(effect.kind, effect.name))


@lru_cache(_ITEMS)
def _what(kind: str, name: str) -> bytes:
    return codec.dumps({"kind": kind, "name": name})[1:-1]


def _small(value: Any) -> bytes | None:
    """Return the JSON of a value that no later call refers to, or None.

    Raises:
        TypeError: A text with lone surrogates.
    """
    kind = type(value)
    if (kind is str and len(value) <= SMALL) or kind is bool or value is None:
        return orjson.dumps(value)
    return exact(value) if kind is int or kind is float else None


def _arg(value: Any, encode: _Encode) -> Arg:
    """Return an argument unchanged, with its secrets."""
    kind = type(value)
    if kind is str:
        return Arg(value)
    if value is None or value is True or value is False:
        return _FIXED[value]
    if kind is codec.Items and not value.rest:
        return Arg(items=value.data)
    if kind is list:
        items = exact_items(value)
        return Arg.of(encode(value)) if items is None else Arg(items=items)
    data = exact(value)
    return Arg(data=data) if data is not None else Arg.of(encode(value))


def _against(arg: Arg, base: tuple[Arg | None, int]) -> bytes:
    earlier, call = base
    return arg.whole() if earlier is None else arg.against(earlier, call)


def _read(member: bytes) -> Arg:
    return Arg.of(next(iter(codec.loads(b"{%b}" % member).values())))


def _source(source: Source | None) -> bytes:
    """Return the members of a tool's code."""
    return b"" if source is None else _digests(source.digest, source.constants)


@lru_cache(_ITEMS)
def _digests(source: str, constants: str) -> bytes:
    end = b',"constants":"%b"' % constants.encode() if constants else b""
    return b',"source":"%b"%b' % (source.encode(), end)
