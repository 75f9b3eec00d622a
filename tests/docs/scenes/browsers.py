"""Scenes of browser sessions."""

from __future__ import annotations

import shutil

import av
from PIL import ImageChops

from reenact.browser.executable import find
from tests.adapters.browser_use.world import World, search
from tests.docs.scenes.stage import ROOT, put, scene, shop

CHANGE_PAGE = 'sed -i \'s/id="count"/id="quantity"/; s/count.value/quantity.value/\' shop.html'
"""The field for the number gets another id."""


@scene
def browser(terminal):
    with shop(terminal):
        terminal.run("reenact record -- python buy.py")
        terminal.run("reenact show last")
    terminal.comment("The shop is closed.")
    terminal.run("reenact replay last")


@scene
def fallback(terminal):
    with shop(terminal):
        terminal.run("reenact record -- python buy.py", shown=False)
        terminal.run(CHANGE_PAGE, shown=False)
        terminal.comment("The page is changed: the field has another id.")
        terminal.run("reenact record -- python buy.py")
        terminal.run("reenact show last --filter 'browser or heal:record'")


@scene
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


@scene
def harden(terminal):
    terminal.widen(116)
    with shop(terminal):
        terminal.run("reenact harden buy.py --mutations 4", status=1)


@scene
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


@scene
def browser_agent(terminal):
    put_lamp_shop(terminal)
    put(terminal, "agent_buys.py")
    terminal.run("reenact record -- python agent_buys.py")
    terminal.run("reenact show last --filter 'browser:fill or browser:click'", lines=12)
    terminal.comment("The shop is closed, and there is no browser.")
    terminal.run("REENACT_BROWSER=/nowhere reenact replay last")


def put_lamp_shop(terminal):
    """Copy the shop of examples/lamp_shop with its scripted model."""
    shutil.copytree(ROOT / "examples" / "lamp_shop", terminal.folder, dirs_exist_ok=True)


@scene
def selectors(terminal):
    with shop(terminal, "reasons.py", "cover.html"):
        terminal.run("reenact record -- python reasons.py")


@scene
def browser_use(terminal):
    put(terminal, "parts.py")
    programs = ROOT / ".venv-browser-use" / "bin"
    found = [search, [{"done": {"text": "The valve V7 costs 12.50 EUR.", "success": True}}]]
    world = World(found)
    terminal.environ |= {
        "PATH": f"{programs}:{terminal.environ['PATH']}", "SHOP": world.shop, "BROWSER": str(find()),
        "OPENAI_BASE_URL": f"{world.model}/v1", "OPENAI_API_KEY": "sk-test", "BROWSER_USE_LOGGING_LEVEL": "result",
        "ANONYMIZED_TELEMETRY": "false", "BROWSER_USE_VERSION_CHECK": "false",
    }  # fmt: skip
    terminal.run("reenact record -- python parts.py")
    terminal.run("reenact show last --filter 'tool:input or tool:click'")
    terminal.run("reenact show last --pictures shots")
    world.stop()
    terminal.comment("The shop and the model are stopped.")
    terminal.run("reenact replay last")
