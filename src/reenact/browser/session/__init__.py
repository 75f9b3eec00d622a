"""Browser sessions: start, drive, replay and serve them."""
