"""Pages that must agree with the code: messages, navigation, extras, the options of the CI's action."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml

from tests.docs.walk import ROOT, blocks, commands

DOCS = ROOT / "docs"
MESSAGES = re.findall(
    r"^\| `(.+?)` \| ", (DOCS / "troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE
)
# Texts that Python joins are one text to a reader.
JOINED = re.compile(r'"\s*\n\s*f?"')
BRACES = re.compile(r"\{[^{}]*\}")


@pytest.fixture(scope="module")
def source():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "src" / "reenact").rglob("*.py")]
    return BRACES.sub("…", JOINED.sub("", "\n".join(texts))).replace('\\"', '"')


def test_every_message_of_the_troubleshooting_page_is_one_of_the_code(source):
    assert len(MESSAGES) > 20
    pieces = {
        message: [piece.strip() for piece in message.split("…") if len(piece.strip()) > 3]
        for message in MESSAGES
    }
    assert all(pieces.values())
    missing = [message for message, parts in pieces.items() if not all(part in source for part in parts)]
    assert missing == []


def test_every_page_is_in_the_navigation_of_the_site():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE))
    made = {"index.md", "changelog.md", "reference/python.md", "reference/cli.md", "reference/rest.md"}
    there = {
        path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if path.parts[-2] != "decisions"
    }
    assert listed == there | made


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*/*.md")), ids=lambda page: page.stem)
def test_every_link_of_a_page_in_a_folder_leads_somewhere(page):
    links = [
        link for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")) if "://" not in link
    ]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", sorted((DOCS / "quickstart").glob("*.md")), ids=lambda page: page.stem)
def test_every_extra_that_a_quickstart_installs_exists(page):
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    texts = [
        command
        for kind, _, text in blocks(page.read_text(encoding="utf-8"))
        if kind == "console"
        for command, _ in commands(text)
    ]
    named = re.findall(r"\breenact\[([\w,]+)\]", "\n".join(texts))
    assert {extra for each in named for extra in each.split(",")} <= set(known)


def guides(navigation):
    """Return the pages of a part of the navigation."""
    if isinstance(navigation, str):
        return [navigation]
    entries = navigation.values() if isinstance(navigation, dict) else navigation
    return [page for entry in entries for page in guides(entry)]


SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
GUIDES = [
    page
    for part in SITE["nav"]
    for title, pages in part.items()
    if title in {"Start", "Tutorials", "How to"}
    for page in guides(pages)
]


@pytest.mark.parametrize("page", GUIDES)
def test_every_guide_has_a_picture(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    shown = [
        (DOCS / page).parent / link for link in re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", text, re.MULTILINE)
    ]
    assert shown
    assert [picture for picture in shown if not picture.is_file()] == []


def test_the_navigation_has_guides():
    assert len(GUIDES) > 40


def test_every_picture_is_shown_by_a_page_and_every_shown_picture_is_there():
    shown = {
        name
        for page in DOCS.rglob("*.md")
        for name in re.findall(r"!\[[^\]]+\]\((?:\.\./)?pictures/([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert shown == {path.name for path in (DOCS / "pictures").iterdir()}


def test_every_picture_has_a_scene_and_every_scene_a_picture():
    modules = (ROOT / "tests" / "docs" / "scenes").glob("*.py")
    texts = [path.read_text(encoding="utf-8") for path in modules]
    scenes = {
        name.replace("_", "-")
        for text in texts
        for name in re.findall(r"^@scene\ndef (\w+)", text, re.MULTILINE)
    }
    assert scenes == {path.stem for path in (DOCS / "pictures").iterdir()}
