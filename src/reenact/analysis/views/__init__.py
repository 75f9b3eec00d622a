"""Recorded things in words, for every interface. Nothing here knows a terminal's width."""
