"""The process of one job: `python -m reenact.server.work FOLDER`. It runs the verb.

A job runs foreign programs, and may use up all memory: the server must survive it. Standard output has
lines of JSON, `{"done", "total", "label"}` for progress and last `{"result"}` or `{"error"}`. The server holds standard
input open: at its end, this process ends, too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from reenact.core import private
from reenact.core.trust import consent
from reenact.errors import ReenactError
from reenact.server import orders

ORDER = "order.json"
"""The file with the order, in the job's folder."""

FILES = "files"
"""The folder of the files it makes, in the job's folder."""


@dataclass
class Desk:
    """The place of work of one job.

    Attributes:
        home: The folder of the recordings.
        files: The folder for the files that it makes.
        out: The stream for messages to the server.
        run_foreign: Programs of foreign recordings may run.
        done: The number of finished parts.
    """

    home: Path
    files: Path
    out: BinaryIO
    run_foreign: bool = False
    done: int = field(default=0, init=False)

    def tell(self, **said: Any) -> None:
        """One line to the server."""
        self.out.write(orjson.dumps(said, default=repr, option=orjson.OPT_NON_STR_KEYS) + b"\n")
        self.out.flush()

    def counted(self, total: int | None) -> Callable[[str], None]:
        """Return a function that counts each line of a verb as one finished part."""

        def tell(label: str) -> None:
            self.done += 1
            # Some verbs say a word more than they have parts.
            self.tell(done=min(self.done, total or self.done), total=total, label=label)

        return tell


def _reproduce(order: orders.Reproduce, desk: Desk) -> Any:
    from reenact.core.store.local import LocalStore  # noqa: PLC0415
    from reenact.verbs.reproduce import reproduce  # noqa: PLC0415 - each job pays for its own verb alone
    from reenact.verbs.reproduce.trees import reproduction_tree  # noqa: PLC0415
    from reenact.verbs.reproduce.world import check_world  # noqa: PLC0415

    chosen = order.options
    recording = LocalStore(desk.home).load(order.recording)
    progress = desk.counted(chosen.times)
    done = reproduce(
        recording, times=chosen.times, live=chosen.live, ignore=chosen.ignore, patience=chosen.timeout,
        home=desk.home, run_foreign=desk.run_foreign, progress=progress,
    )  # fmt: skip
    asked = None
    if chosen.check_world:
        asked = check_world(recording, home=desk.home, run_foreign=desk.run_foreign, progress=progress)
    return reproduction_tree(done, asked)


def _verify(order: orders.Verify, desk: Desk) -> Any:
    from reenact.run.launch import Options  # noqa: PLC0415
    from reenact.verbs.verify import Outcome, pages, verify  # noqa: PLC0415

    chosen, tell = order.options, desk.counted(len(order.recordings))

    def came(outcome: Outcome) -> None:
        tell(f"{outcome.id or outcome.ref}: {outcome.status.value}")

    outcomes = verify(
        order.recordings, entry=chosen.entry, workers=chosen.workers, timeout=chosen.timeout, home=desk.home,
        options=Options(tuple(chosen.live), tuple(chosen.ignore), chosen.on_divergence), progress=came,
        run_foreign=desk.run_foreign,
    )  # fmt: skip
    private.write(desk.files / "verify.xml", pages.junit(outcomes))
    private.write(desk.files / "verify.html", pages.page(outcomes))
    return [outcome.tree() for outcome in outcomes]


def _fork(order: orders.Fork, desk: Desk) -> Any:
    from reenact.run.launch.forking import Options, fork  # noqa: PLC0415

    chosen = order.options
    options = Options(chosen.at, tuple(chosen.set), chosen.model, tuple(chosen.live), tuple(chosen.ignore))
    done = fork(order.recording, options, home=desk.home, quiet=True, run_foreign=desk.run_foreign)
    if done.recording is None:
        raise ReenactError(f"{done.parent.id} was not forked: {done.reason}")
    return done.tree(chosen.at)


def _bisect(order: orders.Bisect, desk: Desk) -> Any:
    from reenact.verbs.reproduce import bisect  # noqa: PLC0415
    from reenact.verbs.reproduce.trees import decisive_tree, summary  # noqa: PLC0415

    chosen = order.options
    found = bisect(
        order.recording, chosen.good, check=chosen.check or None, live=chosen.live, ignore=chosen.ignore,
        exact=chosen.exact, trials=chosen.trials, patience=chosen.timeout, home=desk.home,
        run_foreign=desk.run_foreign,
        progress=desk.counted(None),
    )  # fmt: skip
    return {"summary": summary(found), **decisive_tree(found)}


