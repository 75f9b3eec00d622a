"""The process of one job: `python -m reenact.server.work FOLDER`. It runs the verb.

It is a separate process because a job runs programs of others, and may use up all memory. It writes lines of JSON to
standard output: `{"done", "total", "label"}` for progress and at last `{"result"}` or `{"error"}`. It ends when the
server, which keeps standard input open, has ended.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from reenact.analysis.views.base import fields
from reenact.core.trust import consent
from reenact.errors import ReenactError
from reenact.server.orders import ORDERS, Order, verb_of
from reenact.verbs.interface import Context

ORDER = "order.json"
"""The file with the order, in the job's folder."""

FILES = "files"
"""The folder of the files that it makes, in the job's folder."""


@dataclass
class JobContext(Context):
    """The context of a job: progress goes to the server, notes go to the log.

    Attributes:
        out: The stream for messages to the server.
        done: The number of finished parts.
    """

    out: BinaryIO = field(kw_only=True)
    done: int = field(default=0, init=False)

    def tell(self, **said: Any) -> None:
        """Send one line to the server."""
        self.out.write(orjson.dumps(said, default=fields, option=orjson.OPT_NON_STR_KEYS) + b"\n")
        self.out.flush()

    def say(self, line: str, of: int | None = None) -> None:
        """Count one more finished part."""
        self.done += 1
        # Some verbs report more lines than they have parts.
        self.tell(done=min(self.done, of or self.done), total=of, label=line)

    def note(self, line: str) -> None:
        """Write to the log."""
        print(line)

    def warn(self, line: str) -> None:
        """Write to the log."""
        print(line)

    def progress(self, what: str, done: int, total: int, *, label: str = "", note: str = "") -> None:
        """Send the number of finished parts."""
        self.tell(done=done, total=total, label=label or what)


def work(order: Order, desk: JobContext) -> None:
    """Run an order, and send its result or error."""
    try:
        result = verb_of(order).module.run(order.asked, desk)
        if result.failure:
            raise ReenactError(result.failure)
        desk.tell(result=result.tree())
    except ReenactError as error:
        desk.tell(error=str(error))


def main(folder: Path, home: Path, *, run_foreign: bool = False) -> None:
    """Work on the job of a folder."""
    # The output of verbs and programs goes to the log; only this process writes to the server.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Exit by an exception, so that verbs end the programs that they have started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    threading.Thread(target=_watch, args=(os.dup(0),), daemon=True).start()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    files = folder / FILES
    files.mkdir(mode=0o700, exist_ok=True)
    desk = JobContext(home, run_foreign, files=files, quiet=True, out=out)
    work(ORDERS.validate_json((folder / ORDER).read_bytes()), desk)


def _watch(server: int) -> None:
    """Exit when the server has ended, which closes the pipe."""
    while os.read(server, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), run_foreign=consent.OPTION in sys.argv[3:])
