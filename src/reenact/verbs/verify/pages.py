"""A fleet's outcomes for others to read: JUnit XML for CI, one HTML page for people."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from reenact.verbs.verify.outcome import GOOD, Outcome, Status, grouped

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #cf222e; --odd: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --bad: #ff7b72; --odd: #d29922; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; }
code { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: .3rem 0; }
.same, .fixed { color: var(--good); } .diverged, .broken { color: var(--bad); } .could { color: var(--odd); }
.bar { display: flex; height: .6rem; border-radius: .3rem; overflow: hidden; margin: 1rem 0; }
.bar i { background: currentColor; }
"""


_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_UNRUN = (Status.UNABLE, Status.REFUSED)


def junit(outcomes: Sequence[Outcome], *, suite: str = "reenact verify") -> bytes:
    """JUnit XML: a test case for each recording."""
    bad = [outcome for outcome in outcomes if outcome.status not in GOOD]
    unable = [outcome for outcome in bad if outcome.status in _UNRUN]
    root = ET.Element(
        "testsuite",
        name=suite,
        tests=str(len(outcomes)),
        failures=str(len(bad) - len(unable)),
        errors=str(len(unable)),
        time=f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    )
    for outcome in outcomes:
        case = ET.SubElement(
            root,
            "testcase",
            classname=_clean(outcome.name or "recording"),
            name=_clean(outcome.id or outcome.ref),
            time=f"{outcome.seconds:.3f}",
        )
        if outcome.status not in GOOD:
            word = "error" if outcome.status in _UNRUN else "failure"
            found = ET.SubElement(case, word, message=_clean(_said(outcome)), type=outcome.status.value)
            found.text = _clean(outcome.detail)
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data


def page(outcomes: Sequence[Outcome], *, title: str = "Recordings against today's code") -> str:
    """One self-contained HTML page: what is wrong by cause, then every recording."""
    counts = Counter(outcome.status for outcome in outcomes)
    shown = [status for status in Status if counts[status]]
    bar = "".join(f'<i class="{_class(status)}" style="flex:{counts[status]}"></i>' for status in shown)
    said = ", ".join(f'<b class="{_class(s)}">{counts[s]} {s.value}</b>' for s in shown) or "no recordings"
    groups = "".join(_group(*group) for group in grouped(outcomes))
    rows = "".join(_row(outcome) for outcome in outcomes)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        # Whatever a recording holds, a page of it runs nothing and fetches nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{_safe(title)}</title><style>{_STYLE}</style>"
        f'<h1>{_safe(title)}</h1><p>{said}</p><div class="bar">{bar}</div>'
        + (f"<h2>What is wrong, by cause</h2>{groups}" if groups else "")
        + "<h2>All recordings</h2><table><tr><th>recording<th>name<th>outcome<th>step<th>seconds</tr>"
        f"{rows}</table></html>\n"
    )


def _group(status: Status, cause: str, members: list[Outcome]) -> str:
    items = "".join(
        f"<li><code>{_safe(o.id or o.ref)}</code> {_safe(o.name)}<br>{_safe(o.detail)}</li>" for o in members
    )
    head = f'<b class="{_class(status)}">{len(members)} × {status.value}</b> <code>{_safe(cause)}</code>'
    return f"<details><summary>{head}</summary><ul>{items}</ul></details>"


def _row(outcome: Outcome) -> str:
    step = "" if outcome.step is None else str(outcome.step)
    return (
        f"<tr><td><code>{_safe(outcome.id or outcome.ref)}</code><td>{_safe(outcome.name)}"
        f'<td class="{_class(outcome.status)}">{outcome.status.value}<td>{step}<td>{outcome.seconds:.2f}</tr>'
    )


def _said(outcome: Outcome) -> str:
    where = f" at step {outcome.step}" if outcome.step is not None else ""
    return f"{outcome.status.value}{where}: {outcome.cause}"


def _class(status: Status) -> str:
    return status.value.partition(" ")[0]


def _safe(text: str) -> str:
    return html.escape(_clean(text))


def _clean(text: str) -> str:
    """Without what XML cannot hold, and without control characters."""
    return _UNFIT.sub("", text)
