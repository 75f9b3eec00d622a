"""Python values to JSON trees and back, with their types kept.

Plain JSON would turn a tuple into a list and a datetime into text, and so change the next prompt. What JSON has no
word for is written as an object with one key that begins with `$` (`{"$tuple": [1, 2]}`); `docs/format.md` lists
them. A dict of the user's that looks like such an object is itself escaped.

Reading back executes nothing: a type is looked up among the modules that are already loaded, and its instance is
filled in without calling its constructor. What cannot be kept becomes an `Unkept`, which says so where it is used.
"""

from reenact.model.codec.decode import TAGS, Unkept, decode, decode_error, flaw
from reenact.model.codec.encode import BLOB_SIZE, Encoder
from reenact.model.codec.errors import RecordedError, encode_error
from reenact.model.codec.types import find_type, type_name
from reenact.model.codec.written import Items, Memory, dumps, fragments, loads, packed, tagged

__all__ = [
    "BLOB_SIZE",
    "TAGS",
    "Encoder",
    "Items",
    "Memory",
    "RecordedError",
    "Unkept",
    "decode",
    "decode_error",
    "dumps",
    "encode_error",
    "find_type",
    "flaw",
    "fragments",
    "loads",
    "packed",
    "tagged",
    "type_name",
]
