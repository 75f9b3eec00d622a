"""Draw the pictures of the guides: `make pictures` writes docs/pictures/.

python -m tests.docs.scenes [NAME …]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops

# Their scenes are all that there are.
from tests.docs.scenes import browsers, libraries, runs, servers  # noqa: F401
from tests.docs.scenes.stage import DOCS, ROOT, SCENES
from tests.docs.terminal import Terminal

PICTURES = DOCS / "pictures"


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
