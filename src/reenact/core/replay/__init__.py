"""Replay: answer every effect from the recording; name the first divergence."""
