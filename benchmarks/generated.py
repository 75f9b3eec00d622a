"""Steps that passed on generated pages, on those pages as they are later: what acted, and on which element.

Each run is a step in a block with `heal="auto"`, with the memory of one good run, without a model. By itself: `python
-m benchmarks.generated --runs 100 --seed 5`; with `--worded` the steps of `worded.py`, which have no memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import mimetypes
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles
from time import monotonic, perf_counter, time
from typing import Any

from playwright.async_api import Error

from benchmarks import healenium, upgrades, worded
from benchmarks.families import Case, case_of
from benchmarks.healing import blind
from benchmarks.plan import Plan
from benchmarks.report import Section, Table
from reenact import Client
from reenact.browser.page.differences import differences
from reenact.browser.page.target import KnownTarget, TargetIdentity
from reenact.browser.script.known_targets import PastTarget, read
from reenact.browser.script.step_key import key_of, url_before
from reenact.errors import ReenactError

FILMED = 4
"""Of so many batches one has the camera on: of it are the times."""

BATCH = 25
"""Runs whose good steps are in one recording: of each of the newest recordings every step is read."""

RUNS = 1000
WORKERS = 2
SEED = 90210
"""The rules were made with others."""


def measure(plan: Plan) -> Section:
    """Do all runs, and make the tables."""
    plan.tell("generated pages")
    runs = RUNS // 10 if plan.quick else RUNS
    until = monotonic() + plan.minutes * 60 if plan.minutes else float("inf")
    shares = [list(range(number, runs, WORKERS)) for number in range(WORKERS)]
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(partial(run, SEED, until=until), shares))
    return section([row for part in parts for row in part])


@dataclass(frozen=True)
class Outcome:
    """What became of a run.

    `held`, `saved`, `stopped`, `wrong` (a rung acted on another element) or `misled` (the script's own selector did).
    """

    family: str
    ending: str
    there: bool
    named: bool
    ms: float
    rung: str
    healenium: str
    camera: bool = True
    why: str = ""
    seed: str = ""
    calm_ms: float | None = None
    """Milliseconds from the page's last change or answer, or the step's begin if that is later, to a stop."""
    check_ms: float | None = None
    """Milliseconds of the comparison of the element's identity with the known one."""


_MAKERS = {"families": case_of, "upgrades": upgrades.case_of, "worded": worded.case_of}


# -- running -----------------------------------------------------------------------------------------------------


class Pages:
    """Serves each case under its own path, as it was or as it is now; and libraries under `/lib`."""

    def __init__(self, libraries: Path | None = None) -> None:
        self.now: dict[str, str] = {}
        pages = self.now

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body, sort = pages.get(self.path, "").encode(), "text/html"
                found = bool(body)
                if libraries is not None and self.path.startswith("/lib/"):
                    file = libraries / self.path.removeprefix("/lib/")
                    found = file.is_file()
                    body = file.read_bytes() if found else b""
                    sort = mimetypes.guess_type(self.path)[0] or "text/plain"
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", f"{sort}; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


def run(
    seed: int, numbers: Sequence[int], until: float, kept: Path | None = None, *, sort: str = "families"
) -> list[Outcome]:
    """Do so many cases, and keep their outcomes in a file; begin nothing new after a moment.

    Args:
        seed: The seed of the cases.
        numbers: Their numbers.
        until: The moment.
        kept: The file.
        sort: `families`, `upgrades` (of libraries) or `worded` (steps without a memory).
    """
    libraries = upgrades.fetched() if sort == "upgrades" else None
    if sort == "upgrades" and libraries is None:
        raise SystemExit("the libraries cannot be fetched here: no npm, or no package index")
    pages = Pages(libraries)
    make = _MAKERS[sort]
    client = Client()
    found: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="reenact-families-") as folder:
        for begin in range(0, len(numbers), BATCH):
            if monotonic() > until:
                break
            cases = {number: make(seed, number) for number in numbers[begin : begin + BATCH]}
            found += _batch(client, Path(folder) / str(begin), pages, seed, cases)
            if kept is not None:
                kept.write_text(json.dumps([asdict(one) for one in found]))
            counted = Counter(one.ending for one in found)
            sys.stderr.write(f"{len(found)}: {dict(counted)}\n")
            sys.stderr.flush()
    return found


