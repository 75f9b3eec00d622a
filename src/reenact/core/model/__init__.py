"""The data: events, outcomes, recordings, divergences. Frozen, small; no clock, no ids of its own making, no I/O."""
