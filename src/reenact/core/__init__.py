"""Record and replay: the boundary, the format, redaction, the store, and queries."""
