"""A fleet's outcomes as JUnit XML for CI, and as an HTML page for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from reenact.analysis.pages.blocks import Bar, Fold, Grid, Section, StaticPage, Styled, table
from reenact.analysis.pages.html import page_html
from reenact.analysis.views.text import cut, seconds
from reenact.analysis.views.verification import FailuresView, Outcome, VerificationView
from reenact.run.output import ESCAPE

_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def junit(found: VerificationView) -> bytes:
    """Return JUnit XML with a test case for each recording."""
    bad = [failures.status.ran for failures in found.failures for _ in failures.outcomes]
    root = ET.Element(
        "testsuite",
        name="reenact verify",
        tests=str(len(found.outcomes)),
        failures=str(bad.count(True)),
        errors=str(bad.count(False)),
        time=f"{found.seconds:.3f}",
    )
    for outcome in found.outcomes:
        case = ET.SubElement(
            root,
            "testcase",
            classname=_clean(outcome.name or "recording"),
            name=_clean(outcome.recording),
            time=f"{outcome.seconds:.3f}",
        )
        if not outcome.status.good:
            word = "failure" if outcome.status.ran else "error"
            message = _clean(_said(outcome))
            reason = ET.SubElement(case, word, message=message, type=outcome.status.value)
            reason.text = cut(_clean(outcome.detail)) or message
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data


def page(found: VerificationView, *, title: str = "Recordings against today's code") -> str:
    """Return one self-contained HTML page: what is wrong by cause, then every recording."""
    lead = [Styled(f"{count} {status.value}", status.tone) for status, count in found.counts.items()]
    bar = Bar(tuple((status.tone, count) for status, count in found.counts.items()))
    sections = [Section("All recordings", (bar, _all(found.outcomes)))]
    if groups := tuple(map(_group, found.failures)):
        sections.insert(0, Section("Failures by cause", groups))
    words = tuple(part for one in lead for part in (one, " · "))[:-1] or "no recordings"
    return page_html(StaticPage(title, words, tuple(sections), kind="Replays of many recordings"))


def _group(found: FailuresView) -> Fold:
    status = found.status
    head = (
        Styled(f"{len(found.outcomes)} × {status.value}", status.tone),
        Styled(found.cause, "code"),
    )
    rows = [(Styled(one.recording, "code"), one.name, cut(one.detail)) for one in found.outcomes]
    return Fold(head, (table(("recording", "name", "detail"), rows),))


def _all(outcomes: Sequence[Outcome]) -> Grid:
    rows = [
        (
            Styled(one.recording, "code"),
            one.name,
            Styled(one.status.value, one.status.tone),
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
    """Return a text without colours of a terminal and characters that XML cannot hold."""
    return _UNFIT.sub("", ESCAPE.sub("", text))
