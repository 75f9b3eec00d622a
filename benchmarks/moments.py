"""`python -m benchmarks.moments [SECONDS]`: the cost of keeping the page itself at each browser action.

The sessions of `benchmarks.video` (a shop and games of MiniWoB that nobody here wrote) are run in turn with and without
moments. CPU is that of this process, Playwright's driver and all of the browser, from /proc, over the whole session;
`read` is the part that the writer itself counts. What is measured is printed; docs/decisions/0045-moments.md quotes it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from unittest.mock import patch

from benchmarks import video
from reenact.browser.camera.footage import Footage, sessions
from reenact.browser.camera.moments import MomentWriter
from reenact.browser.page.live_browser import LiveBrowser

_TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure both kinds of pages, and print it."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with tempfile.TemporaryDirectory(prefix="reenact-bench-") as name:
        os.environ["REENACT_HOME"] = str(Path(name) / "home")
        for title, make in (("MiniWoB", video._miniwob), ("a shop", video._shop)):
            cpu: dict[bool, list[float]] = {True: [], False: []}
            for turn in range(3):
                for kept in (True, False):
                    place = Path(name) / f"{title}-{turn}-{kept}"
                    place.mkdir()
                    with _counted(kept=kept) as told:
                        (footage,) = sessions(make(place, seconds))
                    cpu[kept].append(told["cpu"] / seconds * 60)
                    if kept:
                        _tell(title, footage, told)
            ratio = [one - other for one, other in zip(cpu[True], cpu[False], strict=True)]
            rows = ", ".join(
                f"{one:.1f} and {other:.1f}" for one, other in zip(cpu[True], cpu[False], strict=True)
            )
            print(
                f"{title}: CPU s a minute with and without: {rows}; median of the differences {median(ratio):+.2f}",
                flush=True,
            )


@contextmanager
def _counted(*, kept: bool) -> Iterator[dict[str, float]]:
    """Run the body with or without moments, and count the CPU seconds of the session's processes at its end."""
    told: dict[str, float] = {}
    writers: list[MomentWriter] = []
    made = MomentWriter.__init__

    def noted(self: MomentWriter, *given: object) -> None:
        made(self, *given)  # type: ignore[arg-type]
        writers.append(self)

    close = LiveBrowser.close
    begun = _used()

    async def closing(self: LiveBrowser, why: str) -> None:
        told["cpu"] = max(told.get("cpu", 0.0), _used() - begun)
        await close(self, why)

    due = MomentWriter.due if kept else (lambda _: False)
    with (
        patch.object(MomentWriter, "__init__", noted),
        patch.object(MomentWriter, "due", due),
        patch.object(LiveBrowser, "close", closing),
    ):
        yield told
    told["read"] = sum(one._spent for one in writers)


def _used() -> float:
    """The CPU seconds of this process and of those under it."""
    found: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(path.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / _TICK)
    family, total = {os.getpid()}, 0.0
    while more := {pid for pid, (parent, _) in found.items() if parent in family} - family:
        family |= more
    for pid in family:
        total += found.get(pid, (0, 0.0))[1]
    return total


def _tell(title: str, footage: Footage, told: dict[str, float]) -> None:
    entries = list(footage.entries())
    minutes = (max(entry.t for entry in entries) - footage.head.t) / 60
    lines = [entry for entry in entries if entry.event == "dom"]
    blobs = {entry["blob"] for entry in lines}
    parts = {one for entry in lines for one in entry["parts"]}
    sizes = [sum(len(footage.blob(one)) for one in kind) / 1000 for kind in (blobs, parts)]
    actions = sum(entry.event == "before" for entry in entries)
    print(
        f"{title}: {actions} actions in {minutes * 60:.0f} s, {len(lines)} moments, "
        f"{len(blobs)} pages ({sizes[0]:.1f} kB), "
        f"{len(parts)} parts ({sizes[1]:.1f} kB): {sum(sizes) / minutes / 1000:.3f} MB a minute; "
        f"read and written in {told['read'] / minutes:.2f} s a minute",
        flush=True,
    )


if __name__ == "__main__":
    main()
