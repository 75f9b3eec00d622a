"""Replaying: answering every effect from the recording, and naming the first place where the program leaves it."""
