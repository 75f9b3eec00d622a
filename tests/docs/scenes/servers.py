"""Scenes of recordings that others see: a server, a team's store, the viewer."""

from __future__ import annotations

import io

from PIL import Image
from playwright.sync_api import sync_playwright

from reenact.browser.executable import find
from tests.console.looking import still
from tests.docs.scenes.stage import RECORD, put_agent, scene
from tests.team.servers import Postgres


@scene
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
