"""Collect traces on a port.

`app` is the ASGI application, `traces` turns spans into recordings, `serve` runs both.
"""

from __future__ import annotations

from reenact.server.traces.receiver import application
from reenact.server.traces.serve import Address, listen, serve
from reenact.server.traces.traces import KeptTrace, Traces

__all__ = ["Address", "KeptTrace", "Traces", "application", "listen", "serve"]
