"""Draw a frame (page, masks, mark, pointer, cards, bar) as the planes that H.264 encodes.

Most frames differ from the one before only by a pointer or a line of text. So a page is decoded once, each overlay is a
small patch that is made once, and no frame is converted from RGB.
"""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image

from reenact.browser.video import overlays
from reenact.browser.video.overlays import BAR, Planes
from reenact.browser.video.tabs import Box, PaintedPage
from reenact.browser.video.timeline import Pointer, Ring, Shot
from reenact.errors import RecordingError

NARROWEST = 640
"""Least width of the frame in pixels, for its captions; a narrower page is centred."""

WIDEST, HIGHEST = 1920, 1200
"""Largest width and height in pixels; a larger page is scaled down."""

_KEPT = 3
_FORMATS = ("JPEG", "PNG", "WEBP")
_LARGEST = 64_000_000
"""Most pixels of a picture that is decoded."""

_UNOPENED = "about:blank"
"""The address of a tab in which nothing was opened."""

_APART = 8
"""Pixels between two cards."""

_BACKGROUND = (32, 36, 43)
_BLANK = (236, 238, 241)
_MASK = (197, 203, 212)


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of the page in the frame, in even numbers because four pixels share one colour.

    Attributes:
        width: The frame's width.
        height: The frame's height, with the bar.
        page: Left, top, width and height of the page.
    """

    width: int
    height: int
    page: tuple[int, int, int, int]

    @classmethod
    def of(cls, size: tuple[int, int]) -> Layout:
        """Return the layout for a page of that size."""
        scale = min(1.0, WIDEST / size[0], HIGHEST / size[1])
        width, height = _even(size[0] * scale), _even(size[1] * scale)
        whole = max(width, NARROWEST)
        return cls(whole, height + BAR, ((whole - width) // 4 * 2, 0, width, height))


class Painter:
    """Draws shots of one session.

    Args:
        layout: The places in the frame.
        blob: Returns the bytes at an address; raises RecordingError if they are missing.
        mask: True to cover secrets.

    Attributes:
        lost: The pictures that could not be read.
    """

    def __init__(self, layout: Layout, blob: Callable[[str], bytes], *, mask: bool = True) -> None:
        self._layout = layout
        self._blob = blob
        self._mask = mask
        self._pages: OrderedDict[tuple[PaintedPage | None, bool], Planes] = OrderedDict()
        self.lost: set[str] = set()

    def draw(self, shot: Shot) -> Planes:
        """Draw one frame."""
        frame = self._page(shot.picture, unopened=shot.caption.url == _UNOPENED).copy()
        left, top, width, height = self._place(shot.picture)
        scale = width / (shot.picture.width or width) if shot.picture else 1.0
        marked = None
        if shot.ring is not None:
            marked = self._ring(frame, shot.ring, scale, (left, top, width, height))
        self._cards(frame, shot.cards, marked)
        if shot.pointer is not None:
            self._pointer(frame, shot.pointer, scale, (left, top))
        bottom = self._layout.height - BAR
        frame.paste(overlays.bar(shot.caption, self._layout.width), 0, bottom)
        clock = overlays.clock(shot.clock, shot.speed, shot.caption.tab)
        frame.paste(clock, self._layout.width - clock.width, bottom)
        return frame

    def _ring(
        self, frame: Planes, ring: Ring, scale: float, page: tuple[int, int, int, int]
    ) -> tuple[int, int, int, int] | None:
        """Draw a ring; return left, top, right and bottom of its patch, or None if it is invisible."""
        left, top, width, height = page
        x, y, across, down = (value * scale for value in ring.box)
        # The visible part of the element, with a small margin.
        x0, y0 = max(x - 4, -2), max(y - 4, -2)
        x1, y1 = min(x + across + 4, width + 2), min(y + down + 4, height + 2)
        if x1 - x0 < 6 or y1 - y0 < 6:
            return None
        size = (round(x1 - x0), round(y1 - y0))
        patch = overlays.ring(size, ring.colour)
        x, y = left + round(x0) - overlays.HALO, top + round(y0) - overlays.HALO
        frame.paste(patch, x, y)
        return (x, y, x + patch.width, y + patch.height)

    def _pointer(self, frame: Planes, pointer: Pointer, scale: float, page: tuple[int, int]) -> None:
        x, y = page[0] + round(pointer.x * scale), page[1] + round(pointer.y * scale)
        if pointer.pressed:
            press = overlays.press(pointer.colour)
            frame.paste(press, x - press.width // 2, y - press.height // 2)
        frame.paste(overlays.arrow(), x - overlays.TIP[0], y - overlays.TIP[1])

    def _cards(
        self, frame: Planes, cards: tuple[tuple[str, str, str], ...], marked: tuple[int, int, int, int] | None
    ) -> None:
        """Draw the cards below each other.

        A card that would cover the marked element is drawn below it, if it fits there.
        """
        top, bottom = 16, self._layout.height - BAR
        for kind, title, text in cards:
            patch = overlays.card(kind, title, text, self._layout.width)
            left = (self._layout.width - patch.width) // 2
            if marked is not None and _overlap((left, top, left + patch.width, top + patch.height), marked):
                below = marked[3] + _APART
                top = below if below + patch.height <= bottom else top
            if top + patch.height > bottom:
                break
            frame.paste(patch, left, top)
            top += patch.height + _APART

    def _place(self, picture: PaintedPage | None) -> tuple[int, int, int, int]:
        """Return the place of a page, whose size may differ from the session's first one."""
        *_, width, height = self._layout.page
        if picture is None or not (picture.width and picture.height):
            return self._layout.page
        bounds = (self._layout.width, height)
        scale = min(
            bounds[0] / picture.width, bounds[1] / picture.height, max(width / picture.width, 1.0), 1.0
        )
        drawn = (_even(picture.width * scale), _even(picture.height * scale))
        if drawn == (width, height):
            return self._layout.page
        return ((bounds[0] - drawn[0]) // 4 * 2, (bounds[1] - drawn[1]) // 4 * 2, *drawn)

    def _page(self, picture: PaintedPage | None, *, unopened: bool) -> Planes:
        """Return the frame with only the page."""
        key = (picture, unopened)
        found = self._pages.get(key)
        if found is None:
            found = self._decoded(picture, unopened=unopened)
            self._pages[key] = found
            if len(self._pages) > _KEPT:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(key)
        return found

    def _decoded(self, picture: PaintedPage | None, *, unopened: bool) -> Planes:
        frame = Planes.filled(self._layout.width, self._layout.height, _BACKGROUND)
        place = self._place(picture)
        frame.fill(place, _BLANK)
        page = None if picture is None else self._read(picture.blob, place[2:])
        if unopened and (picture is None or (page is not None and page.uniform)):
            # A video often begins with a white picture, which would explain nothing.
            self._word(frame, place, "empty", "Empty page: no address is open yet")
            return frame
        if picture is None:
            return frame
        if page is None:
            self._word(frame, place, "lost", "This picture is lost")
            return frame
        frame.lay(page, place[0], place[1])
        if self._mask:
            for box in picture.masks:
                self._cover(frame, box, picture, place)
        return frame

    def _word(self, frame: Planes, place: tuple[int, int, int, int], kind: str, text: str) -> None:
        """Draw a card in place of a page."""
        patch = overlays.card(kind, text, "", self._layout.width)
        frame.paste(patch, place[0] + (place[2] - patch.width) // 2, place[1] + place[3] // 3)

    def _cover(self, frame: Planes, box: Box, picture: PaintedPage, place: tuple[int, int, int, int]) -> None:
        scale = place[2] / (picture.width or place[2])
        # Two pixels more, because JPEG smears edges.
        x0, y0 = max(box[0] * scale - 2, 0), max(box[1] * scale - 2, 0)
        x1, y1 = min((box[0] + box[2]) * scale + 2, place[2]), min((box[1] + box[3]) * scale + 2, place[3])
        left, top = int(x0) // 2 * 2, int(y0) // 2 * 2
        width, height = _even(x1 - left + 1), _even(y1 - top + 1)
        if x1 > x0 and y1 > y0:
            width, height = min(width, place[2] - left), min(height, place[3] - top)
            frame.fill((place[0] + left, place[1] + top, width, height), _MASK)
            dots = overlays.dots()
            if width > dots.width and height > dots.height:
                frame.paste(dots, place[0] + left + 8, place[1] + top + (height - dots.height) // 2)

    def _read(self, address: str, size: tuple[int, int]) -> Planes | None:
        if address in self.lost:
            return None
        try:
            # Decoders of other formats may start programs, or unpack hidden contents.
            image: Image.Image = Image.open(io.BytesIO(self._blob(address)), formats=_FORMATS)
            if image.width * image.height > _LARGEST:
                raise ValueError("too many pixels")
            image.draft("YCbCr", image.size)
            image.load()
        except (RecordingError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            # A missing or damaged picture leaves a gap in the video; the rest is still drawn.
            self.lost.add(address)
            return None
        if image.size != size:
            image = image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
        return Planes.of(image)


def _overlap(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    """Return True if two boxes (left, top, right, bottom) have pixels in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _even(value: float) -> int:
    return max(round(value / 2) * 2, 2)
