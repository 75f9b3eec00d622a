"""The header of a recording: its first line, with the mark of its home."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import orjson

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.redact import DEFAULT_RULES, Redactor
from reenact.core.store.writer import warn
from reenact.core.trust.identity import MARK, Identity
from reenact.core.trust.origin import header_mark

_LONGEST = 60
"""Letters of a package's name or version at most that is written as it is."""

_WITHOUT_SIGNS = dict.fromkeys(map(ord, "-_.+!"))

_OWN_RULES = {"names": sorted(DEFAULT_RULES.names), "headers": sorted(DEFAULT_RULES.headers)}
"""The rules in the header of a recording whose user has no own rules."""


def header_line(header: Mapping[str, Tree], redactor: Redactor) -> bytes:
    """Return the line of a header, without its secrets."""
    rules = header.get("secrets")
    if rules != _OWN_RULES:
        return redactor.line(codec.dumps({"event": "opened", **header}))
    # The default rules hold no secret: skip the search.
    rest = {name: value for name, value in header.items() if name != "secrets"}
    packages = b"{}" if redactor.knows_values else _packages(header)
    if packages != b"{}":
        rest["program"] = {**cast("dict[str, Tree]", header["program"]), "packages": {}}
    line = redactor.line(codec.dumps({"event": "opened", **rest}))
    if packages != b"{}":
        line = line.replace(b'"packages":{}', b'"packages":%b' % packages, 1)
    return line[:-1] + b',"secrets":%b}' % codec.dumps(rules)


def _packages(header: Mapping[str, Tree]) -> bytes:
    """Return the names and versions of the installed packages as JSON.

    Return `{}` if one has another form. They hold no secret, and names such as `google-auth` and `pyotp` would be
    looked at with all patterns.
    """
    program = header.get("program")
    packages = program.get("packages") if isinstance(program, dict) else None
    if not isinstance(packages, dict) or not all(
        _is_plain(name) and isinstance(version, str) and _is_plain(version)
        for name, version in packages.items()
    ):
        return b"{}"
    return codec.dumps(packages)


def _is_plain(text: str) -> bool:
    return len(text) <= _LONGEST and text.isascii() and text.translate(_WITHOUT_SIGNS).isalnum()


def marked(line: bytes, identity: Identity) -> bytes:
    """Return the line of a header with the mark of its home."""
    try:
        mark = header_mark(identity, orjson.loads(line))
    except Exception as error:
        warn(f"this recording will count as foreign: {error}")
        return line
    return line[:-1] + b',"%b":%b}' % (MARK.encode(), orjson.dumps(mark))
