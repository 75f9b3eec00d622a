"""Footage without a browser: a session's file and its pictures, as docs/format.md describes them.

A page that shows its own clock has it as a bar code of sixteen blocks: the milliseconds since the session began.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import orjson
from PIL import Image, ImageDraw

from reenact.browser.camera.footage import Footage, sessions

BLOCK = 24
BITS = 20


def clock_page(ms, size=(640, 360), colour=(255, 255, 255)):
    """A page that shows a time, as blocks that survive any encoder."""
    image = Image.new("RGB", size, colour)
    draw = ImageDraw.Draw(image)
    for bit in range(BITS):
        left = 20 + bit * BLOCK
        draw.rectangle(
            (left, 20, left + BLOCK - 1, 20 + BLOCK - 1), fill=(0, 0, 0) if ms >> bit & 1 else (255, 255, 255)
        )
    draw.rectangle((18, 18, 21 + BITS * BLOCK, 21 + BLOCK), outline=(128, 128, 128))
    return image


def read_clock(image, left=0):
    """The time that a picture of that page shows."""
    grey = image.convert("L")
    return sum(
        1 << bit
        for bit in range(BITS)
        if grey.getpixel((left + 20 + bit * BLOCK + BLOCK // 2, 20 + BLOCK // 2)) < 128
    )


def jpeg(image, quality=75):
    made = io.BytesIO()
    image.save(made, "JPEG", quality=quality)
    return made.getvalue()


class Filming:
    """One session in a recording's folder, written line by line."""

    def __init__(self, folder: Path, *, number=1, viewport=(640, 360), t=0.0, id="s-1"):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"session.{number}.jsonl"
        self.size = viewport
        self.path.touch()
        self.line(
            "session", t, format=1, id=id, started="2026-11-21T12:00:00Z", viewport=list(viewport), browser="chromium",
            headless=True,
        )  # fmt: skip

    def line(self, event, t, **members):
        self.raw(orjson.dumps({"event": event, "t": t, **members}) + b"\n")

    def raw(self, data: bytes):
        with self.path.open("ab") as file:
            file.write(data)

    def blob(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        path = self.folder / "blobs" / digest[:2] / digest
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return f"sha256:{digest}"

    def frame(self, t, image, *, tab=0, masks=(), event="frame", **members):
        blob = self.blob(image if isinstance(image, bytes) else jpeg(image))
        width, height = self.size if isinstance(image, bytes) else image.size
        self.line(event, t, tab=tab, blob=blob, width=width, height=height, masks=list(masks), **members)
        return blob

    def act(
        self,
        began,
        ended,
        action,
        *,
        call=1,
        tab=0,
        actor="script",
        box=None,
        success=True,
        message="",
        url="",
    ):
        self.line(
            "before", began, call=call, tab=tab, actor=actor, action=action, url=url,
            target=box and {"box": box, "point": None, "selector": action.get("selector"), "frame": []},
        )  # fmt: skip
        if ended is not None:
            self.line(
                "after", ended, call=call, tab=tab, success=success, message=message, url=url, title="", why=None,
                selectors={},
            )  # fmt: skip

    def footage(self) -> Footage:
        return next(one for one in sessions(self.folder) if one.path == self.path)