def _batch(client: Client, home: Path, pages: Pages, seed: int, cases: dict[int, Case]) -> list[Outcome]:
    kept: dict[int, list[healenium.Node]] = {}
    options: dict[str, Any] = {
        "home": home,
        "name": "families",
        "max_duration_minutes": 0,
        "idle_timeout_minutes": 0,
    }
    filmed = min(cases) // (BATCH * WORKERS) % FILMED == 0
    with client.Session(**options) as session:
        asyncio.run(blind(session))
        for number, case in cases.items():
            if not case.before:
                continue  # a step without a memory
            _go(session, pages, number, case.before)
            with_path = _path_of(session, case)
            if with_path is not None:
                kept[number] = healenium.way(_tree(session), with_path)
            try:
                session.execute(case.step)
            except ReenactError as error:
                sys.stderr.write(f"{seed} {number} {case.family}: the good run failed: {error}\n")
                kept.pop(number, None)
    found = []
    with client.Session(**options) as session:
        if not filmed:
            asyncio.run(blind(session))
        known = read(Path(str(session.recording)))
        for number, case in cases.items():
            one = _once(session, pages, (seed, number), case, kept.get(number), filmed=filmed)
            found.append(replace(one, check_ms=_check_ms(session, known)))
    return found


def _check_ms(session: Any, known: Mapping[str, PastTarget]) -> float | None:
    """Milliseconds of one comparison of the element that the step found, where a good run knows it."""
    places = [
        place
        for place, one in enumerate(session.core.outcomes)
        if one["actor"] == "script" and one.get("fingerprint")
    ]
    if not places:
        return None
    until = session.core.outcomes[: places[-1] + 1]
    past = known.get(key_of(until[-1]["action"], url_before(until), before=until[:-1]))
    if past is None:
        return None
    began = perf_counter()
    differences(KnownTarget(tuple(past.identities)), TargetIdentity.of(until[-1]["fingerprint"]))
    return (perf_counter() - began) * 1000


_WATCH = """<script>{
  let changed = Date.now();
  const seen = new MutationObserver(() => changed = Date.now());
  seen.observe(document, {subtree: true, childList: true, characterData: true});
  window.lastChange = () => Math.max(changed, ...["navigation", "resource"].flatMap((kind) =>
    performance.getEntriesByType(kind).map((one) => performance.timeOrigin + one.responseEnd)));
}</script>"""


def _go(session: Any, pages: Pages, number: int, page: str) -> None:
    path = f"/case/{number:x}x"
    pages.now[path] = f"<!doctype html><title>{path}</title>{_WATCH}{page}"
    session.execute(type="goto", url=pages.url + path)


_PATH = """(selector) => {
  let el; try { el = document.querySelector(selector) } catch { return null }
  const path = [];
  for (; el && el !== document.documentElement; el = el.parentElement)
    path.unshift([...el.parentElement.children].indexOf(el));
  return path.length ? path : null;
}"""


def _path_of(session: Any, case: Case) -> list[int] | None:
    found: list[int] | None = session.page.evaluate(_PATH, case.step["selector"].removeprefix("~"))
    return found


def _tree(session: Any) -> list[dict[str, Any]]:
    tree: list[dict[str, Any]] = session.page.evaluate(healenium.TREE)
    for one in tree:
        one["other"].pop("data-k", None)
    return tree


_KEY = """(path) => {
  const el = path.reduce((node, step) => node?.children[step], document.documentElement);
  return el?.closest?.("[data-k]")?.dataset.k ?? "beside";
}"""


def _healeniums(session: Any, case: Case, kept: list[healenium.Node] | None) -> str:
    """What Selenium with Healenium would have acted on."""
    selector = case.step["selector"]
    try:
        count = session.page.locator(
            selector.replace("~", "text=", 1) if selector[0] == "~" else selector
        ).count()
    except Error:
        count = 0
    if count:
        path = _path_of(session, case)
        took = session.page.evaluate(_KEY, path) if path else "unknown"
        return "held" if took == case.meant else "stopped" if took == "unknown" else "misled"
    if kept is None:
        return "stopped"
    path = healenium.nearest(kept, _tree(session))[1]
    if path is None:
        return "stopped"
    return "saved" if session.page.evaluate(_KEY, list(path)) == case.meant else "wrong"


def _once(
    session: Any,
    pages: Pages,
    place: tuple[int, int],
    case: Case,
    kept: list[healenium.Node] | None,
    *,
    filmed: bool,
) -> Outcome:
    session.core.outcomes.clear()
    _go(session, pages, place[1], case.after)
    theirs = _healeniums(session, case, kept)
    began, from_then = monotonic(), time() * 1000
    with Client().AgentFallback(session, task="do the step", heal="auto") as fb:
        result = session.execute(case.step)
    ms = (monotonic() - began) * 1000
    calm_ms = ms - max(session.page.evaluate("lastChange()") - from_then, 0)
    seen = session.page.evaluate("window.seen")
    wrong = [one for one in seen if one != case.meant]
    rungs = [one.rung for one in fb.heals]
    if wrong:
        ending = "wrong" if fb.heals else "misled"
    elif not fb.success:
        ending = "stopped"
    else:
        ending = "saved" if fb.heals else "held"
    return Outcome(case.family, ending, case.meant is not None, case.named, ms, rungs[-1] if rungs else "", theirs,
                   filmed, result.message[:300], f"{place[0]} {place[1]}",
                   calm_ms if ending == "stopped" else None)  # fmt: skip


