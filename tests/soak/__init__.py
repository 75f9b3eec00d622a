"""Slow suites: `make soak` runs them whole, CI a short form."""
