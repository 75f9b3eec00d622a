"""Scenes of browser sessions."""

from __future__ import annotations

import av
from PIL import ImageChops

from tests.docs.scenes.stage import scene, shop

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
