"""The data: events, outcomes, recordings, divergences. Frozen and small; no clock, no I/O."""
