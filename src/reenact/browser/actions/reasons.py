"""The reasons of failed actions, each in one sentence, from the facts that `why` finds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from reenact.browser.page.likeness import alike

SHORT = 60
"""Most characters of a selector that a sentence proposes, if there is another one."""

YOUNG = 60.0
"""Seconds after which a page is expected to have shown its pop-ups."""

_LATE = re.compile(
    r"pop-?up|modal|dialog|overlay|banner|cookie|consent|toast|close|dismiss|newsletter|interstitial|no.?thanks",
    re.IGNORECASE,
)
"""Elements that pages show some time after loading, and the words of their buttons."""

_POINTED = {"click", "check", "download_file", "drag", "drop", "expand"}
_FILLED = {"fill", "fallback_fill", "form_fill"}
_DONE = {
    "click": "clicked", "fill": "filled", "fallback_fill": "filled", "form_fill": "filled", "check": "ticked",
    "select_dropdown_option": "chosen from", "upload_file": "given a file", "download_file": "clicked",
    "drag": "dragged", "drop": "dropped on", "expand": "opened",
}  # fmt: skip
_NET = {
    "ERR_CONNECTION_REFUSED": "nothing listens there: check the port, and that the server runs",
    "ERR_NAME_NOT_RESOLVED": "no such host is known: check the spelling, and the network",
    "ERR_INTERNET_DISCONNECTED": "this machine is offline",
    "ERR_CONNECTION_TIMED_OUT": "it did not answer in time: check the address, and any proxy",
    "ERR_CONNECTION_RESET": "the server closed the connection: try again, and look at the server's log",
    "ERR_CONNECTION_CLOSED": "the server closed the connection: try again, and look at the server's log",
    "ERR_EMPTY_RESPONSE": "the server closed the connection without an answer: look at its log",
    "ERR_TOO_MANY_REDIRECTS": "it redirects in a circle: clear the session's cookies, or look at the server",
    "ERR_ADDRESS_UNREACHABLE": "there is no way to that address: check it, and the network",
    "ERR_ABORTED": "the browser did not go there: it is a download (use download_file), or went elsewhere first",
    "ERR_UNSAFE_PORT": "browsers refuse that port: use another",
    "ERR_INVALID_URL": "it is no address: write it whole, as in https://example.com/",
    "ERR_CERT": "its certificate is not trusted: use the right host name, or a browser that trusts it",
    "ERR_SSL": "it does not speak TLS there: try http://",
    "ERR_FILE_NOT_FOUND": "there is no such file",
    "ERR_PROXY": "the proxy does not answer: check its address",
    "ERR_TUNNEL": "the proxy does not let it through",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason: a word for programs, a sentence for people, and further facts."""

    word: str
    sentence: str
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FailedAction:
    """A failed action: the action, its element's name, the error, and the address."""

    action: Mapping[str, Any]
    name: str | None
    error: str
    url: str

    @property
    def type(self) -> str:
        return str(self.action.get("type", "action"))

    def saying(self, text: str) -> FailedAction:
        return replace(self, error=text)

    def the(self, described: str) -> str:
        return f"The {described}" + (f" ({self.name})" if self.name else "")


