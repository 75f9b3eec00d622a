"""Servers of recordings: the HTTP API, and recorded answers over MCP for any client."""
