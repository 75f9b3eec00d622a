"""`python -m benchmarks.video [--quick]`: what a browser session's video costs, and how true to time it is.

Ordinary use is a purchase in a shop that nobody here wrote and games of MiniWoB, one action every two to three seconds,
as an agent acts. The render runs in a process of its own, whose CPU time counts whole, imports included. What is
measured is printed; `docs/video.md` quotes it.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from reenact.browser.camera.footage import Footage, sessions

_RENDER = """
import json, resource, sys, time
from pathlib import Path
from reenact.browser.video import render
began = time.perf_counter()
marks = []
def told(done, all):
    marks.append(int(Path("/proc/self/statm").read_text().split()[1]) * 4096)
    if len(marks) > 1000:
        del marks[1::2]
video = render(Path(sys.argv[1]), Path(sys.argv[2]), pace=sys.argv[3], progress=told)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "wall": time.perf_counter() - began,
    "bytes": video.path.stat().st_size, "ms": video.duration_ms, "peak": used.ru_maxrss * 1024,
    "grown": max(marks) - marks[len(marks) // 10]}))
"""


def main() -> None:
    """Measure all, and print it."""
    quick = "--quick" in sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="reenact-bench-") as name:
        place = Path(name)
        os.environ["REENACT_HOME"] = str(place / "home")
        for title, make in (("MiniWoB", _miniwob), ("a shop", _shop)):
            folder = make(place, 15.0 if quick else 60.0)
            (footage,) = sessions(folder)
            for pace in ("real", "compact"):
                _ordinary(title, footage, rendered(folder, place / "x.mp4", pace))
        _clock(place, quick=quick)
        for count in (2_000, 4_000) if quick else (10_000, 100_000):
            _long(place, count)


def rendered(folder: Path, target: Path, pace: str = "real") -> dict[str, float]:
    """Render in a process of its own, with nothing cached."""
    command = [sys.executable, "-c", _RENDER, str(folder), str(target), pace]
    done = subprocess.run(command, check=True, capture_output=True)
    found: dict[str, float] = orjson.loads(done.stdout)
    return found


def _ordinary(title: str, footage: Footage, cost: dict[str, float]) -> None:
    entries = list(footage.entries("frame", "anchor", "before"))
    actions = sum(entry.event == "before" for entry in entries)
    pictures = {entry["blob"] for entry in entries if entry["blob"]}
    kept = sum(len(footage.blob(address)) for address in pictures)
    minutes = (max(entry.t for entry in footage.entries()) - footage.head.t) / 60
    size = cost["bytes"] / 1e6
    print(
        f"{title}, {minutes * 60:.0f} s, {actions} actions, {len(pictures)} pictures ({kept / 1e6:.1f} MB): "
        f"{cost['ms'] / 1000:.0f} s of video, {size:.2f} MB ({size / minutes:.2f} a minute), "
        f"{cost['cpu']:.1f} CPU s ({cost['cpu'] / minutes:.1f} a minute), {cost['wall']:.1f} s",
        flush=True,
    )


# -- ordinary use ----------------------------------------------------------------------------------------------


def _session(actions: Iterator[dict[str, Any]], seconds: float) -> Path:
    from reenact import Client

    until = time.monotonic() + seconds
    with Client().Session(headless=True, raise_on_failure=False) as session:
        for action in actions:
            session.execute(**action)
            time.sleep(max(min(2.2, until - time.monotonic()), 0))
            if time.monotonic() >= until:
                break
        time.sleep(max(until - time.monotonic(), 0))
    return Path(session.recording or "")


def _miniwob(place: Path, seconds: float) -> Path:
    others = importlib.import_module("tests.browser.others")

    def play(base: str) -> Iterator[dict[str, Any]]:
        while True:
            yield {"type": "goto", "url": f"{base}/miniwob/login-user.html"}
            yield {"type": "evaluate_js", "code": "core.EPISODE_MAX_TIME = 1e6; core.startEpisodeReal()"}
            yield {"type": "fill", "selector": "#username", "value": "ada"}
            yield {"type": "fill", "selector": "#password", "value": "x7Lk2"}
            yield {"type": "click", "selector": "#subbtn"}
            yield {"type": "goto", "url": f"{base}/miniwob/click-checkboxes.html"}
            yield {"type": "evaluate_js", "code": "core.EPISODE_MAX_TIME = 1e6; core.startEpisodeReal()"}
            yield {"type": "check", "selector": "#boxes input >> nth=0", "value": True}
            yield {"type": "click", "selector": "#subbtn"}

    with others.served(others.miniwob()) as base:
        return _session(play(base), seconds)


def _shop(place: Path, seconds: float) -> Path:
    others = importlib.import_module("tests.browser.others")
    folder = place / "shop"
    folder.mkdir()
    with others.shop(folder) as base:
        return _session(iter(others.checkout(base, "ada@example.com", "correct horse battery")), seconds)


# -- time ------------------------------------------------------------------------------------------------------


def _clock(place: Path, *, quick: bool) -> None:
    """A page that shows its own clock: how long after that each of its times is in the video."""
    av: Any = importlib.import_module("av")
    playing = importlib.import_module("tests.browser.video.test_playing")
    with _one_page(playing.CLOCK) as base:
        clicks: Iterator[dict[str, Any]] = iter(
            [{"type": "goto", "url": base}, *({"type": "click", "selector": "button"} for _ in range(20))]
        )
        folder = _session(clicks, 8.0 if quick else 40.0)
    (footage,) = sessions(folder)
    zero = datetime.fromisoformat(footage.head["started"]).timestamp() * 1000
    render: Callable[..., Any] = importlib.import_module("reenact.browser.video").render
    video, late, last = render(footage), [], 0
    whole = 1 << playing.BITS
    begun = next(entry.t for entry in footage.entries("after")) + 0.2
    with av.open(str(video.path)) as container:
        for frame in container.decode(video=0):
            shown = video.session_ms((frame.time or 0) * 1000)
            clock = playing.read_clock(frame.to_image())
            if clock != last and shown / 1000 + video.begin > begun:
                late.append((zero + shown - clock + whole // 2) % whole - whole // 2)
                last = clock
    within = sum(abs(one) <= 100 for one in late)
    print(
        f"the page's own clock, {len(late)} times: seen {median(late):.0f} ms later in the middle, "
        f"{sorted(late)[len(late) * 19 // 20]:.0f} ms in 95 of 100; {within} within 100 ms; "
        f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores",
        flush=True,
    )


@contextmanager
def _one_page(page: str) -> Iterator[str]:
    filming = importlib.import_module("tests.browser.filming")
    with filming.served({"/": page}) as base:
        yield base


# -- memory ----------------------------------------------------------------------------------------------------


def _long(place: Path, count: int) -> None:
    """A synthetic session: small pictures of few pages, one after the other, for hours."""
    memory = importlib.import_module("tests.browser.video.test_memory")
    folder = place / f"long-{count}"
    memory.long_session(folder, count, viewport=(640, 360), seconds=8 * 3600 / 100_000)
    cost = rendered(folder, place / "long.mp4")
    print(
        f"{count} pictures, {cost['ms'] / 3.6e6:.1f} h: {cost['bytes'] / 1e6:.0f} MB, {cost['cpu']:.0f} CPU s, "
        f"at most {cost['peak'] / 1e6:.0f} MB of memory, {cost['grown'] / 1e6:.1f} MB more than after a tenth",
        flush=True,
    )


if __name__ == "__main__":
    main()
