"""The JavaScript that reads pages: expressions whose values are objects of functions."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from reenact.core.redact import field_names


@cache
def eyes() -> str:
    """Return `eyes.js`, with the redactor's names of secrets in it."""
    return _text("eyes.js").replace("/* names */ []", json.dumps(field_names()))


@cache
def moment() -> str:
    """Return `moment.js`, which reads a whole page."""
    return f"({_text('moment.js')})({eyes()})"


def source_of(function: str) -> str:
    """Return the source that defines a function."""
    return moment() if function == "moment" else eyes()


def _text(name: str) -> str:
    return files("reenact.browser.page").joinpath(name).read_text(encoding="utf-8").strip()
