"""The header of a recording: its first line."""

from __future__ import annotations

from collections.abc import Mapping

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.redact import DEFAULT_RULES, Redactor

_OWN_RULES = {"names": sorted(DEFAULT_RULES.names), "headers": sorted(DEFAULT_RULES.headers)}
"""The rules of a recording whose user has none, as its header tells them."""


def header_line(header: Mapping[str, Tree], redactor: Redactor) -> bytes:
    """Return the line of a header, without its secrets."""
    rules = header.get("secrets")
    if rules != _OWN_RULES:
        return redactor.line(codec.dumps({"event": "opened", **header}))
    # Words of ours: there is nothing to look for, and each of them would be looked at.
    rest = {name: value for name, value in header.items() if name != "secrets"}
    line = redactor.line(codec.dumps({"event": "opened", **rest}))
    return line[:-1] + b',"secrets":%b}' % codec.dumps(rules)
