"""Encode the pictures of a page, with secrets covered."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator

from reenact.browser.camera.covering import covered
from reenact.browser.camera.footage import Footage
from reenact.browser.video.tabs import PaintedPage
from reenact.errors import RecordingError


def encoded(footage: Footage, pictures: Iterable[PaintedPage], *, mask: bool = True) -> Iterator[str]:
    """Yield each picture as base64, or an empty text where it is lost or cannot be covered."""
    for picture in pictures:
        try:
            yield base64.b64encode(jpeg(footage, picture, mask=mask)).decode()
        except (RecordingError, ImportError, OSError):
            yield ""


def jpeg(footage: Footage, picture: PaintedPage, *, mask: bool = True) -> bytes:
    """Return one picture.

    Raises RecordingError where it is lost, ImportError or OSError where it cannot be covered.
    """
    data = footage.blob(picture.blob)
    if mask and picture.masks:
        data = covered(data, picture.masks, (picture.width, picture.height))
    return data
