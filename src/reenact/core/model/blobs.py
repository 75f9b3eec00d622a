"""Put the bytes of blobs into a tree that names them."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.errors import CorruptRecording, TooLarge

_MOST = 512 << 20
"""Bytes of blobs in one value: a line of text may name one blob a thousand times."""


class BlobFiller:
    """Puts blobs in the place of their addresses: each is read once, however often it is named.

    Args:
        blob: Returns the bytes of an address.
    """

    def __init__(self, blob: Callable[[str], bytes]) -> None:
        self._blob = blob
        self._known: dict[str, tuple[Tree, int]] = {}
        self._size = 0

    def tree(self, tree: Tree) -> Tree:
        """Return a tree with its blobs put in; the tree itself if it has none.

        Raises CorruptRecording, and TooLarge.
        """
        if type(tree) is dict:
            if "$blob" in tree and len(tree) == 1:
                return self._put(tree["$blob"])
            pairs = {key: self.tree(item) for key, item in tree.items()}
            return tree if all(pairs[key] is item for key, item in tree.items()) else pairs
        if type(tree) is list:
            items = [self.tree(item) for item in tree]
            return tree if all(map(is_, items, tree)) else items
        return tree

    def _put(self, address: Tree) -> Tree:
        if type(address) is not str:
            raise CorruptRecording("a blob is named by something that is no text")
        if address not in self._known:
            data = self._blob(address)
            self._known[address] = codec.Encoder().encode(data), len(data)
        tree, size = self._known[address]
        self._size += size
        if self._size > _MOST:
            raise TooLarge(f"one value names blobs of more than {_MOST >> 20} MB in all")
        return tree
