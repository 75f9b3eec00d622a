"""Put a recorded value back into a live one in place, so that all references see it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from reenact.core.model import codec
from reenact.core.model.event import Tree

SECRET_BEGINS = "[[secret:"  # noqa: S105 - how a secret's place-holder begins


def put_back(live: Any, tree: Tree, lost: Callable[[str], None]) -> Any:
    """Give `live` the recorded value.

    Return it, or a new value if it cannot be changed in place.

    Dicts, lists, dataclasses, pydantic models and the attributes of other objects keep their identity, by name at
    every depth; the items of a list are new. Parts that a recording cannot hold (a connection, a secret) stay as they
    are in `live`; `lost` is called with a text for each of these that has no counterpart there.
    """
    if _is_hole(tree):
        if live is None:
            lost(_said(tree))
            return codec.rebuild(tree)
        return live
    if isinstance(live, dict) and (pairs := _pairs(tree)) is not None:
        return _into_dict(live, pairs, lost)
    if isinstance(live, list) and isinstance(tree, list):
        live[:] = [_item(live, place, item, lost) for place, item in enumerate(tree)]
        return live
    fields = _fields(live, tree)
    if fields is not None:
        _into_object(live, fields, tree, lost)
        return live
    return _anew(live, tree, lost)


def put_into_attributes(live: Any, tree: Tree, lost: Callable[[str], None]) -> None:
    """Put the recorded attributes of any other object back."""
    _into_dict(live.__dict__, _pairs(tree) or {}, lost)


def made_of(tree: Tree, get: Callable[[], Any], lost: Callable[[str], None]) -> Any:
    """Return a new recorded value.

    For parts that a recording cannot hold, use the result of `get`.
    """
    return put_back(get(), tree, lost) if has_hole(tree) else codec.rebuild(tree)


def _into_dict(live: dict[Any, Any], pairs: Mapping[Any, Tree], lost: Callable[[str], None]) -> Any:
    made = {key: put_back(live.get(key), item, lost) for key, item in pairs.items()}
    # In the recorded order.
    live.clear()
    live.update(made)
    return live


def _into_object(live: Any, fields: Mapping[str, Tree], tree: Tree, lost: Callable[[str], None]) -> None:
    own = getattr(live, "__dict__", None)
    for name, item in fields.items():
        old = own.get(name) if own is not None else getattr(live, name, None)
        new = put_back(old, item, lost)
        if new is not old or old is None:
            # Past validators, properties and `frozen`: this restores a value, and is no assignment.
            object.__setattr__(live, name, new) if own is None or name not in own else own.__setitem__(
                name, new
            )
    model = tree.get("$model")
    if model is not None:
        object.__setattr__(live, "__pydantic_fields_set__", set(model["set"]))
        for extra in ("extra", "private"):
            old = getattr(live, f"__pydantic_{extra}__", None)
            if old is not None:
                _into_dict(old, model.get(extra, {}), lost)


def _item(live: list[Any], place: int, tree: Tree, lost: Callable[[str], None]) -> Any:
    if not has_hole(tree):
        return codec.rebuild(tree)
    return put_back(live[place] if place < len(live) else None, tree, lost)


def _anew(live: Any, tree: Tree, lost: Callable[[str], None]) -> Any:
    if has_hole(tree):
        lost(_said(tree))
    return codec.rebuild(tree)


def _pairs(tree: Tree) -> dict[Any, Tree] | None:
    """Return the members of a dict's tree, with keys of any type; None for any other tree."""
    if not isinstance(tree, dict):
        return None
    if len(tree) == 1:
        ((tag, inner),) = tree.items()
        if tag == "$sub" and inner.get("base") == "dict":
            return _pairs(inner["value"])
        if tag in ("$dict", "$ordereddict", "$counter"):
            return {_key(key): item for key, item in inner}
        if tag[:1] == "$":
            return None
    return tree


def _key(tree: Tree) -> Any:
    key = codec.rebuild(tree)
    return tuple(key) if isinstance(key, list) else key


def _fields(live: Any, tree: Tree) -> Mapping[str, Tree] | None:
    """Return the recorded fields of an object of the class of `live`; None for other trees."""
    if not isinstance(tree, dict) or len(tree) != 1:
        return None
    ((tag, inner),) = tree.items()
    if tag not in ("$dataclass", "$model") or codec.find_type(inner["type"]) is not type(live):
        return None
    known = dataclasses.is_dataclass(live) or tag == "$model" or hasattr(type(live), "__attrs_attrs__")
    fields: Mapping[str, Tree] = inner["fields"]
    return fields if known else None


def _is_hole(tree: Tree) -> bool:
    if isinstance(tree, str):
        return SECRET_BEGINS in tree
    return isinstance(tree, dict) and len(tree) == 1 and ("$unkept" in tree or "$secret" in tree)


def has_hole(tree: Tree) -> bool:
    if isinstance(tree, dict):
        return _is_hole(tree) or any(has_hole(item) for item in tree.values())
    if isinstance(tree, list):
        return any(has_hole(item) for item in tree)
    return _is_hole(tree)


def _said(tree: Tree) -> str:
    if isinstance(tree, dict) and "$unkept" in tree:
        return f"a {str(tree['$unkept'][0]).replace(':', '.')}"
    return "a secret"
