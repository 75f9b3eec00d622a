"""Write the viewer: a page without data that shows recordings dropped into it.

It is one file that needs no server and no network.
"""

from __future__ import annotations

import orjson

from reenact.analysis.pages import html as pages
from reenact.browser.watch import html

SCRIPTS = ("unpack.js", "archive.js", "viewer.js")
"""The files of its script, in order."""


def viewer() -> str:
    """Return the page."""
    script = "".join(map(html.asset, SCRIPTS))
    style = pages.STYLE + html.asset("viewer.css")
    player_style, player = html.sources(moments=True)
    policy = pages.policies((style, player_style), (script, player))
    slots = {
        "head": pages.head("Reenact viewer", style, policy),
        # A "<" in it could end the element.
        "player": orjson.dumps(_player(player)).decode().replace("<", "\\u003c"),
        "script": script,
    }
    return html.filled("viewer.html", slots)


def _player(script: str) -> dict[str, object]:
    """Return the number of the pages that it shows, and the player's page without data."""
    mark = "\0"
    slots = {"head": html.head("Film", script), "data": mark, "script": script, "rest": mark}
    return {"number": pages.NUMBER, "pieces": html.filled("page.html", slots).split(mark)}
