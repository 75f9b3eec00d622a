"""A comparison of two recordings on a terminal and as a page."""
