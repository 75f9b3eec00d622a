"""The header of a recording: its first line, with the mark of its home."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.redact import DEFAULT_RULES, Redactor
from reenact.core.store.writer import warn
from reenact.core.trust.identity import MARK, Identity
from reenact.core.trust.origin import header_mark

_OWN_RULES = {"names": sorted(DEFAULT_RULES.names), "headers": sorted(DEFAULT_RULES.headers)}
"""The rules in the header of a recording whose user has no own rules."""


def header_line(header: Mapping[str, Tree], redactor: Redactor) -> bytes:
    """Return the line of a header, without its secrets."""
    rules = header.get("secrets")
    if rules != _OWN_RULES:
        return redactor.line(codec.dumps({"event": "opened", **header}))
    # The default rules hold no secret: skip the search.
    rest = {name: value for name, value in header.items() if name != "secrets"}
    line = redactor.line(codec.dumps({"event": "opened", **rest}))
    return line[:-1] + b',"secrets":%b}' % codec.dumps(rules)


def marked(line: bytes, identity: Identity) -> bytes:
    """Return the line of a header with the mark of its home."""
    try:
        mark = header_mark(identity, orjson.loads(line))
    except Exception as error:
        warn(f"this recording will count as foreign: {error}")
        return line
    return line[:-1] + b',"%b":%b}' % (MARK.encode(), orjson.dumps(mark))
