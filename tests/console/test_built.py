"""What is built, and what it is built from."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from reenact.server import openapi
from reenact.server.settings import CONSOLE

SOURCE = Path(__file__).parents[2] / "console"


def test_the_first_load_is_under_two_hundred_kilobytes_of_javascript():
    if not (CONSOLE / "index.html").is_file():
        pytest.skip("the console is not built here: make console")
    page = (CONSOLE / "index.html").read_text()
    first = set(re.findall(r'(?:src|href)="/(assets/[^"]+\.js)"', page))
    assert first
    assert sum(len(gzip.compress((CONSOLE / name).read_bytes())) for name in first) < 200_000
    # What a page needs of its own comes when it is opened.
    assert len(list((CONSOLE / "assets").glob("*.js"))) > len(first)


def test_the_page_itself_runs_nothing_that_stands_in_it():
    page = (SOURCE / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"\son\w+=|\sstyle=", page) == []


def test_the_lock_names_every_package_and_no_registry():
    lock = (SOURCE / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert lock.count('"integrity"') > 100
    hosts = set(re.findall(r'"https?://([^/"]+)', lock))
    assert hosts <= {"github.com", "opencollective.com", "tidelift.com", "feross.org", "paulmillr.com"}


def test_what_the_console_depends_on_is_pinned_to_the_version():
    import json

    package = json.loads((SOURCE / "package.json").read_text())
    pins = {**package["dependencies"], **package["devDependencies"]}
    assert [name for name, version in pins.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []


def test_the_types_are_made_from_the_document_that_the_server_gives():
    if not (SOURCE / "openapi.json").is_file():
        pytest.skip("the console is not built here: make console")
    assert (SOURCE / "openapi.json").read_text() == openapi.document()


def test_no_source_puts_markup_into_a_page():
    wrong = (
        "dangerouslySetInnerHTML",
        "innerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "srcdoc",
    )
    found = [
        f"{path.name}: {word}"
        for path in (SOURCE / "src").rglob("*.ts*")
        for word in wrong
        if word in path.read_text(encoding="utf-8")
    ]
    assert found == []


def test_a_style_sheet_of_one_page_says_which_page():
    # A sheet stays when its page goes: without a scope, its classes would change those of other pages.
    lazy = [*(SOURCE / "src" / "pages").rglob("*.css"), *(SOURCE / "src" / "parts").rglob("*.css")]
    assert len(lazy) >= 6
    for sheet in lazy:
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
        outside = re.sub(r"^@(scope|keyframes)[^{]*\{\n.*?^\}\n", "", text, flags=re.DOTALL | re.MULTILINE)
        assert not outside.strip(), sheet.name


def test_a_scoped_rule_names_the_root_itself_by_scope():
    # In newer browsers a class in a scoped rule means elements below the root alone.
    for sheet in [*(SOURCE / "src" / "pages").rglob("*.css"), *(SOURCE / "src" / "parts").rglob("*.css")]:
        text = sheet.read_text()
        found = re.search(r"^@scope \(([^)]*)\)", text, re.MULTILINE)
        for root in re.findall(r"\.[\w-]+", found[1]) if found else ():
            assert not re.search(rf"^\s+{re.escape(root)}(?![\w-])", text, re.MULTILINE), (
                f"{sheet.name}: {root}"
            )
