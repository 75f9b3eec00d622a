"""Put new plain values into recorded trees, with the recorded types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.model.plain import compact, parsed, plain
from reenact.core.patterns import lazy
from reenact.core.replay.watch import Edit
from reenact.errors import UsageError

_KEY = lazy(r"[^.\[\]]+")
_LISTS = ("$tuple", "$set", "$frozenset")
_PAIRS = ("$dict", "$ordereddict", "$counter")
_TEXTS = ("$decimal", "$fraction", "$uuid", "$path", "$date", "$time", "$datetime", "$surrogates")


def put(tree: Tree, path: str, value: Any, where: str) -> Tree:
    """Return the tree with another value at a dotted path. Raises UsageError for a bad path."""
    keys = _KEY.findall(path)
    if not keys:
        raise UsageError(f"{where}: {path!r} is no path; write it as parts[0].content")
    return _put(tree, keys, lambda old: fit(old, value, where), f"{where} has no output.{path}")


def with_body(old: Edit, data: bytes) -> Edit:
    """Return an HTTP answer with another body: the same head, with the body's length."""
    head = old.value
    if isinstance(head, dict) and isinstance(head.get("headers"), list):
        kept = [pair for pair in head["headers"] if str(pair[0]).lower() != "content-length"]
        if len(kept) < len(head["headers"]) and not head.get("decoded"):
            kept.append(["content-length", str(len(data))])
        head = {**head, "headers": kept}
    return Edit(head, ({"$utf8": data.decode()},))


def _put(tree: Tree, keys: list[str], change: Callable[[Tree], Tree], missing: str) -> Tree:
    if not keys:
        return change(tree)
    key, rest = keys[0], keys[1:]
    tag = next(iter(tree)) if isinstance(tree, dict) and len(tree) == 1 else ""
    if tag in _LISTS:
        return {tag: _put(tree[tag], keys, change, missing)}
    if tag in ("$dataclass", "$model"):
        return {tag: {**tree[tag], "fields": _put(tree[tag]["fields"], keys, change, missing)}}
    if tag == "$namedtuple":
        return {tag: {**tree[tag], "items": _put(tree[tag]["items"], keys, change, missing)}}
    if tag in _PAIRS:
        pairs = [list(pair) for pair in tree[tag]]
        found = next((pair for pair in pairs if str(plain(pair[0])) == key), None)
        if found is None:
            raise UsageError(f"{missing}: there is {_some(str(plain(pair[0])) for pair in pairs)}")
        found[1] = _put(found[1], rest, change, missing)
        return {tag: pairs}
    if isinstance(tree, dict) and not tag.startswith("$"):
        if key not in tree and rest:
            raise UsageError(f"{missing}: there is {_some(tree)}")
        return {**tree, key: _put(tree.get(key), rest, change, missing)}
    if isinstance(tree, list):
        if not key.lstrip("-").isdigit() or not -len(tree) <= int(key) < len(tree):
            raise UsageError(f"{missing}: there are {len(tree)} items, from [0]")
        changed = list(tree)
        changed[int(key)] = _put(changed[int(key)], rest, change, missing)
        return changed
    if isinstance(tree, str) and isinstance(inner := parsed(tree), (dict, list)):
        # JSON in a text, as tools like to return it.
        return orjson.dumps(_put(inner, keys, change, missing)).decode()
    raise UsageError(f"{missing}: there is {plain(tree)!r:.80}")


def fit(old: Tree, new: Any, where: str) -> Tree:
    """Return a new value as a tree, with the types of the old one where they agree in form."""
    encoder = codec.Encoder()
    tree = encoder.encode(new)
    if encoder.unkept:
        raise UsageError(f"{where}: a value of type {encoder.unkept[0]} cannot be kept")
    return _fit(old, tree, where)


def _fit(old: Tree, new: Tree, where: str) -> Tree:
    if old is not None and _alike(plain(old), new):
        # Not edited: its recorded form has more than is shown, such as the bytes, or that a number is a float.
        return old
    tag = next(iter(old)) if isinstance(old, dict) and len(old) == 1 else ""
    if not tag.startswith("$"):
        if isinstance(old, dict) and isinstance(new, dict):
            return {key: _fit(old.get(key), item, where) for key, item in new.items()}
        if isinstance(old, list) and isinstance(new, list):
            return _items(old, new, where)
        return new
    if isinstance(new, dict) and next(iter(new), "").startswith("$"):
        # It has its own type.
        return new
    return _typed(tag, old[tag], new, where)


def _typed(tag: str, old: Any, new: Tree, where: str) -> Tree:
    if tag in _LISTS and isinstance(new, list):
        return {tag: _items(old, new, where)}
    if tag in ("$dataclass", "$model") and isinstance(new, dict):
        unknown = sorted(new.keys() - old["fields"].keys() - (old.get("extra") or {}).keys())
        if unknown:
            raise UsageError(f"{where}: {old['type']} has no {unknown[0]}; it has {_some(old['fields'])}")
        fields = {key: _fit(old["fields"].get(key), item, where) for key, item in new.items()}
        return {tag: {**old, "fields": {**old["fields"], **fields}}}
    if tag == "$namedtuple" and isinstance(new, list):
        return {tag: {**old, "items": _items(old["items"], new, where)}}
    if tag in _PAIRS and isinstance(new, dict):
        known = {compact(plain(key)): [key, item] for key, item in old}
        pairs = ((known.get(key, [key, None]), item) for key, item in new.items())
        return {tag: [[key, _fit(before, item, where)] for (key, before), item in pairs]}
    if tag in ("$utf8", "$bytes") and isinstance(new, str):
        return {"$utf8": new}
    if tag in _TEXTS and isinstance(new, (str, int, float)):
        return _checked({tag: str(new)}, tag, new, where)
    if tag == "$enum" and isinstance(new, str):
        return {tag: [old[0], new]}
    return new


def _checked(tree: Tree, tag: str, new: Any, where: str) -> Tree:
    try:
        codec.view(tree)
    except Exception as error:
        raise UsageError(f"{where}: {new!r} is no {tag[1:]} ({error})") from None
    return tree


def _alike(shown: Any, new: Tree) -> bool:
    """Return whether a value is the shown one; 1 and 1.0 are one number, as in JSON."""
    if isinstance(shown, dict) and isinstance(new, dict):
        return shown.keys() == new.keys() and all(_alike(item, new[key]) for key, item in shown.items())
    if isinstance(shown, list) and isinstance(new, list):
        return len(shown) == len(new) and all(map(_alike, shown, new))
    return isinstance(shown, bool) == isinstance(new, bool) and bool(shown == new)


def _items(old: list[Tree], new: list[Tree], where: str) -> list[Tree]:
    shown = [plain(item) for item in old]
    moved = {compact(item): place for place, item in reversed([*enumerate(shown)])}

    def before(place: int, item: Tree) -> Tree:
        """Return the recorded item: the one at this place, or an equal one at another place."""
        if not old or (place < len(old) and _alike(shown[place], item)):
            return old[place] if old else None
        return old[moved.get(compact(item), min(place, len(old) - 1))]

    return [_fit(before(place, item), item, where) for place, item in enumerate(new)]


def _some(names: Any) -> str:
    found = [str(name) for name in names]
    return ", ".join(found[:8]) + (" …" if len(found) > 8 else "") if found else "nothing"
