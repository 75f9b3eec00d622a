"""Fleets of recordings against today's code."""
