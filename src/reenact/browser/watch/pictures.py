"""The pictures of a page: what holds a secret is covered in the pixels: who has the page has them."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator, Sequence

from reenact.browser.footage import Footage
from reenact.browser.video.stage import Box, Picture
from reenact.errors import RecordingError

_MARGIN = 2
_COVER = (88, 96, 105)
_QUALITY = 80


def encoded(footage: Footage, pictures: Iterable[Picture], *, mask: bool = True) -> Iterator[str]:
    """Each picture as base64, an empty text where it is lost or cannot be covered."""
    for picture in pictures:
        try:
            data = footage.blob(picture.blob)
            if mask and picture.masks:
                data = covered(data, picture.masks, (picture.width, picture.height))
            yield base64.b64encode(data).decode()
        except (RecordingError, ImportError, OSError):
            yield ""


def covered(data: bytes, masks: Sequence[Box], size: tuple[float, float]) -> bytes:
    """A JPEG with boxes painted over.

    Args:
        data: The picture.
        masks: The boxes, in pixels of the page.
        size: How many pixels of the page the picture shows, or zeros where each is one of the picture's.

    Raises:
        ImportError: Pillow is not installed.
        OSError: It is no picture.
    """
    from PIL import Image, ImageDraw  # noqa: PLC0415 - of the extra `browser`; needed for secrets only

    with Image.open(io.BytesIO(data)) as opened:
        image = opened.convert("RGB")
    across, down = (own / shown if shown else 1.0 for own, shown in zip(image.size, size, strict=True))
    pen = ImageDraw.Draw(image)
    for x, y, width, height in masks:
        left, top = (x - _MARGIN) * across, (y - _MARGIN) * down
        right, bottom = (x + width + _MARGIN) * across, (y + height + _MARGIN) * down
        pen.rectangle((left, top, max(right, left), max(bottom, top)), fill=_COVER)
    target = io.BytesIO()
    image.save(target, "JPEG", quality=_QUALITY)
    return target.getvalue()