def _video(order: orders.Video, desk: Desk) -> Any:
    from reenact.browser.video import render  # noqa: PLC0415
    from reenact.core.store.local import LocalStore  # noqa: PLC0415

    chosen = order.options
    folder = LocalStore(desk.home).find(order.recording)
    video = render(
        folder, desk.files / f"{order.recording}-{chosen.session}.mp4", session=chosen.session,
        pace=chosen.pace, mask=chosen.mask,
        progress=lambda done, total: desk.tell(done=done, total=total, label="drawing"),
    )  # fmt: skip
    return {"duration_ms": video.duration_ms, "start_ms": video.start_ms, "lost": video.lost}


def _report(order: orders.Report, desk: Desk) -> Any:
    from reenact.verbs.reproduce.reporting import Wanted, report  # noqa: PLC0415

    chosen = order.options
    wanted = Wanted(chosen.good or "", chosen.check, chosen.times, chosen.check_world)
    output = desk.files / f"{order.recording}.{chosen.format}"
    report(
        order.recording, output, wanted, home=desk.home, run_foreign=desk.run_foreign,
        progress=desk.counted(None),
    )  # fmt: skip
    return None


def _keep(order: orders.Keep, desk: Desk) -> Any:
    from reenact.core.store.local import LocalStore  # noqa: PLC0415
    from reenact.verbs.keep import keep  # noqa: PLC0415

    chosen = order.options
    _, test, fixture = keep(
        LocalStore(desk.home), order.recording, desk.files / "test_recordings.py",
        home=desk.home, run_foreign=desk.run_foreign, name=chosen.name,
        entry=chosen.entry, is_async=chosen.is_async, live=tuple(chosen.live),
    )  # fmt: skip
    return {"test": test.name, "recording": fixture.relative_to(desk.files).as_posix()}


def _diagnose(order: orders.Diagnose, desk: Desk) -> Any:
    from reenact.analysis.anomalies import Baseline  # noqa: PLC0415
    from reenact.core.store.index import Index  # noqa: PLC0415
    from reenact.core.store.local import LocalStore  # noqa: PLC0415
    from reenact.verbs.diagnose import chosen, diagnosed, diagnosis_tree, meant  # noqa: PLC0415

    wanted, tell = order.options, desk.counted(len(order.recordings))
    choice = chosen(rules=wanted.rules, without=wanted.without)
    store, told, failure = LocalStore(desk.home), [], None
    lines = None
    if wanted.baseline:
        with closing(Index(store)) as index:
            lines = meant(index, wanted.baseline)
    for id in order.recordings:
        try:
            recording = store.load(id)
            usual = None if lines is None else Baseline(line for line in lines if line.id != recording.id)
            found = diagnosed(recording, choice, usual, wanted.judge or None)
        except ReenactError as error:
            # One that cannot be read is no reason to be silent about the others.
            failure = error
            print(error)
            tell(f"{id}: {error}")
            continue
        told.append(diagnosis_tree(recording, found))
        tell(f"{id}: {len(found)} found")
    if failure is not None and not told:
        raise failure
    return told


_VERBS: dict[type, Callable[[Any, Desk], Any]] = {
    orders.Reproduce: _reproduce, orders.Verify: _verify, orders.Fork: _fork, orders.Bisect: _bisect,
    orders.Video: _video, orders.Report: _report, orders.Keep: _keep, orders.Diagnose: _diagnose,
}  # fmt: skip


def work(order: orders.Order, desk: Desk) -> None:
    """Run an order, and send its result or error."""
    try:
        desk.tell(result=_VERBS[type(order)](order, desk))
    except ReenactError as error:
        desk.tell(error=str(error))


def main(folder: Path, home: Path, *, run_foreign: bool = False) -> None:
    """Work on the job of a folder."""
    # The output of verbs and programs goes to the log; only this process writes to the server.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # So that what was started is put away: verbs end their programs on their way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    threading.Thread(target=_watch, args=(os.dup(0),), daemon=True).start()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    files = folder / FILES
    files.mkdir(exist_ok=True)
    work(orders.ORDERS.validate_json((folder / ORDER).read_bytes()), Desk(home, files, out, run_foreign))


def _watch(server: int) -> None:
    """Exit when the server has ended: it holds the pipe open and writes nothing."""
    while os.read(server, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), run_foreign=consent.OPTION in sys.argv[3:])