def of_error(failed: FailedAction, *, closed: bool) -> Reason | None:
    """Return a reason that the error itself names: closed tab, bad address, missing file."""
    text = failed.error
    if "crashed" in text.lower():
        return Reason("crashed", f"The tab at {failed.url} crashed; open the page again in a new tab.", {})
    if closed or "has been closed" in text:
        return Reason(
            "closed",
            f"The tab was closed before the {failed.type} was done; open it again, or switch to another.",
            {},
        )
    net = re.search(r"net::(ERR_\w+)", text)
    if net and failed.type in {"goto", "goto_new_tab", "reload", "go_back", "go_forward"}:
        said = next((words for key, words in _NET.items() if net[1].startswith(key)), "check the address")
        url = failed.action.get("url") or failed.url
        return Reason(
            "unreachable", f"{url} could not be opened ({net[1]}): {said}.", {"net": net[1], "url": url}
        )
    if "invalid URL" in text or "Cannot navigate to invalid" in text:
        url = failed.action.get("url")
        return Reason(
            "unreachable", f"{url!r} is no address: write it whole, as in https://example.com/.", {"url": url}
        )
    missing = re.search(r"ENOENT.*?'([^']+)'|No such file or directory: '([^']+)'", text)
    if missing:
        path = missing[1] or missing[2]
        return Reason(
            "no file",
            f"There is no file {path}; check the path, which is taken from the program's folder.",
            {"path": path},
        )
    return None


def silent(failed: FailedAction) -> Reason:
    """Return the reason that the page does not answer."""
    return Reason(
        "silent",
        f"The page {failed.url} does not answer: a dialog waits for an answer, or a script of the page is busy; "
        "answer the dialog, or reload the page.",
        {},
    )


def loading(failed: FailedAction, state: Mapping[str, Any], facts: dict[str, Any]) -> Reason | None:
    """Return the reason that the page has not finished loading, or None."""
    if state.get("ready") == "complete":
        return None
    return Reason(
        "loading",
        f"The page {failed.url} has not finished loading; wait longer, or wait for what is needed of it.",
        facts,
    )


def missing(failed: FailedAction, state: Mapping[str, Any], facts: dict[str, Any]) -> Reason:
    """Return the reason of no match: an empty or loading page, or the closest candidates."""
    name = failed.name or "the selector"
    if state.get("empty"):
        return Reason(
            "empty",
            f"No element matches {name}: the page {failed.url} is empty; open an address first.",
            facts,
        )
    if state.get("ready") != "complete":
        return Reason(
            "loading",
            f"No element matches {name} yet: the page {failed.url} has not finished loading; "
            "wait longer, or give a longer timeout.",
            facts,
        )
    best = facts.get("candidates") or []
    if not best:
        words = f"no element there resembles it; {_may_come(name, state)}"
        return Reason("missing", f"No element matches {name} on {failed.url}: {words}.", facts)
    first = best[0]
    hidden = "" if first["visible"] else ", which is hidden"
    words = f"the closest is the {first['described']}{hidden}"
    words += f", and {first['other']}" if first.get("other") else f"; try {first['selector']}"
    return Reason("missing", f"No element matches {name} on {failed.url}: {words}.", facts)


def _may_come(name: str, state: Mapping[str, Any]) -> str:
    """Return the advice if nothing is similar: wait for a pop-up on a young page, or observe."""
    age = state.get("age")
    if isinstance(age, (int, float)) and age <= YOUNG and _LATE.search(name):
        return f"the page is {age:.1f} s old, and it may still come: wait for it, or go on without it"
    return "observe the page to list its elements"


def several(failed: FailedAction, facts: dict[str, Any]) -> Reason:
    """Return the reason of several matches."""
    count, elements = facts["matches"], facts["elements"]
    names = [one["described"] for one in elements]
    rest = count - len(names)
    listed = ", ".join(names) + (f" and {rest} more" if rest else "")
    shown = [one for one in elements if one["visible"]]
    at = elements.index(shown[0]) if shown else 0
    best = elements[at]["selector"] if elements else ""
    if not best or len(best) > SHORT:
        name = failed.name or ""
        best = f"{name}.nth({at})" if name.endswith(")") else f"{name.replace('~', 'text=', 1)} >> nth={at}"
    return Reason(
        "several",
        f"{count} elements match {failed.name}, and it is not said which: {listed}; name one, as in {best}.",
        facts,
    )


