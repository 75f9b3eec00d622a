"""Recordings as servers: what answered an agent once answers another one, whatever language it is written in."""
