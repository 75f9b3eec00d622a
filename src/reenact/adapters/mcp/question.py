"""Which effect a request to an MCP server is: what its answer depends on, and nothing that only carries it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reenact.core.model.event import Effect

KIND = "mcp"

MESSAGES = "messages"
"""The effect whose chunks are what a server says unasked."""

_CARRIAGE = {
    "progressToken", "traceparent", "tracestate", "baggage", "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/logLevel",
}  # fmt: skip
"""What is put on every request by the library: numbers, traces, and the session's own description of itself."""


def effect_of(method: str, params: Mapping[str, Any] | None, *, leaf: bool) -> Effect:
    """The effect of a request: a tool's call by its name and arguments, any other by its method and parameters.

    Args:
        method: The JSON-RPC method.
        params: Its parameters, as they go over the wire.
        leaf: Whether nothing of what happens inside can be recorded: the server is another process.
    """
    asked = dict(params or {})
    meta = {key: item for key, item in (asked.pop("_meta", None) or {}).items() if key not in _CARRIAGE}
    if meta:
        asked["_meta"] = meta
    if method == "tools/call":
        name, arguments = asked.pop("name", "?"), asked.pop("arguments", None) or {}
        return Effect("tool", name, {**arguments, **({"_mcp": asked} if asked else {})}, leaf=leaf)
    if method == "initialize":
        # Who asks, but not in which version: a recording survives an upgrade of the agent's framework.
        asked["clientInfo"] = {"name": (asked.get("clientInfo") or {}).get("name")}
    return Effect(KIND, method, asked, leaf=leaf)


def server_name(raw: Mapping[str, Any]) -> str | None:
    """What a server calls itself in its answer to `initialize` or `server/discover`."""
    told = raw.get("serverInfo") or (raw.get("_meta") or {}).get("io.modelcontextprotocol/serverInfo") or {}
    name = told.get("name") if isinstance(told, Mapping) else None
    return str(name).replace("/", "|")[:80] if name else None
