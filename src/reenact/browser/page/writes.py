"""Prints of requests that may change something, and their comparison with good runs.

A print has the method, the path and, for each field of the body, three hexadecimal digits: enough to distinguish two
values, too few to recover one. Fields with secret names have none, and neither have tokens and times, which differ in
each run.
"""

from __future__ import annotations

import email.parser
import email.policy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from reenact.browser.page.consequence import plain, where
from reenact.core.redact.names import says_secret
from reenact.core.web_address import split_address

READING = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

FIELDS = 60
"""Most fields of a body that are compared."""

LARGEST = 256_000
"""Most bytes of a parsed body; a larger one has a print of its length and beginning."""

_PASSING = re.compile(
    r"csrf|xsrf|nonce|token|time|stamp|uuid|guid|request.?id|idempot|signature|^_+$", re.IGNORECASE
)
"""Names of fields whose values differ in each run."""

_ACTING = re.compile(r"^_?(operation.?name|action|method|cmd|command|intent|op|verb)$", re.IGNORECASE)
"""Names of fields that name the requested operation."""

Written = Mapping[str, Any]
"""The print of a request: `method`, `path`, `body` (name: print)."""


def written(method: str, url: str, site: str, kind: str, body: bytes | None) -> dict[str, Any]:
    """Return the print of a request.

    Args:
        method: Its method.
        url: Its address.
        site: The address of the page that sends it.
        kind: Its content type.
        body: Its body, or None.
    """
    query = [(f"?{name}", value) for name, value in parse_qsl(split_address(url).query)[:FIELDS]]
    fields = [*query, *_fields(kind, body or b"")][:FIELDS]
    return {
        "method": method,
        "path": where(url, site),
        "body": {name: _print(name, text) for name, text in fields},
    }


def _print(name: str, text: str) -> str:
    if says_secret(name.rpartition(".")[2]) or _PASSING.search(name):
        return ""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:3]


def _fields(kind: str, body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the fields of a body; for an unknown form, all of it as one field without a name."""
    if not body:
        return
    whole = [("", f"{len(body)} {body[:LARGEST].decode('latin-1')}")]
    if len(body) > LARGEST:
        yield from whole
        return
    try:
        if "json" in kind or body[:1] in b"{[":
            yield from _inside("", json.loads(body), 3)
        elif "urlencoded" in kind:
            yield from parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=1000)
        elif "multipart" in kind:
            yield from _parts(kind, body)
        else:
            yield from whole
    except (ValueError, RecursionError):
        yield from whole


def _inside(name: str, value: Any, deep: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and deep:
        for key, one in list(value.items())[:FIELDS]:
            yield from _inside(f"{name}.{key}" if name else str(key), one, deep - 1)
    else:
        yield name, json.dumps(value, sort_keys=True)


def _parts(kind: str, body: bytes) -> Iterator[tuple[str, str]]:
    parser = email.parser.BytesParser(policy=email.policy.HTTP)
    message = parser.parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    if not message.is_multipart():
        raise ValueError("no parts")
    for part in list(message.iter_parts())[:FIELDS]:
        name = str(part.get_param("name", header="content-disposition") or "")
        content = part.get_payload(decode=True)
        yield name, content.decode("latin-1") if isinstance(content, bytes) else ""


def other(now: Written, then: Sequence[Written], *, whole: bool) -> str:
    """Return the reason that a request is not one of those of good runs, or "".

    Args:
        now: The request.
        then: The requests of good runs.
        whole: True to compare the whole path and body, except values that differ from run to run. False to compare the
            path without numbers, and the fields that name the operation.
    """
    of_method = [one for one in then if one["method"] == now["method"]]
    if not of_method:
        return f"it sends {now['method']} {now['path']}, and good runs {_shown(then)}"
    path = str if whole else plain
    of_path = [one for one in of_method if path(str(one["path"])) == path(str(now["path"]))]
    if not of_path:
        return f"it sends {now['method']} {now['path']}, and good runs {_shown(then)}"
    reasons = [_another(now["body"], one["body"], of_path, whole=whole) for one in of_path]
    return "" if "" in reasons else f"it sends {now['method']} {now['path']} with {reasons[0]}"


def _another(
    mine: Mapping[str, str], its: Mapping[str, str], all_runs: Sequence[Written], *, whole: bool
) -> str:
    for name in sorted(set(mine) | set(its)):
        if _PASSING.search(name) or not (whole or _ACTING.search(name.rpartition(".")[2])):
            continue
        if name not in mine or name not in its:
            return f"{'a' if name in mine else 'no'} field {name!r}"
        varies = len({one["body"].get(name) for one in all_runs}) > 1
        if not varies and mine[name] != its[name]:
            return f"another value of {name!r}" if name else "another body"
    return ""


def _shown(then: Sequence[Written]) -> str:
    return ", ".join(dict.fromkeys(f"{one['method']} {one['path']}" for one in then)) or "none"
