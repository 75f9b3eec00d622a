"""Typed views of recordings and results, for every interface, independent of a terminal."""
