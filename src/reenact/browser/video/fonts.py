"""Write text into a picture: choose a font with its letters, and cut the line to fit."""

from __future__ import annotations

from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Ink = tuple[int, int, int] | tuple[int, int, int, int]

_PLAIN = (
    "DejaVuSans.ttf", "Arial.ttf", "arial.ttf", "LiberationSans-Regular.ttf", "NotoSans-Regular.ttf",
    "NotoSansCJK-Regular.ttc", "wqy-microhei.ttc", "PingFang.ttc", "Arial Unicode.ttf", "msyh.ttc", "unifont.ttf",
)  # fmt: skip
_BOLD = (
    "DejaVuSans-Bold.ttf", "Arial Bold.ttf", "arialbd.ttf", "LiberationSans-Bold.ttf", "NotoSans-Bold.ttf",
)  # fmt: skip


@lru_cache(maxsize=64)
def font(size: int, *, bold: bool = False) -> Font:
    """Return the captions' font: a common one of the system, else Pillow's own."""
    found = _fonts(size, bold=bold)
    return found[0]


def fitting(words: str, size: int, *, bold: bool = False) -> Font:
    """Return the first font that has all letters of a text, or the captions' font if none has."""
    if words.isascii():
        return font(size, bold=bold)
    return _covering(frozenset(words), size, bold)


def cut(words: str, face: Font, width: int) -> str:
    """Cut a text with an ellipsis if it is too wide."""
    if face.getlength(words) <= width:
        return words
    fits, wide = 0, len(words)
    while wide - fits > 1:
        middle = (fits + wide) // 2
        if face.getlength(words[:middle].rstrip() + "…") <= width:
            fits = middle
        else:
            wide = middle
    return words[:fits].rstrip() + "…" if fits else ""


def write(
    image: Image.Image,
    place: tuple[int, int],
    words: str,
    size: int,
    ink: Ink,
    *,
    width: int,
    bold: bool = False,
) -> int:
    """Write one line into a picture, cut to `width`; return its width in pixels.

    `place` is the left end and the vertical middle.
    """
    face = fitting(words, size, bold=bold)
    shown = cut(words, face, width)
    if shown:
        ImageDraw.Draw(image).text(place, shown, fill=ink, font=face, anchor="lm")
    return round(face.getlength(shown))


def lines(words: str, size: int, width: int, most: int) -> list[str]:
    """Break a text into at most `most` lines of a width; the last one is cut."""
    face = fitting(words, size)
    found: list[str] = []
    rest = words.split(" ")
    while rest and len(found) < most - 1:
        fits = 1
        while fits < len(rest) and face.getlength(" ".join(rest[: fits + 1])) <= width:
            fits += 1
        found.append(cut(" ".join(rest[:fits]), face, width))
        rest = rest[fits:]
    if rest:
        found.append(cut(" ".join(rest), face, width))
    return found


@lru_cache(maxsize=64)
def _fonts(size: int, *, bold: bool) -> list[Font]:
    found: list[Font] = []
    for name in (*_BOLD, *_PLAIN) if bold else _PLAIN:
        try:
            found.append(ImageFont.truetype(name, size))
        except OSError:
            continue
    return [*found, ImageFont.load_default(size)]


@lru_cache(maxsize=256)
def _covering(letters: frozenset[str], size: int, bold: bool) -> Font:
    fonts = _fonts(size, bold=bold)
    return next((face for face in fonts if _covers(face, letters)), fonts[0])


def _covers(face: Font, letters: frozenset[str]) -> bool:
    missing = bytes(face.getmask("\U0010fffe"))
    return all(letter.isspace() or bytes(face.getmask(letter)) != missing for letter in letters)
