"""`prune`: delete old recordings, and the files that killed replays have left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from reenact.core.dataclass import dataclass
from reenact.core.query.summary import Summary
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.run.files.scratch import abandoned, clear
from reenact.verbs import interface, marks, rm
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.list import STATUS
from reenact.verbs.rm import Yes, delete

_AGE = re.compile(r"([0-9]{1,9})\s*([mhdw])")
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Options(interface.Options):
    """Delete old recordings, by number or by age, and the files that killed replays have left.

    Without a number or an age, only those files are deleted.
    """

    common: ClassVar = (marks.HOME,)

    keep: Annotated[int | None, Field(ge=0, description="Keep this many of the newest.")] = None
    older_than: Annotated[str, Field(description="Only recordings older than this: 30d, 12h, 2w.")] = ""
    status: Annotated[str, Field(description="Only ok, error, stopped, unsealed or broken.")] = ""
    dry_run: Annotated[bool, Field(description="Show what would be deleted, and delete nothing.")] = False
    yes: Yes = False


@dataclass(frozen=True)
class Result(interface.Result):
    """The old recordings.

    Attributes:
        among: The number of all recordings.
        chosen: The old ones.
        done: The deleted ones.
        scratch: The folders of files that killed replays and forks had left.
    """

    among: int
    chosen: Sequence[Summary]
    done: rm.Result
    scratch: Sequence[str] = ()

    def tree(self) -> dict[str, Any]:
        """Return the old and the deleted recordings as JSON values."""
        return {
            "chosen": [line.id for line in self.chosen],
            **self.done.tree(),
            "scratch": list(self.scratch),
        }


def run(options: Options, context: Context) -> Result:
    """Delete old recordings, after asking, and left files.

    Raises UsageError for options without a measure, if nothing was left.
    """
    left = list(abandoned())
    if not options.dry_run:
        for folder in left:
            clear(folder)
    scratch = [str(folder) for folder in left]
    if options.keep is None and not options.older_than:
        if scratch:
            return Result(0, (), rm.Result(), scratch)
        raise UsageError("say which to delete: --keep 100, --older-than 30d, or both")
    if options.status not in ("", *STATUS):
        raise UsageError(f"--status {options.status}: it is one of {', '.join(STATUS)}")
    store = LocalStore(context.home)
    lines = Index(store).summaries()
    chosen = lines[options.keep or 0 :]
    if options.older_than:
        limit = (datetime.now(UTC).timestamp() - _age(options.older_than)) * 1e9
        chosen = [line for line in chosen if line.written < limit]
    if options.status:
        chosen = [line for line in chosen if ("broken" if line.broken else line.status) == options.status]
    done = rm.Result()
    if chosen and not options.dry_run:
        done = delete(store, chosen, context, yes=options.yes, why="reenact prune")
    return Result(len(lines), chosen, done, scratch)


def _age(text: str) -> int:
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"--older-than {text}: give a number with m, h, d or w, such as 30d")
    return int(match[1]) * _UNITS[match[2]]
