"""Cover secrets in the pixels of a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence

MARGIN = 2
"""Pixels around a box that are covered too, because JPEG smears edges."""
COLOUR = (88, 96, 105)


def covered(data: bytes, masks: Sequence[Sequence[float]], size: tuple[float, float]) -> bytes:
    """Return a JPEG with boxes painted over.

    Args:
        data: The picture.
        masks: The boxes, in pixels of the page: x, y, width, height.
        size: The size of the shown page in pixels, or zeros if the picture is not scaled.

    Raises:
        ImportError: Pillow is not installed.
        OSError: The data is not a picture.
    """
    from PIL import Image, ImageDraw  # noqa: PLC0415 - of the extra `browser`; needed for secrets only

    with Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "WEBP")) as opened:
        image = opened.convert("RGB")
    across, down = (own / shown if shown else 1.0 for own, shown in zip(image.size, size, strict=True))
    pen = ImageDraw.Draw(image)
    for x, y, width, height in masks:
        left, top = (x - MARGIN) * across, (y - MARGIN) * down
        right, bottom = (x + width + MARGIN) * across, (y + height + MARGIN) * down
        pen.rectangle((left, top, max(right, left), max(bottom, top)), fill=COLOUR)
    target = io.BytesIO()
    image.save(target, "JPEG", quality=80)
    return target.getvalue()
