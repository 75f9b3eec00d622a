"""Every framework's program is recorded, replayed without its provider, forked and compared: one test a cell.

`docs/frameworks.md` is made of what these tests show (`make frameworks`). A cell that the page calls green has a test
here that fails where it is not.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from reenact.core import messages as reading
from tests.frameworks import page
from tests.frameworks.frameworks import CELLS, FRAMEWORKS, REFUSED
from tests.frameworks.story import EDITED, run, told, weather


def _cells():
    for framework in FRAMEWORKS:
        for cell in framework.cells if framework.version else ():
            marks = [pytest.mark.thorough] if framework.thorough else []
            if cell in framework.no:
                marks.append(pytest.mark.xfail(reason=framework.no[cell], strict=True))
            yield pytest.param(framework, cell, id=f"{framework.name}-{cell.replace(' ', '-')}", marks=marks)


@pytest.fixture(scope="session")
def stories(tmp_path_factory):
    """Where the runs of all frameworks are: one folder for all of pytest's processes."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "frameworks"


@pytest.mark.sampled(every=1000)
@pytest.mark.parametrize(("framework", "cell"), list(_cells()))
def test_the_cell(framework, cell, stories, record_property):
    record_property("cell", [framework.title, framework.version, cell])
    TESTS[cell](framework, told(framework, stories / framework.name))
    if cell not in framework.no and not page.WRITING:
        said = page.read().get((framework.title, framework.version), {}).get(cell, "nothing")
        assert said == page.GREEN, (
            f"docs/frameworks.md says {said} of {framework.title} {framework.version}, {cell}: make frameworks"
        )


@pytest.mark.skipif(page.WRITING, reason="the page is being written")
def test_the_page_is_what_is_made_of_its_rows():
    assert page.PAGE.read_text(encoding="utf-8") == page.render(page.read()), "make frameworks writes it anew"


@pytest.mark.skipif(page.WRITING, reason="the page is being written")
def test_the_page_has_every_framework_in_both_versions():
    rows = {(title, version) for title, version in page.read() if page.when(title, version)}
    expected = {(known.title, pins[known.package]) for known in FRAMEWORKS for pins in page.pinned().values()}
    assert rows == expected, "make frameworks frameworks-older"


# ------------------------------------------------------------------------------------------------------- the cells


def record(framework, story):
    recording = list(story.recording)
    assert story.recorded.status == 0, story.recorded.err
    _says(story.recorded, story.said)
    assert len(story.said) == 2
    assert story.recorded.ours[0] == f"reenact: recorded {story.parent} ({len(recording)} steps, ok)"
    assert len(story.recorded.ours) == 2, "a warning"
    assert len(framework.models(recording)) == story.requests == 5
    assert len(framework.tools(recording, "weather")) == len(framework.tools(recording, "rate")) == 2
    for file in Path(story.recording.path).rglob("*"):
        assert not file.is_file() or story.key.encode() not in file.read_bytes()


def replay(framework, story):
    assert story.replayed.status == 0, story.replayed.err
    assert story.replayed.out == story.recorded.out
    _says(story.replayed, story.said)
    assert f"faithful  {story.parent}" in story.replayed.err


def stream(framework, story):
    words = [word + " " for word in story.said[0].split()]
    # A chunk of HTTP is what one read gives: on a busy machine some hold several words.
    assert framework.pieces(story.recording) > len(words) / 4
    pieces = [piece for piece in story.replayed.out.replace("\n", "|").split("|") if piece in words]
    assert pieces == words


def parallel(framework, story):
    assert story.met, "the program waited for the one city before it asked for the other"
    asked = {city: step.call for city, step in weather(framework, story.recording).items()}
    assert asked["Paris"].place <= asked["Tokyo"].order < asked["Paris"].order
    for city, step in weather(framework, story.recording).items():
        degrees = re.search(r"degrees\W+?(-?\d+)", _answer(step))[1]
        assert f"{city} {degrees} degrees" in story.replayed.out.replace("|", "")


def tool_error(framework, story):
    failed, again = framework.tools(story.recording, "rate")
    assert failed.call.status == "error" or "503" in _answer(failed)
    assert again.call.status == "ok"
    assert "per_euro" in _answer(again)
    # Whole, for a call's random id may hold these digits too.
    told_of = [
        step.number
        for step in framework.models(story.recording)
        if re.search(r"\b503\b", f"{step.args} {reading.read(step.log, step.call).messages}")
    ]
    assert min(told_of) > failed.number
    assert "503" in story.replayed.out


def fork(framework, story):
    assert story.forked, "no step asks for the weather in Tokyo"
    assert story.forked.status == 0, story.forked.err
    child = story.fork
    assert child.header["parent"] == {"id": story.parent, "step": story.step, "how": "fork"}
    before = {step.call.address: _answer(step) for step in story.recording if step.number < story.step}
    assert {step.call.address: _answer(step) for step in child if step.call.address in before} == before
    assert str(EDITED) in _answer(weather(framework, child)["Tokyo"])
    assert f"Tokyo {EDITED} degrees" in story.said_forked[0]
    _says(story.forked, story.said_forked)


def diff(framework, story):
    assert story.child, "there is no fork"
    done = run(story, "diff", story.parent, story.child, "--json")
    assert done.status == 1, done.err
    pair = next(pair for pair in done.json["pairs"] if (pair["a"] or {}).get("step") == story.step)
    assert pair["kind"] == "changed"
    changed = [str(found) for found in pair["differences"] if str(EDITED) in str(found)]
    assert changed
    assert all("degrees" in found for found in changed)


def state(framework, story):
    at = run(story, "show", story.parent, story.step, "--state", "--json").json["state"]
    end = run(story, "show", story.parent, "--state", "--json").json["state"]
    for name in framework.state:
        # Of several of its kind, each has its place behind an @.
        assert any(given.split("@")[0] == name for given in at), f"no {name} in {[*at]}"
        assert any(given.split("@")[0] == name for given in end), f"no {name} in {[*end]}"
    said = [text.strip() for text in story.said]
    assert [text for text in said if text in str(at)] == []
    assert [text for text in said if text in str(end)] == said


def refused(framework, story):
    known = f"{framework.version} is not known to this version of Reenact"
    lines = [line for line in story.recorded.ours if known in line]
    assert story.recorded.status == 0, story.recorded.err
    assert len(lines) == 1
    # By its HTTP, whole: never by halves. (A server that is a process of its own has read its input.)
    assert {step.call.kind for step in story.recording} - {"input"} == {"http"}
    assert story.replayed.status == (1 if framework.unsealed else 0), story.replayed.err
    assert ("called for real" in story.replayed.err) == bool(framework.unsealed)


def _answer(step):
    """What a call was answered, its body among it."""
    return f"{step.output} {step.chunks}"


def _says(done, texts):
    """What the program printed has these texts, in their pieces or whole."""
    printed = done.out.replace("|", "")
    assert [text for text in texts if text.strip() not in printed] == []


TESTS = {
    "record": record,
    "replay": replay,
    "stream": stream,
    "parallel": parallel,
    "tool error": tool_error,
    "fork": fork,
    "diff": diff,
    "state": state,
    REFUSED: refused,
}
assert {*TESTS} == {*CELLS, REFUSED}
