"""Check the references between the lines of a recording: calls, and arguments with a base."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reenact.core.model import delta
from reenact.core.model.event import Tree
from reenact.core.model.schema import Unfit, count


class References:
    """Check the references between the lines of one file: calls, and arguments with a base.

    A call that a line refers to may be missing only after a noted hole: the recorder notes one if it could not write.
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
                raise Unfit(f"it belongs to call {data['call']}, which does not exist")
        elif event == "noted" and data["what"] == "hole":
            self._hole = True

    def _called(self, number: int, within: int | None, args: Mapping[str, Tree]) -> None:
        if number in self._args:
            raise Unfit(f"call {number} is asked twice")
        if within is not None and within >= number:
            raise Unfit(f"call {number} is inside call {within}, which is not an earlier one")
        if dict in map(type, args.values()):
            trees = ((name, tree) for name, tree in args.items() if type(tree) is dict)
            if len({self._argument(number, name, tree) for name, tree in trees} - {0}) > 1:
                raise Unfit(f"the arguments of call {number} are written against different calls")
        self._args[number] = args

    def _argument(self, number: int, name: str, tree: Mapping[str, Tree]) -> int:
        """Return the base call of an argument; 0 for none."""
        tag = delta.tag_of(tree)
        if tag is None:
            return 0
        written = tree[tag]
        reference = written if tag != "$same" else [written, 0, 0]
        if type(reference) is not list or len(reference) != 3 or not all(map(count, reference)):
            raise Unfit(f"the argument `{name}` has no valid reference in `{tag}`")
        base, head, tail = reference
        if base >= number or (base not in self._args and not self._hole):
            raise Unfit(f"the argument `{name}` is written against call {base}, which is not an earlier one")
        kind, size = self._size(base, name)
        if tag == "$same":
            found = kind, size
        else:
            wanted: type = _SHARED[tag]
            if type(tree["new"]) is not wanted:
                raise Unfit(f"the argument `{name}` has a member `new` of the wrong type")
            if kind and (kind != wanted.__name__ or head + tail > size):
                raise Unfit(
                    f"the argument `{name}` does not fit that of call {base}, which it is written against"
                )
            new: Any = tree["new"]
            found = wanted.__name__, head + len(new) + tail
        if not kind and not self._hole:
            raise Unfit(f"the argument `{name}` is written against call {base}, which has none of that name")
        self._sizes[number, name] = found
        return int(base)

    def _size(self, call: int, name: str) -> tuple[str, int]:
        """Return the type and length of an earlier argument when it is whole.

        An empty type if missing.
        """
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
