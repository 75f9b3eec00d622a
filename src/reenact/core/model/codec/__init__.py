"""Convert Python values to JSON trees and back, with their types kept.

Plain JSON would turn a tuple into a list and a datetime into text, and so change the next prompt. A type that JSON
lacks is written as an object with one key that begins with `$` (`{"$tuple": [1, 2]}`); `docs/format.md` lists them. A
dict of the user's that looks like such an object is itself escaped.

Trees are read in two ways. `view` is for all reading: it touches no class of the program's and gives inert views in
the place of objects. `rebuild` restores objects of the classes that the running program has loaded, for a replay, a
fork or a restored state; it executes none of their code. Both raise CorruptRecording for an invalid tree. A part
that cannot be kept becomes an `Unkept`, which reports it on use.
"""

from reenact.core.model.codec.decode import TAGS, Unkept
from reenact.core.model.codec.encode import BLOB_SIZE, Encoder, is_own_tree
from reenact.core.model.codec.errors import RecordedError, encode_error
from reenact.core.model.codec.rebuild import flaw, rebuild, rebuild_error
from reenact.core.model.codec.types import find_type, type_name, typed
from reenact.core.model.codec.view import RecordedValue, view, view_error
from reenact.core.model.codec.viewed import RecordedTuple
from reenact.core.model.codec.written import Items, Memory, dumps, fragments, loads, packed, tagged

__all__ = [
    "BLOB_SIZE",
    "TAGS",
    "Encoder",
    "Items",
    "Memory",
    "RecordedError",
    "RecordedTuple",
    "RecordedValue",
    "Unkept",
    "dumps",
    "encode_error",
    "find_type",
    "flaw",
    "fragments",
    "is_own_tree",
    "loads",
    "packed",
    "rebuild",
    "rebuild_error",
    "tagged",
    "type_name",
    "typed",
    "view",
    "view_error",
]
