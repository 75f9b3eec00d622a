"""Keep a tracked state in small pieces, so that the next look at it costs little.

Most of a large state does not change between two looks. It is kept as bytes, piece by piece: a look makes the bytes
of each piece again, which is done in C, and compares. Only the differences are encoded, and `patch` writes them.
Nothing here refers to the live objects, which may change; a node never does.
"""

from __future__ import annotations

import marshal
import operator
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import orjson

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.model.fields import ObjectShape, shape_of, without_fields

SPLIT = 512
"""The size in bytes from which a container is compared part by part.

Smaller ones are written whole, so that a name and its value stay together for the search for secrets.
"""

PLAIN, OWN, CODED = 0, 1, 2

_MARSHAL = 2  # the last version without back-references, so that equal values have equal bytes
_DEEP = 60
_ROW = 64
_TRIES = 8
_CONTAINERS = {dict, list, set, OrderedDict, Counter, deque}
_CHANGING = {codec.type_name(kind) for kind in _CONTAINERS}
"""Built-in containers, which are unkept only if they change meanwhile or are too deep."""


class Leaf:
    """A piece that is compared, and written, as a whole.

    Attributes:
        data: The value: bytes of marshal (`PLAIN`), of marshal over a class's name and fields (`OWN`), or its tree's
            JSON (`CODED`).
        how: One of the three ways.
    """

    __slots__ = ("data", "how")

    def __init__(self, data: bytes, how: int) -> None:
        self.data = data
        self.how = how

    @property
    def is_text(self) -> bool:
        """True if it is a str."""
        return self.how == PLAIN and self.data[:1] == b"u"

    def tree(self, encoder: codec.Encoder) -> Tree:
        """Return the value's tree, from the bytes alone: the written value is the compared one."""
        if self.how == CODED:
            return orjson.Fragment(self.data)
        value = marshal.loads(self.data)  # noqa: S302 - bytes that this process has just made
        if self.how == PLAIN:
            return encoder.encode(value)
        name, fields, *given = value
        tree = {"type": name, "fields": {key: encoder.encode(item) for key, item in fields.items()}}
        return {"$model": {**tree, "set": given[0]}} if given else {"$dataclass": tree}


class Branch:
    """A large container, part by part: by key for an object, by place for a list.

    Attributes:
        kind: The type of the live value; None for a part of a tree that had to be encoded first.
        sums: Of a list, the bytes of each row of items, if these show every change.
    """

    __slots__ = ("_mark", "kids", "kind", "sums")

    def __init__(
        self, kids: dict[str, Node] | list[Node], kind: type | None, sums: Sequence[Sum | None] = ()
    ) -> None:
        self.kids = kids
        self.kind = kind
        self.sums = sums
        self._mark: int | None = None

    def __hash__(self) -> int:
        if self._mark is None:
            self._mark = hash(tuple(mark(kid) for kid in self._all()))
        return self._mark

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if (
            not isinstance(other, Branch)
            or type(self.kids) is not type(other.kids)
            or hash(self) != hash(other)
        ):
            return False
        if isinstance(self.kids, dict) and list(self.kids) != list(other.kids):
            return False
        mine, others = self._all(), other._all()
        return len(mine) == len(others) and all(map(same, mine, others))

    def _all(self) -> list[Node]:
        return list(self.kids.values()) if isinstance(self.kids, dict) else self.kids


Node: TypeAlias = Leaf | Branch
Sum: TypeAlias = tuple[int, tuple[type, ...], bytes]


def mark(node: Node) -> object:
    """Return a key that equal pieces share, for look-ups."""
    return node.data if type(node) is Leaf else node


def same(one: Node, other: Node) -> bool:
    """Return True if two pieces stand for the same value."""
    if type(one) is Leaf and type(other) is Leaf:
        return one is other or (one.data == other.data and one.how == other.how)
    return one == other


