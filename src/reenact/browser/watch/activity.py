"""Gather the events beside the actions: network, console, dialogs, downloads, trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reenact.browser.camera.footage import Footage, FootageEntry
from reenact.browser.video.facts import card
from reenact.browser.watch.budget import Budget
from reenact.core.model.plain import compact
from reenact.errors import RecordingError

NETWORK = ("request", "response", "failed")
TOLD = ("console", "error", "dialog", "download", "chooser", "crash")
_ADDRESS = 2000
_BODY = 6000
_TREE = 60_000
_LINE = 4000

Row = dict[str, Any]


def network(entries: Iterable[FootageEntry], footage: Footage, budget: Budget) -> list[Row]:
    """Return the requests in order of sending, each with its answer."""
    rows: dict[Any, Row] = {}
    for entry in entries:
        row = rows.setdefault(entry["id"], {"t": entry.t, "method": "", "url": "", "end": None})
        if entry.event == "request":
            row |= {
                "t": entry.t,
                "tab": entry["tab"],
                "method": str(entry["method"] or ""),
                "url": budget.text(str(entry["url"] or ""), _ADDRESS),
                "type": str(entry["resource"] or ""),
                "asked": _headers(entry["headers"], budget),
                "post": budget.text(_text(entry["post"], footage), _BODY),
            }
        elif entry.event == "response":
            row |= {
                "end": entry.t,
                "status": entry["status"],
                "size": entry["size"],
                "ms": entry["ms"],
                "answered": _headers(entry["headers"], budget),
                "body": budget.text(_body(entry, footage), _BODY),
            }
        else:
            row |= {"end": entry.t, "failed": str(entry["text"] or "failed")}
    return sorted(rows.values(), key=lambda row: row["t"])


def _headers(headers: Any, budget: Budget) -> str:
    pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    return budget.text("\n".join(f"{name}: {value}" for name, value in pairs), _LINE)


def _body(entry: FootageEntry, footage: Footage) -> str:
    if not entry["body"]:
        return ""
    data = _bytes(footage, str(entry["body"]))
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return text
    kind = dict(entry["headers"] or {}).get("content-type") or "no text"
    return f"{len(data):,} bytes, {kind}"


def _text(value: Any, footage: Footage) -> str:
    """Return a text, or the content at its address."""
    if isinstance(value, str) and value.startswith("sha256:"):
        return _bytes(footage, value).decode("utf-8", "replace")
    return "" if value is None else compact(value)


def _bytes(footage: Footage, address: str) -> bytes:
    try:
        return footage.blob(address)
    except RecordingError as error:
        return f"({error})".encode()


def lines(entries: Iterable[FootageEntry], budget: Budget) -> list[Row]:
    """Return the console lines and the events without pixels, in order."""
    return [_line(entry, budget) for entry in entries]


def _line(entry: FootageEntry, budget: Budget) -> Row:
    # An event that a user would have seen outside of the page is shown on the screen for a moment.
    beside = card(entry)
    said = (
        str(entry["text"] or "") if beside is None else ": ".join(filter(None, (beside.title, beside.text)))
    )
    return {
        "t": entry.t,
        "level": str(entry["level"] or entry.event),
        "text": budget.text(said, _LINE),
        "where": f"{entry['url']}:{entry['row']}" if entry["url"] and entry["row"] is not None else "",
        "card": beside is not None,
    }


def trees(
    entries: Iterable[FootageEntry], footage: Footage, budget: Budget
) -> tuple[list[list[float]], list[str]]:
    """Return the times at which accessibility trees were read, and the trees, each once."""
    places: dict[str, int] = {}
    texts: list[str] = []
    when: list[list[float]] = []
    for entry in entries:
        address = str(entry["blob"])
        if address not in places:
            places[address] = len(texts)
            texts.append(budget.text(_bytes(footage, address).decode("utf-8", "replace"), _TREE))
        when.append([entry.t, places[address]])
    return when, texts
