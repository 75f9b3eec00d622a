"""Hosted browser sessions and agents, and their requests over the network."""
