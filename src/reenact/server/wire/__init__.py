"""Hosted browser sessions and agents, and their requests and answers."""
