"""A fleet's outcomes for others to read: JUnit XML for CI, one HTML page for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from reenact.analysis.pages.blocks import Bar, Fold, Grid, Section, StaticPage, Style, Styled, table
from reenact.analysis.pages.html import page_html
from reenact.analysis.views.text import cut, seconds
from reenact.verbs.verify.outcome import GOOD, Outcome, Status, grouped

_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_STYLES: dict[Status, Style] = {
    Status.SAME: "good", Status.FIXED: "live", Status.DIVERGED: "bad", Status.BROKEN: "bad", Status.UNABLE: "warn",
    Status.REFUSED: "quiet",
}  # fmt: skip
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
    """Return one self-contained HTML page: what is wrong by cause, then every recording."""
    counts = Counter(outcome.status for outcome in outcomes)
    shown = [status for status in Status if counts[status]]
    lead = [Styled(f"{counts[status]} {status.value}", _STYLES[status]) for status in shown]
    sections = [
        Section(
            "All recordings",
            (Bar(tuple((_STYLES[status], counts[status]) for status in shown)), _all(outcomes)),
        )
    ]
    if groups := tuple(_group(*group) for group in grouped(outcomes)):
        sections.insert(0, Section("Failures by cause", groups))
    words = tuple(part for one in lead for part in (one, " · "))[:-1] or "no recordings"
    return page_html(StaticPage(title, words, tuple(sections), kind="Replays of many recordings"))


def _group(status: Status, cause: str, members: list[Outcome]) -> Fold:
    head = (Styled(f"{len(members)} × {status.value}", _STYLES[status]), Styled(cause, "code"))
    rows = [(Styled(one.id or one.ref, "code"), one.name, cut(one.detail)) for one in members]
    return Fold(head, (table(("recording", "name", "detail"), rows),))


def _all(outcomes: Sequence[Outcome]) -> Grid:
    rows = [
        (
            Styled(one.id or one.ref, "code"),
            one.name,
            Styled(one.status.value, _STYLES[one.status]),
            "" if one.step is None else str(one.step),
            seconds(one.seconds),
        )
        for one in outcomes
    ]
    return table(("recording", "name", "outcome", "step", "time"), rows)


def _said(outcome: Outcome) -> str:
    where = f" at step {outcome.step}" if outcome.step is not None else ""
    return f"{outcome.status.value}{where}: {outcome.cause}"


def _clean(text: str) -> str:
    """Without what XML cannot hold, and without control characters."""
    return _UNFIT.sub("", text)
