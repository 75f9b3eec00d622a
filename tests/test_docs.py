"""What the documentation must not forget."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import reenact
from reenact.analysis.anomalies import RULES
from reenact.core.model import codec
from reenact.core.model.log import Log

DOCS = Path(__file__).parents[1] / "docs"
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
    # As the linter sorts them: constants, classes, functions.
    assert reenact.__all__ == sorted(reenact.__all__, key=lambda name: (not name.isupper(), name))
    assert all(hasattr(reenact, name) for name in reenact.__all__)


@pytest.mark.parametrize("name", [name for name in reenact.__all__ if callable(getattr(reenact, name))])
def test_every_public_name_says_what_it_is_for(name: str) -> None:
    assert len(inspect.getdoc(getattr(reenact, name)) or "") > 20


def test_every_rule_is_documented_as_it_is() -> None:
    text = (DOCS / "diagnose.md").read_text()
    rows = {row.split("`")[1]: row for row in text.splitlines() if row.startswith("| `")}
    assert set(rows) == set(RULES)
    for rule in RULES.values():
        assert rows[rule.name].split("|")[2].strip() == rule.severity
        assert rule.about in rows[rule.name]
        assert ("Off by default" in rows[rule.name]) == (not rule.on), rule.name
        assert [option for option in rule.options if f"`{option}" not in rows[rule.name]] == []


def test_the_published_table_has_every_rule_and_those_that_do_not_help_are_off() -> None:
    text = (DOCS.parent / "benchmarks" / "DIAGNOSE.md").read_text()
    rows = {cells[1].strip("` "): cells for row in text.splitlines() if len(cells := row.split("|")) == 11}
    rows = {name: cells for name, cells in rows.items() if name in RULES}
    assert set(rows) == set(RULES)
    for name, cells in rows.items():
        assert cells[9].strip() == ("on" if RULES[name].on else "off"), name
        assert RULES[name].on == (cells[8].strip() != "no"), name


@pytest.mark.parametrize("page", [README, *(path.read_text() for path in DOCS.glob("*.md"))])
def test_every_link_to_a_file_leads_somewhere(page: str) -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", page) if "://" not in link]
    base = DOCS.parent if page is README else DOCS
    assert [link for link in links if not (base / link).exists()] == []


def test_the_version_is_that_of_the_package_and_in_the_changelog() -> None:
    pyproject = (DOCS.parent / "pyproject.toml").read_text()
    assert f'version = "{reenact.__version__}"' in pyproject