def of_element(failed: FailedAction, probe: Mapping[str, Any], facts: dict[str, Any]) -> Reason | None:
    """Return the reason found in the one element that matches, or None."""
    the = failed.the(probe["described"])
    for word, said in (
        ("detached", _detached(failed, probe)),
        ("hidden", _hidden(failed, probe)),
        ("disabled", _disabled(probe)),
        ("kind", _kind(failed, probe)),
        ("read-only", _readonly(failed, probe)),
        ("option", _option(failed, probe)),
        ("value", _value(failed, probe)),
        ("outside", _outside(probe)),
        ("no clicks", _unclickable(failed, probe)),
        ("covered", _covered(failed, probe)),
        ("moving", _moving(failed, probe)),
    ):
        if said:
            where = f", in the frame {' > '.join(facts['frame'])}," if facts.get("frame") else ""
            return Reason(word, f"{the}{where} {said}.", facts)
    return None


def _detached(failed: FailedAction, probe: Mapping[str, Any]) -> str | None:
    if probe["attached"] and not re.search(r"not attached|was detached", failed.error):
        return None
    return (
        "was taken off the page while it was acted on: the page draws itself anew; "
        "wait until it rests, then try again"
    )


def _hidden(failed: FailedAction, probe: Mapping[str, Any]) -> str | None:
    hidden = probe["hidden"]
    if hidden is None or failed.type == "upload_file":
        return None
    if hidden["by"] and hidden["how"] == "closed":
        return f"is hidden in the {hidden['by']}, which is closed; open it first"
    if hidden["by"]:
        return f"is hidden by the {hidden['by']} around it ({hidden['how']}); make that appear first"
    if hidden["how"] in {"no size", "no box"}:
        of = (
            f"; try its label {probe['label']!r}"
            if probe["label"] and failed.type in _POINTED
            else "; try what it holds, or what opens it"
        )
        return "takes no space on the page, so that nothing of it can be seen" + of
    return f"is there and not shown ({hidden['how']}); do first what makes it appear"


def _disabled(probe: Mapping[str, Any]) -> str | None:
    if probe["disabled"] is None:
        return None
    if probe["disabled"] == "itself":
        return "is disabled; fill or choose first what the page asks for"
    return f"is disabled with the {probe['disabled']} around it; fill or choose first what the page asks for"


def _tag(probe: Mapping[str, Any]) -> str:
    article = "an" if probe["tag"][0] in "aeiou" else "a"
    return f"{article} {probe['tag']}" + (f" of type {probe['type']}" if probe["type"] else "")


def _kind(failed: FailedAction, probe: Mapping[str, Any]) -> str | None:
    tag = _tag(probe)
    if failed.type in _FILLED and not probe["editable"]:
        if probe["tag"] == "select":
            return "is a drop-down list, which cannot be filled; use select_dropdown_option"
        if probe["checkable"]:
            return "is a box to tick, which cannot be filled; use check"
        if probe["type"] == "file":
            return "takes a file, and cannot be filled; use upload_file"
        return f"is {tag}, which cannot be filled; name the field itself"
    if failed.type == "check" and not probe["checkable"]:
        return f"is {tag}, which cannot be ticked; name the box itself, or use click"
    if (
        failed.type == "select_dropdown_option"
        and probe["tag"] != "select"
        and probe["role"] not in {"listbox", "combobox"}
    ):
        return f"is {tag}, no drop-down list; name the list itself, or use click"
    if failed.type == "upload_file" and probe["type"] != "file" and "file" in failed.error.lower():
        return f"is {tag}, which takes no file; name the input of type file"
    return None


def _readonly(failed: FailedAction, probe: Mapping[str, Any]) -> str | None:
    if failed.type in _FILLED and probe["readonly"]:
        return "is read-only; it is filled by something else on the page, as a date's picker or a search"
    return None


