"""Recordings as read back: steps, state, facts, summaries, and filters over them."""
