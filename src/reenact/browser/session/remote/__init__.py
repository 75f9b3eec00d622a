"""Sessions whose browser a server has: the same calls, each one asked of it."""
