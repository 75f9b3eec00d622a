"""The pictures of a page, as it carries them. What holds a secret is covered."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator

from reenact.browser.covering import covered
from reenact.browser.footage import Footage
from reenact.browser.video.stage import Picture
from reenact.errors import RecordingError


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
