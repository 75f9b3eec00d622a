"""What is written about a recording: reports, and tests that keep it."""
