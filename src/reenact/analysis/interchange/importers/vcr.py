"""Import vcrpy's cassettes: each becomes one recording of HTTP exchanges.

A program that uses HTTP itself, or through a provider's library, then replays from the recording. A cassette has no
times but the servers' own, no chunks, and no facts about the program. Bodies that were kept as parsed JSON are written
again: equal in content, not byte for byte. The recording's notes say so.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson

from reenact.adapters.http import coding, exchange
from reenact.analysis.interchange.importers.run import Happened, ImportedRun
from reenact.core.dataclass import dataclass
from reenact.core.extras import needing
from reenact.core.model.event import Tree
from reenact.errors import NotARecording

_LISTS = ("interactions", "http_interactions")
_MOST = 50_000_000
_DEPTH = 200
_DIGITS = 1000
_Headers = list[tuple[str, str]]


def is_cassette(document: Any) -> bool:
    """Return whether the value is a cassette: an object with a list of interactions."""
    return isinstance(document, dict) and any(isinstance(document.get(name), list) for name in _LISTS)


def loads(data: bytes, path: Path) -> Tree:
    """Return a YAML file's content. Nothing in it is executed. Raises NotARecording."""
    # Imported here, as only cassettes need it.
    with needing("cassettes", "a cassette in YAML"):
        yaml = import_module("yaml")
    try:
        document = yaml.load(data, _loader(yaml))
        if _expanded(document) > _MOST:
            raise ValueError(f"its aliases stand for more than {_MOST:,} values, the limit here")
        return document
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or " ".join(str(error).split()) or type(error).__name__
        raise NotARecording(f"{path}{place}: this YAML cannot be read ({problem})") from None


def _loader(yaml: Any) -> Any:
    """Return the safe loader, with a limit of depth and without merge keys.

    The loader in C ends the process on a document that is very deep. Nested merge keys grow exponentially; cassettes
    have none.
    """
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        depth = 0

        def descend_resolver(self, *_: Any) -> None:
            self.depth += 1
            if self.depth > _DEPTH:
                raise ValueError(f"more than {_DEPTH} levels deep")

        def ascend_resolver(self) -> None:
            self.depth -= 1

        def flatten_mapping(self, _: Any) -> None:
            pass

        def number(self, node: Any) -> Any:
            if len(node.value) > _DIGITS:
                raise ValueError(f"a number of more than {_DIGITS} digits")
            kind = node.tag.rpartition(":")[2]
            return getattr(self, f"construct_yaml_{kind}")(node)

    for kind in ("int", "float"):
        Loader.add_constructor(f"tag:yaml.org,2002:{kind}", Loader.number)
    return Loader


def _expanded(document: Any) -> int:
    """Count the values of a document, those of an alias at each of its uses.

    Raises ValueError for one that contains itself.
    """
    sizes: dict[int, int] = {}
    waiting = [document]
    open_ = set()
    while waiting:
        value = waiting[-1]
        within = list(_items(value))
        if id(value) not in open_ and id(value) not in sizes:
            open_.add(id(value))
            new = [item for item in within if isinstance(item, (dict, list)) and id(item) not in sizes]
            if any(id(item) in open_ for item in new):
                raise ValueError("an alias refers to itself")
            waiting += new
            continue
        waiting.pop()
        open_.discard(id(value))
        sizes[id(value)] = 1 + sum(sizes.get(id(item), 1 + _length(item)) for item in within)
    return sizes.get(id(document), 1)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else ()


def _length(value: Any) -> int:
    # A text counts as one value for every 64 characters.
    return len(value) // 64 if isinstance(value, (str, bytes)) else 0


@dataclass(slots=True)
class _Lost:
    """Counts of parts that a cassette lacks, for the recording's notes."""

    parsed: list[int] = field(default_factory=list)
    bare: list[int] = field(default_factory=list)


def cassette(document: dict[str, Any], path: Path) -> ImportedRun:
    """Return the run of a cassette. Raises NotARecording without HTTP exchanges, or for damage."""
    items = next(document[name] for name in _LISTS if isinstance(document.get(name), list))
    if not items:
        raise NotARecording(f"{path} is an empty cassette: it holds no exchange")
    if all(isinstance(item, dict) and "request" not in item and "direction" in item for item in items):
        raise NotARecording(
            f"{path} is a cassette of websocket messages; only HTTP exchanges can be imported"
        )
    lost = _Lost()
    effects = [_exchange(item, number, path, lost) for number, item in enumerate(items, 1)]
    source: dict[str, Any] = {"format": "vcr", "file": str(path)}
    if "version" in document:
        source["version"] = document["version"]
    return ImportedRun(name=path.stem, effects=effects, source=source, notes=tuple(_notes(lost)))


