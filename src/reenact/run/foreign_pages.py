"""Recognise requests of web pages to a port that is meant for programs.

Any page that is open in a browser can send requests to this machine. A browser names the page's origin in the header
`Origin`, except in simple GET requests; those have `Sec-Fetch-Site`. A page whose own name resolves to 127.0.0.1 (DNS
rebinding) sends that name as `Host`.
"""

from __future__ import annotations

import ipaddress
import re

from starlette.datastructures import Headers

from reenact.core.web_address import is_address, split_address

_PRIVATE = (".localhost", ".internal", ".local")
"""The ends of names that cannot be registered.

Containers know their host as `host.docker.internal`.
"""


def from_foreign_page(headers: Headers) -> bool:
    """Return True if a page that is not served by this machine has sent the request."""
    origins = headers.getlist("origin")
    if origins:
        return any(map(_foreign, origins))
    return headers.get("sec-fetch-site") == "cross-site"


def has_public_name(headers: Headers) -> bool:
    """Return True if `Host` contains a name that can be registered, instead of an address."""
    host = headers.get("host", "")
    name = re.sub(r":\d*\Z", "", host).strip("[]").lower().rstrip(".")
    return "." in name and not name.endswith(_PRIVATE) and not is_address(name)


def _foreign(origin: str) -> bool:
    # Applications and extensions have origins with schemes of their own.
    if origin != "null" and not origin.lower().startswith(("http:", "https:")):
        return False
    name = split_address(origin).hostname or ""
    return not (name == "localhost" or name.endswith(".localhost") or _is_loopback(name))


def _is_loopback(name: str) -> bool:
    return is_address(name) and ipaddress.ip_address(name).is_loopback
