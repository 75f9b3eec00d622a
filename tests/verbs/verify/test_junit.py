"""The JUnit file that Jenkins and GitLab read."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from reenact.analysis.views.verification import Status, verification
from reenact.verbs.verify import pages
from reenact.verbs.verify.outcome import outcome, outcome_of

MEMBERS = {
    "testsuite": {"name", "tests", "failures", "errors", "time"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
}
"""What the schemas of Jenkins' xUnit plugin and of JUnit 5 both allow."""
COLOURED = "\x1b[1;31mred\x1b[0m\x00\x85\ud800\uffff ]]> \x1b]0;title\x07<b>"


def written(*outcomes):
    """The file's parsed tree."""
    return ET.fromstring(pages.junit(verification(outcomes)))


@pytest.fixture
def failing():
    """A file about outcomes of all kinds with hostile texts."""
    return written(
        outcome(
            "a", Status.DIVERGED, name=COLOURED, cause=COLOURED, detail=COLOURED, step=3, seconds=12345.678
        ),
        outcome(COLOURED, Status.UNABLE, cause="", detail=""),
        outcome("b", Status.BROKEN, cause="c", detail="d" * 12_000_000),
        outcome("e", Status.SAME, cause="", detail=""),
    )


def test_its_elements_and_attributes_are_those_of_the_published_schemas(failing):
    assert {part.tag for part in failing.iter()} == set(MEMBERS)
    for part in failing.iter():
        assert set(part.attrib) == MEMBERS[part.tag]
    assert [failing.get(name) for name in ("tests", "failures", "errors", "time")] == [
        "4",
        "2",
        "1",
        "12345.678",
    ]


def test_colours_and_control_characters_are_left_out(failing):
    case = failing[0]
    assert case.get("classname") == "red ]]> <b>"
    assert case[0].get("message") == "diverged at step 3: red ]]> <b>"
    assert case[0].text == "red ]]> <b>"


def test_a_failure_without_details_has_its_message_as_text(failing):
    # GitLab shows the text alone.
    assert failing[1][0].text == failing[1][0].get("message") == "could not run: "


def test_a_huge_text_is_cut(failing):
    # Parsers refuse a text of 10 MB.
    assert len(failing[2][0].text) < 10_000
    assert "letters left out" in failing[2][0].text


def test_the_cause_of_an_error_with_a_huge_word_is_found_at_once():
    # The time of the pattern grew with the square of the word's length.
    found = outcome_of("a1b2", {"error": "RuntimeError: " + "y" * 12_000_000})
    assert (found.status, len(found.cause)) == (Status.BROKEN, 200)