# -- the figures -------------------------------------------------------------------------------------------------


_ENDINGS = ("held", "saved", "stopped", "wrong", "misled")


def _share(some: int, whole: int) -> str:
    return f"{some} of {whole} ({100 * some / whole:.1f} %)" if whole else "0 of 0"


def section(rows: Sequence[Outcome]) -> Section:
    """The rows as figures, in the order of their weight, and a table of the families."""
    found = Section(
        "Generated pages: records, ids, decoys, frames, shadow roots", _HOW.format(many=len(rows))
    )
    wrong = [one for one in rows if one.ending == "wrong"]
    misled = [one for one in rows if one.ending == "misled"]
    broke = [one for one in rows if one.there and one.ending != "held"]
    named = [one for one in broke if one.named]
    saved = [one for one in named if one.ending == "saved"]
    gone = [one for one in rows if not one.there]
    stopped = [one for one in gone if one.ending == "stopped"]
    found.figure("acted wrongly (a rung, on another element)", "0", _share(len(wrong), len(rows)), not wrong)
    found.figure(
        "misled (the script's own selector, with success)", "0", _share(len(misled), len(rows)), not misled
    )
    found.figure("saved, of what broke, is still there and is named", "≥ 75 %", _share(len(saved), len(named)),
                 len(saved) >= 0.75 * len(named))  # fmt: skip
    found.figure(
        "stopped, of what is gone", "all", _share(len(stopped), len(gone)), len(stopped) == len(gone)
    )
    for name, these in (("a mend", saved), ("a stop", [one for one in rows if one.ending == "stopped"])):
        times = [one.ms for one in these if one.camera]
        if len(times) > 1:
            found.figure(f"time of a step that ends in {name}, camera on, waiting included: median, p95", "",
                         f"{median(times):.0f} ms, {quantiles(times, n=20)[-1]:.0f} ms")  # fmt: skip
    calm = [one.calm_ms for one in rows if one.camera and one.calm_ms is not None]
    if len(calm) > 1:
        late = quantiles(calm, n=20)[-1]
        found.figure("a stop after the page's last change, camera on: median, p95", "≤ 1000 ms",
                     f"{median(calm):.0f} ms, {late:.0f} ms (of {len(calm)})", late <= 1000)  # fmt: skip
    checks = [one.check_ms for one in rows if one.camera and one.check_ms is not None]
    if len(checks) > 1:
        late = quantiles(checks, n=20)[-1]
        found.figure("comparing the element found with the known identity, camera on: median, p95", "< 5 ms",
                     f"{median(checks):.2f} ms, {late:.2f} ms (of {len(checks)})", late < 5)  # fmt: skip
    heads = ["family", "runs", *_ENDINGS, "Healenium saves", "Healenium wrong", "plain misled"]
    lines = []
    for family in dict.fromkeys(one.family for one in rows):
        these = [one for one in rows if one.family == family]
        counted = Counter(one.ending for one in these)
        theirs = Counter(one.healenium for one in these)
        lines.append([family, str(len(these)), *(str(counted[name]) for name in _ENDINGS),
                      str(theirs["saved"]), str(theirs["wrong"]), str(theirs["misled"])])  # fmt: skip
    found.tables.append(Table(heads, lines))
    found.notes += [
        f"{one.ending.upper()}: {one.family} (seed {one.seed}; {one.rung}): {one.why}"
        for one in (*wrong, *misled)
    ]
    return found


_HOW = """\
{many} runs of eleven families (`benchmarks/families.py`), each a step that passed on the page as it was, done on the
page as it is now, with a memory of that one good run and no model. The camera is on in a quarter of the runs, of which
the times are. The time of a stop after the last change begins with the page's last mutation or answer, or with the
step where that is later. `Healenium` is its method where the selector finds nothing, looked up and not clicked; `plain
misled` counts where the selector finds another element, on which a plain script acts."""


def main() -> None:
    """Run, and write the outcomes as JSON; print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--out", type=Path)
    sorts = parser.add_mutually_exclusive_group()
    for sort, told in (("upgrades", "upgrades of libraries"), ("worded", "steps without a memory")):
        sorts.add_argument(f"--{sort}", action="store_const", const=sort, dest="sort", help=told)
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.runs)
    rows = run(
        given.seed, numbers, monotonic() + given.minutes * 60, given.out, sort=given.sort or "families"
    )
    found = section(rows)
    for figure in found.figures:
        print(f"{figure.what}: {figure.found} (target {figure.target or 'none'})")
    for line in (found.tables[0].columns, *found.tables[0].rows):
        print(" | ".join(line))
    for note in found.notes:
        print(note)


if __name__ == "__main__":
    main()
