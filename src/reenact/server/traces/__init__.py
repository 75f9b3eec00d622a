"""Collecting traces on a port: `app` is what listens (an ASGI application), `traces` what becomes of the spans, `serve`
runs both.
"""

from __future__ import annotations

from reenact.server.traces.app import application
from reenact.server.traces.serve import Address, listen, serve
from reenact.server.traces.traces import Kept, Traces

__all__ = ["Address", "Kept", "Traces", "application", "listen", "serve"]
