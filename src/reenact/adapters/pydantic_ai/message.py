"""One message (or tool) as a tree, equal in equal runs.

It has all fields except those in a list: a field missing in that list causes a false divergence, which is seen; one
missing in a list of fields to keep would cause a wrong answer in silence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import orjson

from reenact.core.model import codec

_OUT = {
    # Made anew in every run.
    "timestamp", "run_id", "conversation_id",
    # For the program only, never sent.
    "metadata", "dynamic_ref", "context_id",
    # What a model's answer says about itself; the framework of another version stamps other things there.
    "usage", "finish_reason", "provider_url", "model_id", "canonical_system",
    "workspace_ref", "history_digest", "failed_attempts",
}  # fmt: skip

_GENERATED = "pyd_ai_"
"""The prefix of the random ids that Pydantic AI makes for calls without one."""

_Shape = tuple[
    Callable[[Any], tuple[Any, ...]], tuple[str, ...], tuple[Any, ...], tuple[tuple[str, str], ...]
]
"""The parts of a class: a getter of all values, the names, the defaults, the text defaults."""

_shapes: dict[type, _Shape] = {}
_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_SORT_KEYS
_NO_DEFAULT = object()
_TEXT = (str, type(None))


def encoded(message: Any, reduce: Reducer) -> Any:
    """Return a message as sorted JSON bytes; or as a tree, if only the recorder can keep it."""
    data = _dumped(message, reduce)
    if data is None:
        tree = reduce.whole(message)
        data = _walked(tree)
        return tree if data is None else data
    return data


def _dumped(value: Any, reduce: Reducer) -> bytes | None:
    try:
        data = orjson.dumps(value, reduce, _OPTIONS)
    except (TypeError, ValueError):
        # Bytes, keys that are no text, lone surrogates: only the codec encodes them.
        return None
    # The codec escapes keys that look like its own tags. Few texts have any: the first test is ten times as fast as the
    # others.
    return None if b"$" in data and (b'{"$' in data or b',"$' in data) else data


def _walked(tree: Any) -> bytes | None:
    """Return a codec's tree; None if it needs a blob, a redactor of bytes, or leaves a hole."""
    raw: list[bytes] = []

    def take(data: bytes) -> bytes:
        raw.append(data)
        return data

    encoder = codec.Encoder(raw=take)
    data = codec.packed(encoder.encode(tree))
    return None if raw or encoder.unkept else data


class Reducer:
    """Turns values that orjson cannot encode into ones that it can, one message after the other.

    Random ids are replaced by their numbers in the order in which they appear, equal in equal runs.

    Args:
        ids: The numbers of the ids in earlier messages.
    """

    def __init__(self, ids: Mapping[str, str] | None = None) -> None:
        self.ids = dict(ids or ())
        self.named: dict[str, str] = {}
        """The ids that have appeared since the last clearing."""

    def name(self, call: str) -> str:
        """Return the stand-in of a generated id."""
        name = self.named[call] = self.ids.setdefault(call, f"{_GENERATED}{len(self.ids)}")
        return name

    def __call__(self, value: Any) -> Any:
        """`default` of orjson: one level of a dataclass, or a value of the codec's."""
        shape = _shapes.get(type(value))
        if shape is None:
            if not _known(value):
                return _coded(value)
            shape = _learnt(type(value))
        values, names, defaults, texts = shape
        tree = {
            name: item
            for name, item, default in zip(names, values(value), defaults, strict=True)
            if item is not default
        }
        for name, text in texts:
            if tree.get(name) == text:
                del tree[name]
        call = tree.get("tool_call_id")
        if call is not None and call.startswith(_GENERATED):
            tree["tool_call_id"] = self.name(call)
        return tree

    def whole(self, value: Any) -> Any:
        """Return a value with all of its levels reduced, as Python values for the codec."""
        if _known(value):
            return {name: self.whole(item) for name, item in self(value).items()}
        if type(value) in {list, tuple}:
            return [self.whole(item) for item in value]
        return value


class _Verbatim(Reducer):
    def name(self, call: str) -> str:
        return call


_verbatim = _Verbatim()


def verbatim(value: Any) -> bytes:
    """Return a nested value as bytes that differ if its encoding would.

    Raises TypeError for values that only the recorder can keep.
    """
    data = _dumped(value, _verbatim)
    if data is None:
        data = _walked(_verbatim.whole(value))
    if data is None:
        raise TypeError(f"a {type(value).__qualname__} takes the recorder")
    return data


def intricate(value: Any) -> list[str]:
    """Return the encoded fields of a message or part whose values are neither text nor None.

    Raises TypeError for an object of another library.
    """
    shape = _shapes.get(type(value))
    if shape is None:
        if not _known(value):
            raise TypeError(f"{type(value).__qualname__} is no class of Pydantic AI's")
        shape = _learnt(type(value))
    values, names, _, _ = shape
    held = vars(value)
    found = []
    for name, item in zip(names, values(value), strict=True):
        if held.get(name, _NO_DEFAULT) is not item:
            raise TypeError(f"{type(value).__qualname__} computes its {name}")
        if type(item) not in _TEXT:
            found.append(name)
    return found


def _known(value: Any) -> bool:
    return (
        dataclasses.is_dataclass(value)
        and not isinstance(value, type)
        and type(value).__module__.startswith("pydantic_ai.")
    )


def _learnt(kind: type) -> _Shape:
    """Return the parts of a class of Pydantic AI's.

    A field with its default is left out: another version's class may have more fields, all unset.
    """
    names, defaults = [], []
    for field in dataclasses.fields(kind):
        if field.name in _OUT or field.name.startswith("_"):
            continue
        # Of fields with their default, only those that distinguish kinds of parts are kept.
        kept = field.default is dataclasses.MISSING or field.name in {"kind", "part_kind"}
        names.append(field.name)
        defaults.append(_NO_DEFAULT if kept else field.default)
    # `attrgetter` of a single name returns no tuple.
    values = (
        attrgetter(*names) if len(names) > 1 else lambda value: tuple(getattr(value, name) for name in names)
    )
    texts = tuple((name, text) for name, text in zip(names, defaults, strict=True) if isinstance(text, str))
    _shapes[kind] = values, tuple(names), tuple(defaults), texts
    return _shapes[kind]


def _coded(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError("bytes are the recorder's to keep")
    return codec.Encoder().encode(value)
