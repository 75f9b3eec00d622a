"""The overlays of a page, each made once: mark, pointer, cards, and the bar below the page.

H.264 stores brightness for each pixel and colour for each four. A patch consists of those three planes and its
opacity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from PIL import Image, ImageDraw

from reenact.browser.video import fonts
from reenact.browser.video.timeline import Caption

BAR = 48
"""Pixels of the bar below the page."""

HALO = 4
"""Pixels by which a ring extends beyond its box."""

TIP = (3, 2)
"""The tip of the pointer in its picture."""

COLOURS = {
    "script": (47, 111, 222),
    "agent": (124, 77, 214),
    "heal": (201, 133, 11),
    "failed": (212, 49, 56),
}
"""Colours of the actors and of failure; words beside them distinguish them without colours."""

_SCALE = 4
_INK = (242, 244, 247)
_FAINT = (151, 161, 176)
_ALARM = (255, 138, 138)
_GROUND = (24, 27, 33)
_CLOCK = 96

# JPEG uses the full range of a byte, H.264 by default the limited one. Converting serves players that ignore the flag.
_LUMA = [16 + round(value * 219 / 255) for value in range(256)]
_CHROMA = [128 + round((value - 128) * 224 / 255) for value in range(256)]


@dataclass(frozen=True, slots=True)
class Planes:
    """A picture in H.264's form: brightness, and two colour planes of half its size."""

    y: Image.Image
    u: Image.Image
    v: Image.Image

    @classmethod
    def of(cls, image: Image.Image) -> Self:
        """Return a picture's planes; its width and height are even."""
        y, u, v = (image if image.mode == "YCbCr" else image.convert("RGB").convert("YCbCr")).split()
        return cls(y.point(_LUMA), u.reduce(2).point(_CHROMA), v.reduce(2).point(_CHROMA))

    @classmethod
    def filled(cls, width: int, height: int, colour: tuple[int, int, int]) -> Self:
        """Return a picture of one colour."""
        y, u, v = _ycc(colour)
        half = (width // 2, height // 2)
        return cls(Image.new("L", (width, height), y), Image.new("L", half, u), Image.new("L", half, v))

    @property
    def uniform(self) -> bool:
        """True for a picture of one colour."""
        return all(low == high for low, high in (each.getextrema() for each in (self.y, self.u, self.v)))

    def copy(self) -> Planes:
        """Return a copy to draw on."""
        return Planes(self.y.copy(), self.u.copy(), self.v.copy())

    def fill(self, box: tuple[int, int, int, int], colour: tuple[int, int, int]) -> None:
        """Cover a box (left, top, width, height, all even) with one colour."""
        left, top, width, height = box
        y, u, v = _ycc(colour)
        self.y.paste(y, (left, top, left + width, top + height))
        half = (left // 2, top // 2, (left + width) // 2, (top + height) // 2)
        self.u.paste(u, half)
        self.v.paste(v, half)

    def lay(self, other: Planes, left: int, top: int) -> None:
        """Lay another picture over this one, at an even place."""
        self.y.paste(other.y, (left, top))
        self.u.paste(other.u, (left // 2, top // 2))
        self.v.paste(other.v, (left // 2, top // 2))

    def paste(self, patch: Overlay, left: int, top: int) -> None:
        """Draw a patch at any place, even or odd."""
        planes, alpha, half = patch.at(left % 2, top % 2)
        left, top = left - left % 2, top - top % 2
        self.y.paste(planes.y, (left, top), alpha)
        self.u.paste(planes.u, (left // 2, top // 2), half)
        self.v.paste(planes.v, (left // 2, top // 2), half)

    def rgb(self) -> Image.Image:
        """Return the picture as a screen shows it."""
        y = self.y.point(_unlimited(_LUMA))
        u, v = (plane.point(_unlimited(_CHROMA)).resize(self.y.size) for plane in (self.u, self.v))
        return Image.merge("YCbCr", (y, u, v)).convert("RGB")


class Overlay:
    """An overlay, made from a picture with an alpha channel."""

    def __init__(self, image: Image.Image) -> None:
        self._image = image
        self._made: dict[tuple[int, int], tuple[Planes, Image.Image, Image.Image]] = {}
        self.width, self.height = image.size

    def at(self, x: int, y: int) -> tuple[Planes, Image.Image, Image.Image]:
        """Return its planes, and the opacity for brightness and colours, moved by 0 or 1 pixel.

        The move is needed because colours have even positions.
        """
        made = self._made.get((x, y))
        if made is None:
            width, height = (self.width + x + 1) // 2 * 2, (self.height + y + 1) // 2 * 2
            image = Image.new("RGBA", (width, height))
            image.paste(self._image, (x, y))
            # Uncovered pixels take the overlay's mean colour, or the edges would be dark.
            alpha = image.getchannel("A")
            flat = Image.new("RGB", image.size, _mean(self._image))
            flat.paste(image, (0, 0), alpha.point([255 if value else 0 for value in range(256)]))
            made = self._made[x, y] = (Planes.of(flat), alpha, alpha.reduce(2))
        return made


@lru_cache(maxsize=16)
def ring(size: tuple[int, int], colour: str) -> Overlay:
    """Return a rounded frame of that size, with a light halo so that it is visible on any page."""
    width, height = size[0] + 2 * HALO, size[1] + 2 * HALO
    image = Image.new("RGBA", (width, height), (*COLOURS[colour], 0))
    draw = ImageDraw.Draw(image)
    radius = min(8, size[0] // 2, size[1] // 2)
    draw.rounded_rectangle((0, 0, width - 1, height - 1), radius + 4, outline=(255, 255, 255, 190), width=2)
    draw.rounded_rectangle(
        (2, 2, width - 3, height - 3), radius + 2, outline=(*COLOURS[colour], 255), width=3
    )
    draw.rounded_rectangle((5, 5, width - 6, height - 6), radius, outline=(255, 255, 255, 120), width=1)
    return Overlay(image)


@lru_cache(maxsize=1)
def arrow() -> Overlay:
    """Return the pointer: the usual black arrow with a white edge."""
    outline = [(0, 0), (0, 17), (4, 13.4), (6.8, 19.6), (9.6, 18.4), (6.9, 12.3), (12.2, 12.3)]
    moved = [((x + TIP[0]) * _SCALE, (y + TIP[1]) * _SCALE) for x, y in outline]
    image = Image.new("RGBA", (20 * _SCALE, 26 * _SCALE), (255, 255, 255, 0))
    draw = ImageDraw.Draw(image)
    draw.line([*moved, moved[0], moved[1]], fill=(255, 255, 255, 255), width=3 * _SCALE, joint="curve")
    draw.polygon(moved, fill=(17, 17, 20, 255))
    return Overlay(image.resize((20, 26), Image.Resampling.LANCZOS))


@lru_cache(maxsize=8)
def press(colour: str) -> Overlay:
    """Return the spot that marks a press for a moment."""
    across = 34 * _SCALE
    image = Image.new("RGBA", (across, across), (*COLOURS[colour], 0))
    draw = ImageDraw.Draw(image)
    draw.ellipse((_SCALE, _SCALE, across - _SCALE, across - _SCALE), fill=(*COLOURS[colour], 84))
    draw.ellipse(
        (_SCALE, _SCALE, across - _SCALE, across - _SCALE), outline=(*COLOURS[colour], 220), width=2 * _SCALE
    )
    return Overlay(image.resize((34, 34), Image.Resampling.LANCZOS))


@lru_cache(maxsize=1)
def dots() -> Overlay:
    """Return the dots that are drawn instead of a secret."""
    image = Image.new("RGBA", (52 * _SCALE, 8 * _SCALE), (86, 97, 114, 0))
    draw = ImageDraw.Draw(image)
    for number in range(5):
        left = (number * 11 + 1) * _SCALE
        draw.ellipse((left, _SCALE, left + 6 * _SCALE, 7 * _SCALE), fill=(86, 97, 114, 255))
    return Overlay(image.resize((52, 8), Image.Resampling.LANCZOS))


@lru_cache(maxsize=16)
def card(kind: str, title: str, words: str, width: int) -> Overlay:
    """Return a card over the page, for an event that its pixels do not show."""
    label = {"dialog": "DIALOG", "download": "DOWNLOAD", "chooser": "FILE CHOOSER", "crash": "CRASH"}.get(
        kind, ""
    )
    colour = COLOURS["failed"] if kind in {"crash", "lost"} else (86, 97, 114)
    inner = min(width - 80, 480)
    body = fonts.lines(words, 14, inner, 4) if words else []
    heads = fonts.lines(title, 15, inner, 2)
    height = 18 + (18 if label else 0) + 21 * len(heads) + 20 * len(body) + 8
    image = Image.new("RGBA", (inner + 36, height), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((0, 0, inner + 35, height - 1), 10, fill=(*_GROUND, 242), outline=(*colour, 255))
    draw.rounded_rectangle((0, 0, 5, height - 1), 3, fill=(*colour, 255))
    top = 20
    if label:
        fonts.write(image, (20, top), label, 11, _FAINT, width=inner, bold=True)
        top += 20
    for line in heads:
        fonts.write(image, (20, top), line, 15, _INK, width=inner, bold=True)
        top += 21
    for line in body:
        fonts.write(image, (20, top), line, 14, (214, 219, 227), width=inner)
        top += 20
    return Overlay(image)


@lru_cache(maxsize=8)
def bar(caption: Caption, width: int) -> Overlay:
    """Return the bar below the page: actor, action, address, and the failure."""
    image = Image.new("RGBA", (width, BAR), (*_GROUND, 255))
    draw = ImageDraw.Draw(image)
    colour = COLOURS[caption.colour]
    left, room = 14, width - _CLOCK - 14
    if caption.step:
        draw.rectangle((0, 0, 4, BAR), fill=colour)
        label = f"{caption.step}  {caption.actor}"
        wide = round(fonts.font(12, bold=True).getlength(label))
        draw.rounded_rectangle((left, 8, left + wide + 15, 27), 9, fill=colour)
        fonts.write(image, (left + 8, 18), label, 12, (255, 255, 255), width=room, bold=True)
        sign = ("✗" if caption.colour == "failed" else "✓") if caption.done else ""
        place = left + wide + 24
        if sign:
            ink = _ALARM if sign == "✗" else (122, 208, 141)
            place += fonts.write(image, (place, 17), sign, 15, ink, width=30, bold=True) + 7
        fonts.write(image, (place, 17), caption.words, 15, _INK, width=room - place, bold=True)
    middle = 37 if caption.step else 24
    if caption.message:
        left += 12 + fonts.write(image, (left, middle), caption.message, 12, _ALARM, width=room - left)
    if room - left > 80:
        fonts.write(image, (left, middle), caption.url, 12, _FAINT, width=room - left)
    return Overlay(image)


@lru_cache(maxsize=8)
def clock(time: str, speed: int, tab: str) -> Overlay:
    """Return the bar's right end: the session's time, the speed, and the visible tab."""
    image = Image.new("RGBA", (_CLOCK, BAR), (*_GROUND, 255))
    draw = ImageDraw.Draw(image)
    draw.text((_CLOCK - 14, 17), time, fill=_INK, font=fonts.font(15, bold=True), anchor="rm")
    below = f"{speed}× faster" if speed > 1 else tab
    draw.text((_CLOCK - 14, 37), below, fill=_FAINT, font=fonts.fitting(below, 12), anchor="rm")
    return Overlay(image)


def _mean(image: Image.Image) -> tuple[int, int, int]:
    red, green, blue, alpha = image.resize((1, 1), Image.Resampling.BOX).getpixel((0, 0))  # type: ignore[misc]
    return (int(red), int(green), int(blue)) if alpha else (128, 128, 128)


@lru_cache(maxsize=32)
def _ycc(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    y, u, v = Image.new("RGB", (1, 1), colour).convert("YCbCr").getpixel((0, 0))  # type: ignore[misc]
    return (_LUMA[int(y)], _CHROMA[int(u)], _CHROMA[int(v)])


def _unlimited(table: list[int]) -> list[int]:
    """Return the inverse of a table; gaps take the nearest lower value."""
    back = [0] * 256
    for value, limited in enumerate(table):
        back[limited] = value
    for limited in range(1, 256):
        back[limited] = back[limited] or back[limited - 1]
    return back
