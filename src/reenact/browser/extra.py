"""Fail with one line if a package of the extra `browser` is missing."""

from importlib.util import find_spec

from reenact.errors import MissingExtra

for _package in ("playwright", "pydantic_ai"):
    if find_spec(_package) is None:
        raise MissingExtra("a browser session", "browser")
