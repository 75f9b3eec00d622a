"""Collecting traces on a port: `app` is what listens (an ASGI application), `traces` what becomes of the spans, `serve`
runs both.
"""

from __future__ import annotations

from reenact.collector.app import application
from reenact.collector.serve import Address, listen, serve
from reenact.collector.traces import Kept, Traces

__all__ = ["Address", "Kept", "Traces", "application", "listen", "serve"]
