"""A script, tried on changed pages: which steps would break, and what would save them."""
