"""Make the pictures of the how-to pages: `make pictures` writes docs/pictures/.

Each function is a scene: commands that run for real in a folder of their own.

    python -m tests.docs.scenes [NAME …]
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import av
from PIL import Image, ImageChops
from playwright.sync_api import sync_playwright

from reenact.browser.executable import find
from tests.conftest import BARE_PYTEST
from tests.console.looking import still
from tests.docs.provider import QuickstartProvider
from tests.docs.terminal import Terminal
from tests.team.servers import Postgres

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
PROGRAMS = Path(__file__).parent / "programs"
TRACES = ROOT / "tests" / "analysis" / "interchange" / "importers" / "traces"
EXERCISE = ROOT / "examples" / "exercise"
RECORD = "reenact record --name support -- python agent.py"
MEND = "sed -i 's/or shop.cancel_order/or mended.cancel_order/; s/^import shop/import mended\\n&/' support.py"


def put(terminal, *names: str):
    """Copy programs into the folder of a scene."""
    for name in names:
        source = PROGRAMS / name if (PROGRAMS / name).exists() else EXERCISE / name
        shutil.copy(source, terminal.folder)


def put_agent(terminal):
    """Copy the agent that cancels an order, and its shop."""
    put(terminal, "agent.py", "support.py", "shop.py", "mended.py")


def change_the_tool(terminal):
    """Change one tool of the agent."""
    terminal.run(MEND, shown=False)
    terminal.comment("The tool cancel_order is changed: it refuses an order that has shipped.")


def record(terminal):
    put_agent(terminal)
    terminal.run(RECORD)
    terminal.run("reenact show last")


def replay(terminal):
    put_agent(terminal)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact replay last")
    change_the_tool(terminal)
    terminal.run("reenact replay last", status=1)


def fork(terminal):
    put_agent(terminal)
    terminal.run(MEND, shown=False)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact show last 3")
    terminal.run("reenact fork last --at 3 --set 'output.status = delivered'")
    terminal.run("reenact list --tree")


def diff(terminal):
    put_agent(terminal)
    terminal.run(MEND, shown=False)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact fork last --at 3 --set 'output.status = delivered'", shown=False)
    terminal.run("reenact diff last~1 last", status=1)


def diagnose(terminal):
    put_agent(terminal)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact diagnose last", status=1)
    terminal.run("reenact show last 2", lines=30)


def reproduce(terminal):
    put_agent(terminal)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact reproduce last --times 3")
    change_the_tool(terminal)
    terminal.run("reenact reproduce last --times 2", status=1)


def testing(terminal):
    put_agent(terminal)
    terminal.environ |= BARE_PYTEST
    (terminal.folder / "pytest.ini").write_text(
        "[pytest]\npythonpath = .\nasyncio_default_fixture_loop_scope = function\n", encoding="utf-8"
    )
    terminal.run(RECORD, shown=False)
    terminal.run("reenact keep last --as tests/test_support.py")
    terminal.run("pytest -q --no-header tests")
    change_the_tool(terminal)
    terminal.run("pytest -q --no-header --tb=no tests", status=1)


def verify(terminal):
    put_agent(terminal)
    for question in ("Please cancel ORD-5521.", "Cancel my order!", "I want my money back."):
        terminal.run(f"python agent.py '{question}'", shown=False)
    terminal.run("reenact list")
    terminal.run("reenact verify --entry agent:answer")
    change_the_tool(terminal)
    terminal.run("reenact verify --entry agent:answer", status=1)


def filters(terminal):
    put_agent(terminal)
    terminal.run("reenact record --name support --tag staging -- python agent.py", shown=False)
    terminal.run(MEND, shown=False)
    terminal.run("reenact record --name support -- python agent.py", shown=False)
    terminal.run("reenact list 'tool:cancel_order'")
    terminal.run("reenact list 'shop:refund and tag:staging'")
    terminal.run("reenact show last --filter 'model or output.status == shipped'")


def files(terminal):
    put(terminal, "notes.py")
    (terminal.folder / "prices.txt").write_text(
        "coffee grinder: 89.00 EUR\nespresso machine: 349 euros\nmilk jug: 19.00 EUR\n"
    )
    terminal.run("reenact record -- python notes.py")
    terminal.run("reenact files last")
    terminal.run("reenact show last 2 --files")


def state(terminal):
    put(terminal, "cart.py")
    terminal.run("reenact record -- python cart.py")
    terminal.run("reenact show last 3 --state")
    terminal.run("reenact show last --state", lines=22)


def secrets(terminal):
    put(terminal, "mail.py")
    terminal.run("reenact record -- python mail.py")
    terminal.run("reenact show last")
    terminal.run("grep -ho '\\[\\[secret:[^]]*\\]\\]' .reenact/recordings/*/events.jsonl | sort | uniq -c")


def trust(terminal):
    put_agent(terminal)
    terminal.run(f"REENACT_HOME=../theirs {RECORD}", shown=False)
    terminal.run("REENACT_HOME=../theirs reenact export last -o bug.reenact", shown=False)
    terminal.run("reenact import bug.reenact")
    terminal.run("reenact list")
    terminal.run("reenact replay last", status=2)
    terminal.run("reenact replay last -- python agent.py")


def exported_file(terminal):
    put_agent(terminal)
    terminal.run(f"REENACT_HOME=../theirs {RECORD}", shown=False)
    terminal.run("REENACT_HOME=../theirs reenact export last -o bug.reenact", shown=False)
    terminal.run("reenact show bug.reenact")
    terminal.run("reenact diagnose bug.reenact", status=1)


def proxy(terminal):
    put(terminal, "agent.js")
    provider = QuickstartProvider()
    terminal.environ |= provider.environ
    terminal.run("mv agent.js agent.mjs", shown=False)
    terminal.run("reenact record --proxy -- node agent.mjs")
    provider.stop()
    terminal.comment("The provider is stopped.")
    terminal.run("reenact replay last")
    terminal.run("reenact show last")


def traces(terminal):
    put_agent(terminal)
    shutil.copy(TRACES / "openinference.jsonl", terminal.folder / "spans.jsonl")
    terminal.run("reenact import spans.jsonl")
    terminal.run("reenact list")
    terminal.run("reenact show last --filter 'step < 4'")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_): ...


@contextmanager
def shop(terminal):
    """Serve the page of a shop; the variable SHOP is its address."""
    put(terminal, "buy.py", "shop.html")
    handler = partial(Quiet, directory=str(terminal.folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    terminal.environ["SHOP"] = f"http://127.0.0.1:{server.server_port}/shop.html"
    yield
    server.shutdown()
    server.server_close()


CHANGE_PAGE = 'sed -i \'s/id="count"/id="quantity"/; s/count.value/quantity.value/\' shop.html'
"""The field for the number gets another id."""


def browser(terminal):
    with shop(terminal):
        terminal.run("reenact record -- python buy.py")
        terminal.run("reenact show last")
    terminal.comment("The shop is closed.")
    terminal.run("reenact replay last")


def fallback(terminal):
    with shop(terminal):
        terminal.run("reenact record -- python buy.py", shown=False)
        terminal.run(CHANGE_PAGE, shown=False)
        terminal.comment("The page is changed: the field has another id.")
        terminal.run("reenact record -- python buy.py")
        terminal.run("reenact show last --filter 'browser or heal:record'")


def mending(terminal):
    terminal.widen(120)
    with shop(terminal):
        terminal.run("reenact record -- python buy.py", shown=False)
        terminal.run(CHANGE_PAGE, shown=False)
        terminal.comment("The page is changed: the field has another id.")
        terminal.run("reenact record -- python buy.py")
        terminal.run("reenact heals")
        terminal.run("reenact heals --patch buy.py")
        terminal.run("sed -i 's/Add to basket/Empty the basket/' shop.html", shown=False)
        terminal.comment("And now the button is another one: nothing is clicked.")
        terminal.run("reenact record -- python buy.py", lines=2)
        terminal.run("reenact heals")


def harden(terminal):
    terminal.widen(116)
    with shop(terminal):
        terminal.run("reenact harden buy.py --mutations 4", status=1)


def team(terminal):
    put_agent(terminal)
    server = Postgres()
    terminal.environ |= {
        "REENACT_STORE": server.database("team"),
        "REENACT_OBJECTS": (terminal.folder.parent / "objects").as_uri(),
        "REENACT_CACHE": str(terminal.folder.parent / "cache"),
    }
    terminal.run(RECORD, shown=False)
    terminal.run("reenact push last")
    terminal.comment("On the machine of another member of the team:")
    terminal.environ["XDG_CONFIG_HOME"] = str(terminal.folder.parent / "other")
    terminal.environ["REENACT_HOME"] = str(terminal.folder.parent / "other" / "recordings")
    terminal.run("reenact list --team 'tool:cancel_order'")
    recording = terminal.run(
        'reenact list --team --json | grep -om1 \'"id": *"[^"]*\' | tail -c 11', shown=False
    )
    terminal.run(f"reenact replay {recording.strip()}")
    server.end()


def video(terminal):
    with shop(terminal):
        terminal.run("reenact record -- python buy.py", shown=False)
    terminal.run("reenact video last -o buy.mp4", shown=False)
    with av.open(str(terminal.folder / "buy.mp4")) as film:
        frames = [frame.to_image() for frame in film.decode(video=0)]
    return max(frames, key=marked)


def marked(frame):
    """Return how many points of a frame, above its bar, have the colour of the script's marks."""
    red, _, blue = frame.crop((0, 0, frame.width, frame.height - 60)).split()
    marks = ImageChops.multiply(
        red.point(lambda value: 255 * (value < 120)), blue.point(lambda value: 255 * (value > 190))
    )
    return marks.histogram()[255]


