"""Record a program in any language: a local proxy makes effects of its HTTP requests.

The program's SDK is pointed at the proxy, an adapter outside of the program. Its effects are those of the httpx
adapter, so that all readers of a recording know them.
"""

from __future__ import annotations

from reenact.run.proxy.providers import Route, environ, placeholders, routes, wanted
from reenact.run.proxy.proxied_runs import ForkingProxy, RecordingProxy, ReplayingProxy
from reenact.run.proxy.server import Serving, free

__all__ = [
    "ForkingProxy",
    "RecordingProxy",
    "ReplayingProxy",
    "Route",
    "Serving",
    "environ",
    "free",
    "placeholders",
    "routes",
    "wanted",
]
