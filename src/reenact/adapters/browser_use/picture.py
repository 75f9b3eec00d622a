"""Keep pictures as bytes, once each; browser-use passes them as base64 text."""

from __future__ import annotations

import base64
import binascii
from typing import Any

_DATA = "data:"
_BASE64 = ";base64,"


def kept(text: str | None) -> bytes | str | None:
    """Return the bytes of a picture; the text if they would be encoded differently."""
    if text is None:
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return text
    return data if base64.b64encode(data).decode() == text else text


def shown(data: Any) -> Any:
    """Return the picture as base64 text again."""
    return base64.b64encode(data).decode() if isinstance(data, bytes) else data


def url(address: str) -> dict[str, Any]:
    """Return an image's address for a question, with the picture in a `data:` URL as bytes."""
    head, found, text = address.partition(_BASE64)
    if found and head.startswith(_DATA):
        return {"media_type": head.removeprefix(_DATA), "data": kept(text)}
    return {"url": address}
