"""Sessions whose browser is on a server: the same calls, each sent to the server."""
