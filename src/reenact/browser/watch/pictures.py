"""Encode the pictures of a page, with secrets covered."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator

from reenact.browser.camera.covering import covered
from reenact.browser.camera.footage import Footage
from reenact.browser.video.tabs import PaintedPage
from reenact.errors import RecordingError

_ACROSS = 224
"""Pixels of a small picture across."""


def encoded(footage: Footage, pictures: Iterable[PaintedPage], *, mask: bool = True) -> Iterator[str]:
    """Yield each picture as base64, or an empty text if it is lost or cannot be covered."""
    for picture in pictures:
        try:
            yield base64.b64encode(jpeg(footage, picture, mask=mask)).decode()
        except (RecordingError, ImportError, OSError):
            yield ""


def strip(
    footage: Footage, pictures: Iterable[tuple[int, PaintedPage]], *, mask: bool = True
) -> Iterator[str]:
    """Yield each picture small, as base64, or an empty text if it is lost."""
    for _, picture in pictures:
        try:
            yield base64.b64encode(thumbnail(jpeg(footage, picture, mask=mask), _ACROSS)).decode()
        except (RecordingError, ImportError, OSError):
            yield ""


def jpeg(footage: Footage, picture: PaintedPage, *, mask: bool = True) -> bytes:
    """Return one picture.

    Raises RecordingError if it is lost, ImportError or OSError if it cannot be covered.
    """
    data = footage.blob(picture.blob)
    if mask and picture.masks:
        data = covered(data, picture.masks, (picture.width, picture.height))
    return data


def thumbnail(data: bytes, width: int) -> bytes:
    """Return a picture as a JPEG of at most that width.

    Raises ImportError without Pillow, OSError if the data is no picture.
    """
    from PIL import Image  # noqa: PLC0415 - of the extra `browser`

    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "WEBP")) as opened:
            opened.draft("RGB", (width, width))
            image = opened.convert("RGB")
    except Image.DecompressionBombError as error:
        raise OSError(str(error)) from None
    image.thumbnail((width, 4 * width))
    target = io.BytesIO()
    image.save(target, "JPEG", quality=70)
    return target.getvalue()
