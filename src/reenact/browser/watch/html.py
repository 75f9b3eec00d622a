"""Write the page: one HTML file that contains all its data and fetches nothing.

The page runs only its own script. Except for the escaped title, its markup contains no recorded text: the script reads
compressed JSON and inserts it as text.
"""

from __future__ import annotations

import base64
import gzip
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from reenact.analysis.pages import html as pages
from reenact.browser.camera.footage import Footage
from reenact.browser.camera.moments import load, part
from reenact.browser.watch.content import WatchContent
from reenact.browser.watch.engine import engine
from reenact.browser.watch.pictures import encoded, strip
from reenact.core import private
from reenact.errors import RecordingError

SCRIPTS = ("unpack.js", "time.js", "screen.js", "strip.js", "list.js", "panes.js", "keys.js", "page.js")
"""The files of the page's script, in order; those of moments come before them."""

PAGES = 30_000_000
"""Most compressed bytes of kept pages that are embedded."""

INSIDE = 100_000_000
"""Most bytes of a video embedded in a page; a larger one is put beside it."""

_REST = ("network", "reads", "trees")
"""Large data that is not visible at first, and is unpacked after the page has opened."""

_BLOCK = 3 * (1 << 18)
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def write(
    target: Path, films: Sequence[WatchContent], together: dict[str, Any] | None, **settings: Any
) -> None:
    """Write the page of one film, or of two side by side, readable only by its owner.

    Args:
        target: The file; an existing one is replaced when the page is complete.
        films: One or two.
        together: The pairs of rows of two films.
        settings: `mask` (cover secrets), `compact` (compress idle time from the start).
    """
    mask = bool(settings.pop("mask", True))
    for side, film in enumerate(films):
        if film.video is not None and film.video.path.stat().st_size > INSIDE:
            film.file = _beside(film.video.path, target, side)
    sides = [film.data() for film in films]
    rest = [{name: side.pop(name) for name in _REST} for side in sides]
    data = {"sides": sides, "together": together, "settings": settings}
    _, script = sources(moments=any(film.moments for film in films))
    title = " and ".join(film.view.name or film.view.recording for film in films)
    slots = {"head": head(title, script), "script": script}
    part = target.with_name(f".{target.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            for place, piece in enumerate(_SLOT.split(asset("page.html"))):
                if place % 2 == 0:
                    file.write(piece.encode())
                elif piece == "data":
                    _script(file, "data", _packed(data))
                elif piece == "rest":
                    _script(file, "rest", _packed(rest))
                    _screens(file, films, mask=mask)
                    for side, film in enumerate(films):
                        if film.footage is not None and film.moments:
                            embed(file, side, film.footage, film.moments)
                else:
                    file.write(slots[piece].encode())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def filled(name: str, slots: Mapping[str, str]) -> str:
    """Return one of the page's source files, with texts in its slots."""
    return _SLOT.sub(lambda slot: slots[slot[1]], asset(name))


def head(title: str, script: str) -> str:
    """Return the head of a page that may only show its own pictures and run its own script."""
    style, _ = sources(moments=False)
    policy = pages.policy(style, script, img_src="blob: data:", media_src="blob: 'self'")
    return pages.head(title, style, policy)


def sources(*, moments: bool) -> tuple[str, str]:
    """Return the texts of the page's style and of its script.

    Args:
        moments: True if the page shows kept pages.
    """
    view = "const MomentView = null, ENGINE = null;\n"
    if moments:
        code = re.sub(r"^export ", "", asset("moment.js"), flags=re.MULTILINE)
        view = f"const {{ MomentView }} = (() => {{\n{code}\nreturn {{ MomentView }};\n}})();\n"
        view += f"const ENGINE = {engine()};\n"
    style = pages.TOKENS + asset("page.css") + asset("moment.css")
    return style, view + "".join(asset(name) for name in SCRIPTS)


@cache
def asset(name: str) -> str:
    """Return the text of one of the page's source files."""
    return files("reenact.browser.watch").joinpath(name).read_text(encoding="utf-8")


def _packed(data: Any) -> Iterator[bytes]:
    yield base64.b64encode(gzip.compress(orjson.dumps(data), 6, mtime=0))


def _screens(file: BinaryIO, films: Sequence[WatchContent], *, mask: bool) -> None:
    for side, film in enumerate(films):
        if film.images:
            _script(file, f"images-{side}", (base64.b64encode(data) + b"\n" for _, _, data in film.images))
        if film.footage is not None and film.thumbnails:
            lines = (f"{line}\n".encode() for line in strip(film.footage, film.thumbnails, mask=mask))
            _script(file, f"thumbnails-{side}", lines)
        if film.file is not None:
            continue
        if film.video is not None:
            _script(file, f"video-{side}", _blocks(film.video.path))
        elif film.footage is not None:
            lines = (f"{line}\n".encode() for line in encoded(film.footage, film.pictures, mask=mask))
            _script(file, f"pictures-{side}", lines)


def embed(file: BinaryIO, side: int, footage: Footage, addresses: Sequence[str]) -> None:
    """Write the kept pages, checked, and their parts once: compressed, a line for each.

    A page that is lost, damaged or beyond the limit is an empty line.
    """
    parts: dict[str, int] = {}
    left = PAGES
    lines: list[bytes] = []
    for address in addresses:
        try:
            tree = load(footage, address)
        except RecordingError:
            lines.append(b"\n")
            continue
        tree["parts"] = [parts.setdefault(one, len(parts)) for one in tree["parts"]]
        lines.append(next(_packed(tree)) + b"\n" if left > 0 else b"\n")
        left -= len(lines[-1])
    _script(file, f"moments-{side}", iter(lines))
    texts = (next(_packed(part(footage, one))) + b"\n" for one in parts)
    _script(file, f"parts-{side}", texts)


def _script(file: BinaryIO, name: str, content: Iterator[bytes]) -> None:
    # Base64 has no character that could end the element.
    file.write(f'<script type="text/plain" id="{name}">'.encode())
    file.writelines(content)
    file.write(b"</script>\n")


def _beside(video: Path, target: Path, side: int) -> str:
    """Copy a video beside the page; return its name."""
    name = f"{target.stem}{'-b' if side else ''}.mp4"
    private.copy(video, target.with_name(name))
    target.with_name(name).chmod(0o600)
    return name


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield a file as base64, a piece at a time."""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield base64.b64encode(block)
