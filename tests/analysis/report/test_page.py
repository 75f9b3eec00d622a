"""The page for a stranger, as HTML and as Markdown: whole, escaped, without secrets."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import reenact
from reenact.analysis.anomalies import Anomaly
from reenact.analysis.pages.blocks import (
    Bar,
    CardBlock,
    Fold,
    Grid,
    LaneChart,
    Note,
    Section,
    Speech,
    StaticPage,
    StepLine,
    Styled,
    Versus,
    code,
    facts,
    redacted,
    table,
    text,
    versus,
)
from reenact.analysis.pages.html import page_html
from reenact.analysis.pages.markdown import markdown
from reenact.analysis.report import sections
from reenact.analysis.report.story import MOST, page
from reenact.analysis.views.text import cut
from reenact.core.redact import Redactor

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> ``` \u202egnp \x1b[31m"


class Elements(HTMLParser):
    def __init__(self, markup):
        super().__init__()
        self.tags, self.addresses = [], []
        self.feed(markup)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]


@reenact.tool
def echo(what):
    if what == "fail":
        raise ValueError(EVIL)
    return {"echo": what}


@reenact.tool(kind="model", name="small")
def model(messages):
    return {"role": "assistant", "content": "I said " + messages[-1]["content"]}


@pytest.fixture
def recording(home):
    with reenact.record("support") as made:
        model([{"role": "system", "content": "You help."}, {"role": "user", "content": "Where is my order?"}])
        echo(EVIL)
        with pytest.raises(ValueError, match="alert"):
            echo("fail")
        made.output = "It is lost."
    return reenact.load(made.id)


def test_a_page_says_what_was_asked_what_came_out_and_what_happened(recording):
    for shown in (page_html(page(recording)), markdown(page(recording))):
        for word in (
            "support",
            "You help.",
            "Where is my order?",
            "It is lost.",
            "1 failed",
            "small",
            "Python",
        ):
            assert word in shown
    titles = [section.title for section in page(recording).sections]
    assert titles == ["Question", "Result", "What happened", "Environment"]


def test_the_user_s_question_comes_first_and_the_instructions_are_folded(recording):
    shown = page_html(page(recording))
    assert (
        shown.index("Where is my order?") < shown.index("instructions</summary>") < shown.index("You help.")
    )


def test_nothing_recorded_becomes_markup(recording):
    more = Section(
        EVIL,
        (
            text(EVIL),
            code(EVIL),
            Note(EVIL),
            facts((EVIL, EVIL)),
            table([EVIL], [[EVIL]]),
            versus((EVIL, EVIL)),
            Speech(EVIL, EVIL),
            StepLine(EVIL, EVIL, EVIL, EVIL, EVIL, EVIL, True, (text(EVIL),)),
            Fold((Styled(EVIL, "folded", EVIL), Styled(EVIL, "badge")), (), EVIL),
            CardBlock(Styled(EVIL, "added"), (Note(EVIL, "bad", EVIL),)),
            Bar((("good", 1),)),
        ),
    )
    whole = page(recording, [more])
    shown = page_html(StaticPage(EVIL, EVIL, whole.sections), (EVIL, b"x"))
    assert not {"script", "img"} & set(Elements(shown).tags)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    written = markdown(StaticPage(EVIL, EVIL, whole.sections)).replace("\\`", "")
    quoted = r"(?s)(`{3,})text\n.*?\n\1(?!`)|(`+)(?!`)[^\n]*?(?<!`)\2(?!`)"
    outside = re.sub(quoted, "", written)
    assert "<script" not in outside
    assert "<img" not in outside


def test_a_page_needs_nothing_from_elsewhere(recording):
    shown = page_html(page(recording), ("x.reenact", b"PK..."))
    elements = Elements(shown)
    assert {address.partition(":")[0] for address in elements.addresses if address[0] != "#"} == {"data"}
    assert not {"script", "link", "iframe", "object"} & set(elements.tags)
    assert "url(" not in shown
    assert "@import" not in shown
    assert "prefers-color-scheme: dark" in shown
    data = re.search(r"base64,([^\"]+)", shown)[1]
    assert base64.b64decode(data) == b"PK..."


def test_a_secret_that_comes_from_elsewhere_is_replaced(recording):
    key = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    whole = page(recording, [Section("Attempts", (Note(f"it said {key}"),))])
    shown = page_html(redacted(whole, Redactor(salt=b"salt")))
    assert key not in shown
    assert "(secret)" in shown


def test_a_page_without_secrets_is_the_same_page_after_looking_for_them(recording):
    whole = page(recording)
    assert redacted(whole, Redactor(salt=b"salt")) == whole


CHART = LaneChart(("password", "tool"), ((0, 0.1234, 0.5678, "good", "step 1"),), "1 s")


@pytest.mark.parametrize(
    "block",
    [
        CHART,
        Bar((("good", 123456), ("bad", 1234))),
        Versus((("password", (Styled("1234", "removed"), Styled("567890", "added"))),)),
        Grid(("password", "otp"), (((Styled("1234", "code"), "x"), "567890"),)),
        facts(("password", "1234"), ("otp", "567890")),
        Fold("password", (Fold("otp", (text("1234"), CHART)),), anchor="password", open=True),
        StepLine("1234", "1234", "tool", "password", "pin", "1.2 s", failed=True, inside=(text("1234"),)),
        CardBlock("password", (Speech("otp", (Styled("567890", "strong"), "1234")),)),
    ],
    ids=lambda block: type(block).__name__,
)
def test_a_page_about_secrets_can_be_shown(block):
    """The redactor puts a token in the place of numbers and of whole parts."""
    whole = StaticPage("password", ("1234",), (Section("password", (block, block)),), kind="otp")
    redactor = Redactor(salt=b"salt")
    for name in ("password", "secret"):
        made = redacted(replace(whole, title=name), redactor)
        assert page_html(made)
        assert markdown(made)
        assert type(made.sections[0].blocks[0]) is type(block)


MANY = 2000


@pytest.mark.parametrize(
    "block",
    [
        Grid((), tuple(("password", Styled(f"hunter{n}x", "code"), "12345") for n in range(MANY))),
        facts(*(("password", f"hunter{n}x") for n in range(MANY))),
        Fold("a", tuple(text(f"password=hunter{n}x") for n in range(MANY)), anchor="a"),
        LaneChart(("a",), tuple((0, 0.1234, 0.5678, "good", f"password=hunter{n}x") for n in range(MANY)), "1 s"),
        StepLine("1", "2", "tool", "a", "b", "c", failed=False, inside=(code('{"password": ["' * MANY), CHART)),
    ],
    ids=lambda block: type(block).__name__,
)  # fmt: skip
def test_a_block_with_very_many_secrets_is_hidden_and_leaves_the_others_as_they_are(block):
    whole = StaticPage("t", "l", (Section("s", (block, CHART, text("as it was"))),))
    made = redacted(whole, Redactor(salt=b"salt"))
    assert page_html(made)
    assert markdown(made)
    hidden, *others = made.sections[0].blocks
    assert "hunter" not in str(hidden)
    assert type(hidden) is type(block)
    assert others == [CHART, text("as it was")]


def test_a_fence_is_longer_than_any_in_the_text():
    shown = markdown(StaticPage("t", "l", (Section("s", (code("````\nx"),)),)))
    assert "`````text\n````\nx\n`````" in shown


def test_a_long_run_shows_its_ends_and_what_failed(home):
    with reenact.record("long") as made:
        for number in range(MOST * 2):
            if number == MOST:
                with pytest.raises(ValueError, match="alert"):
                    echo("fail")
            else:
                echo(number)
    shown = markdown(page(reenact.load(made.id)))
    assert "left out" in shown
    for number in (1, MOST + 1, MOST * 2):
        assert f"<summary>{number}. tool echo" in shown
    assert shown.count("<summary>") < MOST + 2


def test_a_very_long_text_keeps_its_beginning_and_end():
    shown = cut("a" * 50_000 + "end")
    assert len(shown) < 7000
    assert shown.endswith("end")


def test_a_run_that_was_cut_off_is_said_to_have_no_end(recording, tmp_path):
    path = tmp_path / "cut"
    path.mkdir()
    lines = (Path(recording.path) / "events.jsonl").read_text().splitlines(keepends=True)
    (path / "events.jsonl").write_text("".join(lines[:-1]))
    assert "the run was cut off" in page_html(page(reenact.load(path)))


def test_what_is_odd_about_a_run_is_a_section_of_its_own():
    found = Anomaly("repeated-call", "warning", 4, "the same call again", "look(<b>)")
    whole = StaticPage("title", "lead", (sections.anomalies([found]),))
    assert "the same call again" in markdown(whole)
    shown = page_html(whole)
    assert "look(&lt;b&gt;)" in shown
    assert "<b>)" not in shown
    assert "No anomalies found" in markdown(StaticPage("t", "l", (sections.anomalies([]),)))