class Look:
    """One look at a state.

    Args:
        encoder: Encodes values that are not plain data; its `unkept` names the parts that could not be kept.
    """

    def __init__(self, encoder: codec.Encoder) -> None:
        self._encoder = encoder
        self._depth = 0

    def at(self, value: Any, old: Node | None = None) -> Node:
        """Return the node of a value: `old` itself if nothing has changed.

        Unchanged parts are reused.
        """
        kind = type(value)
        self._depth += 1
        try:
            if type(old) is Branch and old.kind is kind:
                return self._branch(value, kind, old) or self._leaf(value, kind, None)
            if _is_large(value, kind) and self._depth <= _DEEP and (found := self._branch(value, kind, None)):
                return found
            leaf = self._leaf(value, kind, old)
            if leaf is old or len(leaf.data) <= SPLIT or self._depth > _DEEP:
                return leaf
            return self._branch(value, kind, None) or leaf
        finally:
            self._depth -= 1

    # -- pieces ----------------------------------------------------------------------------------------------

    def _leaf(self, value: Any, kind: type, old: Node | None) -> Leaf:
        known = old if type(old) is Leaf else None
        if known is None or known.how == PLAIN:
            try:
                data = marshal.dumps(value, _MARSHAL)
                if known is not None and data == known.data:
                    return known
                # orjson refuses buffers, which marshal takes for bytes; marshal refuses other types that orjson takes.
                orjson.dumps(value)
                return Leaf(data, PLAIN)
            except (ValueError, TypeError):
                pass
        own = self._own(value, kind, known)
        if own is not None:
            return own
        data = codec.dumps(self._encoded(value, kind))
        return known if known is not None and known.how == CODED and data == known.data else Leaf(data, CODED)

    def _own(self, value: Any, kind: type, known: Leaf | None) -> Leaf | None:
        """Return an object of plain fields as bytes, made in C: a tenth of the time of encoding it."""
        shape = shape_of(kind)
        if shape is None or (fields := shape.parts(value)) is None or (given := shape.given(value)) is None:
            return None
        try:
            data = marshal.dumps((shape.name, fields, *given), _MARSHAL)
            if known is not None and data == known.data:
                return known
            orjson.dumps(fields)
            return Leaf(data, OWN)
        except (ValueError, TypeError):
            return None

    # -- containers ------------------------------------------------------------------------------------------

    def _branch(self, value: Any, kind: type, old: Branch | None) -> Branch | None:
        if kind is dict:
            # Copied in one step, as another thread may change it. A list of the items could run the garbage collector.
            found = self._keys(value.copy().items(), old, kind)
            return found if found is not None else self._tree(value, kind, old)
        if kind is list:
            return self._items(list(value), old)
        shape = shape_of(kind)
        if shape is not None and (fields := shape.parts(value)) is not None:
            return self._object(value, shape, fields, old)
        return self._tree(value, kind, old)

    def _keys(self, items: Iterable[tuple[Any, Any]], old: Branch | None, kind: type | None) -> Branch | None:
        """Return the parts of a dict, or None if JSON cannot have its keys."""
        before: Mapping[str, Node] = old.kids if old is not None and isinstance(old.kids, dict) else {}
        kids: dict[str, Node] = {}
        changed = False
        dumps = marshal.dumps
        for key, item in items:
            earlier = before.get(key) if type(key) is str else None
            if earlier is None and not _plain_key(key):
                return None
            if type(earlier) is Leaf and earlier.how == PLAIN:
                try:
                    if dumps(item, _MARSHAL) == earlier.data:
                        kids[key] = earlier
                        continue
                except ValueError:
                    pass
            kid = kids[key] = self.at(item, earlier)
            changed |= kid is not earlier
        unchanged = not changed and old is not None and list(before) == list(kids)
        return old if unchanged else Branch(kids, kind)

    def _items(self, items: list[Any], old: Branch | None) -> Branch:
        before: list[Node] = old.kids if old is not None and isinstance(old.kids, list) else []
        known = old.sums if old is not None else []
        kids: list[Node] = []
        sums: list[Sum | None] = []
        changed = len(before) != len(items)
        for first in range(0, len(items), _ROW):
            row, earlier = items[first : first + _ROW], before[first : first + _ROW]
            place = first // _ROW
            sum_ = known[place] if place < len(known) else None
            if sum_ is not None and _sum(row, sum_[0]) == sum_:
                kids += earlier
                sums.append(sum_)
                continue
            made = self._row(row, earlier)
            same = len(made) == len(earlier) and all(map(operator.is_, made, earlier))
            changed |= not same
            kids += made
            # A changed row (mostly the last one) may change again: it is summed up once it stays the same.
            sums.append(_sum(row, _way(made), new=True) if same else None)
        if old is None or changed:
            return Branch(kids, list, sums)
        old.sums = sums
        return old

    def _row(self, items: list[Any], before: list[Node]) -> list[Node]:
        kids: list[Node] = []
        dumps = marshal.dumps
        for place, item in enumerate(items):
            earlier = before[place] if place < len(before) else None
            if type(earlier) is Leaf and earlier.how == PLAIN:
                try:
                    if dumps(item, _MARSHAL) == earlier.data:
                        kids.append(earlier)
                        continue
                except ValueError:
                    pass
            if type(earlier) is Leaf and earlier.how == OWN:
                kid = self._leaf(item, type(item), earlier)
                kids.append(kid if kid is earlier else self.at(item))
            else:
                kids.append(self.at(item, earlier))
        return kids

    def _object(
        self, value: Any, shape: ObjectShape, fields: dict[str, Any], old: Branch | None
    ) -> Branch | None:
        """Return a dataclass or a pydantic model with its fields part by part."""
        tag = "$model" if shape.model else "$dataclass"
        body = old.kids.get(tag) if old is not None and isinstance(old.kids, dict) else None
        known: Mapping[str, Node] = (
            body.kids if isinstance(body, Branch) and isinstance(body.kids, dict) else {}
        )
        inner = known.get("fields")
        parts = self._keys(fields.items(), inner if isinstance(inner, Branch) else None, dict)
        if parts is None:
            return None
        kids: dict[str, Node] = {"type": self._coded(shape.name, known), "fields": parts}
        if shape.model:
            rest = self._encoder.encode(without_fields(value))["$model"]
            kids |= {name: self._coded(rest[name], known, name) for name in rest if name not in kids}
        if list(known) == list(kids) and all(known[name] is kid for name, kid in kids.items()):
            return old
        return Branch({tag: Branch(kids, None)}, type(value))

    def _coded(self, tree: Tree, known: Mapping[str, Node], name: str = "type") -> Leaf:
        data, old = codec.dumps(tree), known.get(name)
        return old if isinstance(old, Leaf) and old.data == data else Leaf(data, CODED)

    def _tree(self, value: Any, kind: type, old: Branch | None) -> Branch | None:
        """Return any other container: encoded whole at each look, and compared part by part."""
        # In the form that will be read: texts that UTF-8 cannot hold change theirs in writing.
        tree = codec.loads(codec.dumps(self._encoded(value, kind)))
        found = self._part(tree, old)
        if not isinstance(found, Branch) or found is old:
            return old if found is old else None
        return Branch(found.kids, kind)

    def _encoded(self, value: Any, kind: type) -> Tree:
        """Return the value's tree. If another thread changes the value meanwhile, try again."""
        unkept = self._encoder.unkept
        before = len(unkept)
        for left in reversed(range(_TRIES)):
            tree = self._encoder.encode(value.copy() if kind in _CONTAINERS else value)
            if not left or not any(name in _CHANGING for name in unkept[before:]):
                return tree
            del unkept[before:]
        return None

    def _part(self, tree: Tree, old: Node | None) -> Node:
        data = codec.dumps(tree)
        if isinstance(old, Leaf) and old.data == data and old.how == CODED:
            return old
        if len(data) <= SPLIT or not isinstance(tree, (dict, list)):
            return Leaf(data, CODED)
        before: Any = old.kids if isinstance(old, Branch) and type(old.kids) is type(tree) else type(tree)()
        kids: Any
        if isinstance(tree, dict):
            kids = {key: self._part(item, before.get(key)) for key, item in tree.items()}
            same = list(before) == list(kids) and all(before[key] is kid for key, kid in kids.items())
        else:
            kids = [
                self._part(item, before[place] if place < len(before) else None)
                for place, item in enumerate(tree)
            ]
            same = len(before) == len(kids) and all(one is two for one, two in zip(before, kids, strict=True))
        return old if same and old is not None else Branch(kids, None)


