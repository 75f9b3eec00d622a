"""Record and replay: the boundary, the recording format, redaction, the embedded store, and queries over recordings."""