def sharing(terminal):
    put_agent(terminal)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact export last -o bug.reenact", shown=False)
    terminal.run("reenact export --viewer viewer.html", shown=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find())
        page = browser.new_page(viewport={"width": 1280, "height": 640})
        page.goto((terminal.folder / "viewer.html").as_uri())
        with page.expect_file_chooser() as choosing:
            page.get_by_role("button", name="Open a file").click()
        choosing.value.set_files(terminal.folder / "bug.reenact")
        page.get_by_role("heading", name="support", exact=True).wait_for()
        seen = Image.open(io.BytesIO(still(page)))
        browser.close()
    return seen


SCENES = (
    record, replay, fork, diff, diagnose, reproduce, testing, verify, filters, files, state, secrets, trust,
    exported_file, proxy, traces, browser, fallback, mending, harden, team,
    video, sharing,
)  # fmt: skip


def draw(scene):
    """Draw one scene in a new folder: its terminal, or the picture that it returns."""
    target = PICTURES / scene.__name__.replace("_", "-")
    with tempfile.TemporaryDirectory(prefix="reenact-") as home:
        folder = Path(home, "shop")
        folder.mkdir()
        terminal = Terminal(folder)
        picture = scene(terminal)
        if picture is None:
            target = target.with_suffix(".svg")
            terminal.save(target, "reenact")
        else:
            target = target.with_suffix(".png")
            small = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
            if not target.exists() or differs(picture, Image.open(target)):
                small.save(target, "PNG", optimize=True)
    return target


def differs(one, other):
    """Return whether more of two pictures differs than ids, times and edges of letters."""
    if one.size != other.size:
        return True
    points = ImageChops.difference(one.convert("L"), other.convert("L")).point(lambda value: value > 60)
    return points.histogram()[255] > one.width * one.height / 100


def main(names):
    """Draw all scenes, or those that are named."""
    for scene in SCENES:
        if not names or scene.__name__ in names:
            picture = draw(scene)
            print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size // 1024} KB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
