"""Sessions whose browser is on a server; each call is a request to it."""