def _is_large(value: Any, kind: type, *, inside: bool = True) -> bool:
    """Return True if a container is certainly large, without encoding it to see."""
    if kind is list or kind is dict:
        return len(value) > SPLIT
    if not inside or (shape := shape_of(kind)) is None:
        return False
    return any(_is_large(part, type(part), inside=False) for part in (shape.parts(value) or {}).values())


def _way(kids: list[Node]) -> int:
    """Return the way to sum up a row of pieces."""
    ways = {kid.how if type(kid) is Leaf else _way_of(kid.kind) for kid in kids}  # type: ignore[union-attr]
    return ways.pop() if len(ways) == 1 else CODED


def _way_of(kind: type | None) -> int:
    if kind is dict or kind is list:
        return PLAIN
    shape = shape_of(kind) if kind is not None else None
    return OWN if shape is not None and not shape.model else CODED


def _sum(items: list[Any], way: int, *, new: bool = False) -> Sum | None:
    """Return the bytes of a row at once; for objects, with their classes. None if incomplete."""
    if way == CODED:
        return None
    try:
        kinds = tuple(map(type, items)) if way == OWN else ()
        if any(_way_of(kind) != OWN for kind in set(kinds)):
            return None
        parts = [item.__dict__ for item in items] if way == OWN else items
        data = marshal.dumps(parts, _MARSHAL)
        if new:
            # marshal takes buffers for bytes, orjson refuses them: an equal row has none either.
            orjson.dumps(parts)
    except (ValueError, TypeError, AttributeError):
        return None
    return way, kinds, data


def _plain_key(key: Any) -> bool:
    if type(key) is not str or key[:1] == "$":
        return False
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True
