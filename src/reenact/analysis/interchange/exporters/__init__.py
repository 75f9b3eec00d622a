"""Exporting: recordings in the forms of other programs."""
