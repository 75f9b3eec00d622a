"""A program in any language: its SDK is pointed at a proxy on this machine, and what crosses it is an HTTP effect.

The proxy is an adapter that stands outside of the program. The effects that it makes are those of the httpx adapter,
so that whatever reads, compares, forks or judges a recording knows them.
"""

from __future__ import annotations

from reenact.run.proxy.providers import Route, environ, placeholders, routes, wanted
from reenact.run.proxy.server import Serving, free
from reenact.run.proxy.session import Forking, Recording, Replaying

__all__ = [
    "Forking",
    "Recording",
    "Replaying",
    "Route",
    "Serving",
    "environ",
    "free",
    "placeholders",
    "routes",
    "wanted",
]
