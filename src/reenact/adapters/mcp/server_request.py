"""The effect of a request to an MCP server: all values that its answer depends on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from reenact.core.model.event import Effect

KIND = "mcp"

GREETINGS = ("initialize", "server/discover")
"""The requests with which a session begins."""

MESSAGES = "messages"
"""The effect whose chunks are the messages that a server sends unasked."""

_CARRIAGE = {
    "progressToken", "traceparent", "tracestate", "baggage", "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/logLevel",
}  # fmt: skip
"""The fields that the library adds to every request: numbers, traces, self-description."""


def effect_of(
    method: str,
    params: Mapping[str, Any] | None,
    *,
    leaf: bool,
    hints: Mapping[str, bool] = MappingProxyType({}),
) -> Effect:
    """Return the effect of a request: a tool's call by name and arguments, others by method.

    Args:
        method: The JSON-RPC method.
        params: Its parameters, as they go over the wire.
        leaf: Nothing inside can be recorded: the server is another process.
        hints: The tools that the server says to write (True) or only to read (False).
    """
    asked = dict(params or {})
    meta = {key: item for key, item in (asked.pop("_meta", None) or {}).items() if key not in _CARRIAGE}
    if meta:
        asked["_meta"] = meta
    if method == "tools/call":
        name, arguments = asked.pop("name", "?"), asked.pop("arguments", None) or {}
        given = {**arguments, **({"_mcp": asked} if asked else {})}
        return Effect("tool", name, given, leaf=leaf, writes=hints.get(name))
    if method == "initialize":
        # The client's name, not its version: a recording survives an upgrade of the agent's framework.
        asked["clientInfo"] = {"name": (asked.get("clientInfo") or {}).get("name")}
    return Effect(KIND, method, asked, leaf=leaf)


def hints_of(raw: Mapping[str, Any]) -> dict[str, bool]:
    """Return the tools of an answer to `tools/list` with hints: True for those that write.

    `readOnlyHint` decides. A tool without it that has another hint writes: so says the protocol's default.
    """
    found: dict[str, bool] = {}
    for tool in raw.get("tools") or ():
        told = tool.get("annotations") if isinstance(tool, Mapping) else None
        if isinstance(told, Mapping) and isinstance(tool.get("name"), str):
            if isinstance(told.get("readOnlyHint"), bool):
                found[tool["name"]] = not told["readOnlyHint"]
            elif isinstance(told.get("destructiveHint"), bool):
                found[tool["name"]] = True
    return found


def server_name(raw: Mapping[str, Any]) -> str | None:
    """Return a server's name from its answer to `initialize` or `server/discover`."""
    told = raw.get("serverInfo") or (raw.get("_meta") or {}).get("io.modelcontextprotocol/serverInfo") or {}
    name = told.get("name") if isinstance(told, Mapping) else None
    return str(name).replace("/", "|")[:80] if name else None
