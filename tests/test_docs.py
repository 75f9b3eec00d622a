"""What the documentation must not forget."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import reenact
from reenact.model import codec
from reenact.model.recording import Log

DOCS = Path(__file__).parent.parent / "docs"
README = (DOCS.parent / "README.md").read_text()


def test_every_tag_of_the_codec_is_in_the_format() -> None:
    text = (DOCS / "format.md").read_text()
    assert [tag for tag in (*codec.TAGS, "$blob") if f"`{tag}`" not in text] == []


def test_every_event_that_is_read_is_in_the_format() -> None:
    text = (DOCS / "format.md").read_text()
    events = [name.removeprefix("_on_") for name in vars(Log) if name.startswith("_on_")]
    assert len(events) > 10
    assert [event for event in events if f"`{event}`" not in text] == []


def test_the_public_names_are_sorted_and_there() -> None:
    assert reenact.__all__ == sorted(reenact.__all__)
    assert all(hasattr(reenact, name) for name in reenact.__all__)


@pytest.mark.parametrize("name", [name for name in reenact.__all__ if callable(getattr(reenact, name))])
def test_every_public_name_says_what_it_is_for(name: str) -> None:
    assert len(inspect.getdoc(getattr(reenact, name)) or "") > 20


@pytest.mark.parametrize("page", [README, *(path.read_text() for path in DOCS.glob("*.md"))])
def test_every_link_to_a_file_leads_somewhere(page: str) -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", page) if "://" not in link]
    base = DOCS.parent if page is README else DOCS
    assert [link for link in links if not (base / link).exists()] == []


def test_the_version_is_that_of_the_package_and_in_the_changelog() -> None:
    pyproject = (DOCS.parent / "pyproject.toml").read_text()
    assert f'version = "{reenact.__version__}"' in pyproject
