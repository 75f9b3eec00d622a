"""One stylesheet for all pages: each page allows its own style and script only, and each colour is one of the tokens."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from reenact.analysis.pages import html
from reenact.analysis.pages.blocks import Speech, StaticPage, Styled, Versus
from reenact.browser.video import page_encoder
from reenact.browser.watch import html as watch

DARK = "@media (prefers-color-scheme: dark)"
CONSOLE = Path(__file__).parents[3] / "console" / "src" / "theme.css"
SHEETS = {
    "static pages": html.STYLE,
    "watch": html.TOKENS + watch.asset("page.css"),
    "video": page_encoder._STYLE,
}


def colours(sheet):
    return set(re.findall(r"(--[\w-]+): (?:#|rgb)", sheet))


def test_each_colour_has_a_value_in_light_and_one_in_dark():
    light, dark = html.TOKENS.split(DARK)
    assert colours(light) - {"--shadow"} == colours(dark) - {"--shadow"}
    assert colours(light)


@pytest.mark.parametrize("name", SHEETS)
def test_every_sheet_takes_its_colours_from_the_tokens(name):
    sheet = SHEETS[name]
    own = sheet.removeprefix(html.TOKENS)
    assert own != sheet
    used = set(re.findall(r"var\((--[\w-]+)", own))
    defined = set(re.findall(r"(--[\w-]+):", sheet))
    set_by_script = {"--shape"}
    assert used - defined <= set_by_script
    assert DARK not in own


def test_the_console_takes_the_same_tokens():
    sheet = CONSOLE.read_text(encoding="utf-8")
    assert '@import "../../src/reenact/analysis/pages/tokens.css";' in sheet
    assert not colours(sheet)


def test_a_page_allows_its_own_style_and_nothing_else():
    shown = html.page_html(StaticPage("Title", Styled("lead", "good"), ()))
    style = re.search(r"(?s)<style>(.*?)</style>", shown)[1]
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', shown)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")
    assert "style=" not in shown


def test_sources_of_a_page_with_a_script_are_named_one_by_one():
    policy = html.policy("a {}", "run()", img_src="data:")
    assert "script-src 'sha256-" in policy
    assert "img-src data:" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("text", "reached"), [("short", False), ("a line\n" * 40, True), ("word " * 400, True)]
)
def test_a_text_that_scrolls_is_reached_by_the_keyboard(text, reached):
    for block in (Versus((("", text),)), Speech("user", text)):
        assert ('tabindex="0"' in html.block_html(block)) is reached