def _notes(lost: _Lost) -> Iterator[str]:
    if lost.parsed:
        yield (
            f"the cassette kept bodies as parsed JSON (step {_some(lost.parsed)}): they were written anew, equal in "
            "content and not byte for byte"
        )
    if lost.bare:
        yield (
            f"the cassette kept no request headers (step {_some(lost.bare)}): a replay needs "
            "ignore=['http:* args.headers']"
        )


def _some(steps: list[int]) -> str:
    return ", ".join(map(str, steps[:5])) + (f" and {len(steps) - 5} more" if len(steps) > 5 else "")


def _exchange(item: Any, number: int, path: Path, lost: _Lost) -> Happened:
    try:
        request, response = item["request"], item["response"]
        asked = _headers(request.get("headers"))
        sent, again = _body(request)
        effect = exchange.effect(
            str(request["method"]).upper(),
            str(request.get("uri") or request["url"]),
            asked,
            exchange.Body(sent),
        )
        head, body, written = _answer(response)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise NotARecording(
            f"{path}, interaction {number}: it is no exchange that vcrpy writes ({type(error).__name__}: {error})"
        ) from None
    if again or written:
        lost.parsed.append(number)
    if not asked:
        lost.bare.append(number)
    when = _date(head["headers"])
    return Happened(
        effect.kind, effect.name, dict(effect.args), head, pieces=_pieces(body), began=when, ended=when
    )


def _pieces(body: Any) -> tuple[Any, ...]:
    return (body,) if body else ()


def _answer(response: dict[str, Any]) -> tuple[dict[str, Any], Any, bool]:
    """Return a response's head and body as an adapter records them, and if the body was rebuilt."""
    status = response.get("status")
    if isinstance(status, dict):
        code, reason = status["code"], status.get("message")
    else:
        # The form in which vcrpy wrote httpx's responses for some time.
        code, reason = response.get("status_code", status), response.get("reason_phrase")
    version = str(response.get("http_version") or response.get("protocol") or "HTTP/1.1")
    head = exchange.head(
        int(code), None if reason is None else str(reason), version, _headers(response.get("headers"))
    )
    data, anew = _body(response)
    wire = coding.Coding()
    marked, body = wire.dump(head), wire.dump(data)
    if isinstance(body, dict) and not _is_compressed(data):
        # Kept decompressed with an unchanged header: vcrpy and other writers decode some answers.
        body = data
    return marked, body, anew


def _is_compressed(data: bytes) -> bool:
    return data[:2] == b"\x1f\x8b" or data[:4] == b"\x28\xb5\x2f\xfd"


def _body(message: dict[str, Any]) -> tuple[bytes, bool]:
    """Return the bytes of a body, and whether they are JSON that was rebuilt."""
    if "parsed_body" in message:
        parsed = message["parsed_body"]
        return (b"", False) if parsed is None else (_json(parsed), True)
    body = message.get("body", message.get("content"))
    if isinstance(body, dict):
        if body.get("base64_string") is not None:
            return base64.b64decode(body["base64_string"]), False
        if "string" not in body:
            return (_json(body), True) if body else (b"", False)
        body = body["string"]
    if body is None:
        return b"", False
    if isinstance(body, bytes):
        return body, False
    if isinstance(body, str):
        return body.encode("utf-8", "surrogateescape"), False
    return _json(body), True


def _json(value: Any) -> bytes:
    # As providers' libraries write JSON: compact, in the order of the cassette.
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)


def _headers(given: Any) -> _Headers:
    pairs: Iterable[tuple[Any, Any]]
    if given is None:
        return []
    pairs = given.items() if isinstance(given, dict) else [(pair[0], pair[1]) for pair in given]
    found: _Headers = []
    for key, value in pairs:
        for one in value if isinstance(value, (list, tuple)) else [value]:
            found.append((exchange.text(key), exchange.text(one)))
    return found


def _date(headers: list[list[str]]) -> datetime | None:
    """Return the time in the response's `Date` header, the only clock in a cassette."""
    text = next((value for key, value in headers if key.lower() == "date"), None)
    if text is None:
        return None
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)
