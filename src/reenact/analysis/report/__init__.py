"""Reports about a recording, and tests that keep it."""