def _option(failed: FailedAction, probe: Mapping[str, Any]) -> str | None:
    options = probe["options"]
    wanted = failed.action.get("value")
    if failed.type != "select_dropdown_option" or options is None or wanted is None:
        return None
    for label, value, off in options:
        if wanted in {label, value}:
            return f'has the option "{wanted}", but it is disabled; choose another' if off else None
    if not options:
        return f'has no option "{wanted}", nor any other yet; wait until the page has filled it'
    if probe["options_count"] > len(options):
        return None
    best = sorted(options, key=lambda one: -max(alike(str(wanted), one[0]), alike(str(wanted), one[1])))
    names = ", ".join(f'"{label or value}"' for label, value, _ in best[:3])
    rest = len(options) - 3
    more = f" and {rest} more" if rest > 0 else ""
    return f'has no option "{wanted}"; it has {names}{more}'


def _value(failed: FailedAction, probe: Mapping[str, Any]) -> str | None:
    if failed.type in _FILLED and re.search(r"Cannot type text|Malformed value|non-number", failed.error):
        shape = {"number": "a number", "date": "a date as 2026-01-31", "time": "a time as 13:45",
                 "month": "a month as 2026-01", "week": "a week as 2026-W05",
                 "datetime-local": "a time as 2026-01-31T13:45",
                 "color": "a colour as #ff0000"}  # fmt: skip
        return f"takes {shape.get(probe['type'], 'another kind of value')}, and nothing else"
    return None


def _outside(probe: Mapping[str, Any]) -> str | None:
    if probe["in_viewport"] or probe["scrollable"]:
        return None
    x, y = (round(number) for number in probe["box"][:2])
    return (
        f"lies outside of what can be scrolled to (at {x}, {y}); "
        "do first what brings it in, or make the window larger"
    )


def _covered(failed: FailedAction, probe: Mapping[str, Any]) -> str | None:
    if failed.type not in _POINTED:
        return None
    cover = probe["covered"]
    if cover is None:
        logged = re.search(r"<(\w+)([^>]*)>.*? intercepts pointer events", failed.error)
        if not logged or not re.search(r"intercepts pointer events", failed.error):
            return None
        mark = re.search(r'id="([^"]+)"', logged[2]) or re.search(r'class="([^" ]+)', logged[2])
        by = logged[1] + (("#" if "id=" in mark[0] else ".") + mark[1] if mark else "")
        return f"was covered by {by} when it was to be {_DONE[failed.type]}; wait until that is gone, or close it first"
    if cover["exit"]:
        return f"is covered by the {cover['by']}; click the {cover['exit']} there first"
    return f"is covered by the {cover['by']}; close that first, or wait until it is gone"


def _unclickable(failed: FailedAction, probe: Mapping[str, Any]) -> str | None:
    if failed.type in _POINTED and probe["unclickable"]:
        return "lets clicks through (pointer-events: none); click what lies under it, or wait until the page allows it"
    return None


def _moving(failed: FailedAction, probe: Mapping[str, Any]) -> str | None:
    if probe["moving"] or "element is not stable" in failed.error.splitlines()[-1:]:
        return "keeps moving, and is acted on only at rest; wait until its animation ends, or turn animations off"
    return None


def unknown(failed: FailedAction, facts: dict[str, Any] | None, *, late: bool = False) -> Reason:
    """Return the last possible reason: the element came late, or nothing but the error is known."""
    facts = facts or {}
    probe = facts.get("element")
    line = next((line.strip() for line in failed.error.splitlines() if line.strip()), "")
    if probe and late:
        return Reason(
            "late",
            f"{failed.the(probe['described'])} is there now, and was not in time; "
            "give a longer timeout, or wait for it.",
            facts,
        )
    if probe:
        said = f": {line}" if line else ""
        return Reason(
            "unknown",
            f"{failed.the(probe['described'])} is there, shown and enabled, "
            f"and the {failed.type} failed all the same{said}; try again.",
            facts,
        )
    return Reason(
        "unknown", f"The {failed.type} failed on {failed.url}" + (f": {line}." if line else "."), facts
    )
