"""Recorded things in words, for whichever face shows them. Nothing here knows a terminal's width."""
