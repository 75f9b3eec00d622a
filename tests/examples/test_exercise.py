"""The exercise: a recorded run is debugged, mended, forked and kept, and each stage shows what the guide says."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "exercise.md").read_text(encoding="utf-8")


def plain(text):
    """A text without what is another in every run: ids, tickets, times."""
    text = re.sub(r"REF-[0-9a-f]{8}", "REF-…", text)
    text = re.sub(r"pyd_ai_[0-9a-f]{32}", "pyd_ai_…", text)
    # Where an id stands; one without a digit looks like a word elsewhere.
    for id in set(
        re.findall(r"(?:^(?:[├└]── )?|recorded |forked | as |replay )([0-9a-z]{10})\b", text, re.MULTILINE)
    ):
        if any(letter.isdigit() for letter in id) or f"recorded {id} (" in text or f" as {id} (" in text:
            text = re.sub(rf"\b{id}\b", "ID", text)
    text = re.sub(r"\b(?=[a-z]*[0-9])[0-9a-z]{10}\b", "ID", text)
    text = re.sub(r"(?<=steps) +(now|\d+\w)(?=\s*$)", "  now", text, flags=re.MULTILINE)
    text = re.sub(r" · <?\d[\d.]* m?s\b", "", text)
    return "\n".join(line.rstrip() for line in text.splitlines())


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    if importlib.util.find_spec("pydantic_ai") is None:
        pytest.skip("Pydantic AI is not installed (make setup-demo)")
    # A store and test options of whoever runs it must not reach the exercise.
    environ = {**os.environ, "REENACT_HOME": str(tmp_path_factory.mktemp("home")), "PYTEST_ADDOPTS": "--none"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "exercise" / "exercise.py")],
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env=environ,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert list(Path(environ["REENACT_HOME"]).iterdir()) == []
    return plain(done.stdout)


def stage(said, title):
    """What is shown under a headline."""
    _, found, rest = said.partition(f"\n{title}")
    assert found, said
    return re.split(r"^[^\n]+ ─+$", rest.partition("\n")[2], flags=re.MULTILINE)[0]


def test_it_says_that_its_model_is_a_stand_in(said):
    """Nobody is to take the script for a language model."""
    assert "no language model but a script" in stage(said, "An agent, and a model that stands in")


def test_the_recorded_run_cancels_an_order_that_has_shipped(said):
    """The recording shows the book's `shipped` and the tool's `cancelled`, one below the other."""
    shown = stage(said, "1. Recorded")
    assert shown.index('"status":"shipped"') < shown.index('"status":"cancelled"')
    assert "✓ the agent cancelled ORD-5521; paid back: 349.00 EUR for ORD-5521" in shown


def test_the_breakpoints_show_arguments_locals_and_that_nothing_was_checked(said):
    """The second stop is in the tool's own frame, which knows the order as shipped; it pays nothing again."""
    shown = stage(said, "2. Replayed")
    call, _, inside = shown.partition("step 4, shop:refund, asked in cancel_order()\n")
    assert "step 2, tool:cancel_order, asked in serve()\n  before    1 model:stand-in\n" in call
    assert "  argument  order_id = 'ORD-5521'\n  argument  reason = 'cheaper elsewhere'\n" in call
    assert "  before    1 model:stand-in, 2 tool:cancel_order, 3 shop:load_order\n" in inside
    assert "  local     order = {'item': 'espresso machine', 'status': 'shipped'" in inside
    assert "--filter tool:check_eligibility\nno steps match (5 searched)\n" in inside
    assert "nothing was paid twice" in inside


def test_the_mended_tool_diverges_and_recorded_stands_against_actual(said):
    """The refund is never asked for, and the model is told of a refusal."""
    shown = stage(said, "3. Mended")
    assert '+    if order["status"] != "processing":\n' in shown
    assert "MISSING at step 4, shop:refund#0\n" in shown
    assert "content.status: recorded 'cancelled', actual 'not cancelled: shipped'\n" in shown


def test_the_forks_refuse_are_listed_below_their_parent_and_replay_faithfully(said):
    """One fork is live from the tool on, the other has an edited answer; each is a recording of its own."""
    shown = stage(said, "4. Forked")
    assert (
        "agent:    I am sorry: ORD-5521 is on its way already, and cannot be cancelled any more.\n" in shown
    )
    assert "agent:    I am sorry: you have ORD-5521 already. You can send it back within 14 days.\n" in shown
    assert "├── ID  fork at 2  support  ok  I am sorry: ORD-5521 is on" in shown
    assert "└── ID  fork at 3  support  ok  I am sorry: you have ORD-5521" in shown
    assert "ID: faithful: 4 served from the recording; 1 × tool:cancel_order ran again\n" in shown
    answered = "3 served from the recording; tool:cancel_order did not run (it ran for real in the fork"
    assert f"ID: faithful: {answered}" in " ".join(shown.split())
    assert shown.count("✓ replayed to the letter\n") == 2


def test_the_kept_test_is_red_with_the_old_tool_and_green_with_the_mended_one(said):
    """The red test names the refund that should not be, and a command that leads somewhere."""
    red, green = stage(said, "The tool as it was: red"), stage(said, "The tool mended: green")
    assert re.search(
        r"no longer matches its recording: EXTRA at step 5, main/.*/tool:cancel_order#0/shop:refund#0\n", red
    )
    assert "1 failed" in red
    assert "1 passed" in green
    assert "failed" not in green


def test_the_guide_shows_what_is_shown(said):
    """Each line of the guide's code and output is one of the exercise, or of its files, in the guide's order."""
    source = (ROOT / "examples" / "exercise" / "shop.py").read_text(encoding="utf-8")
    begun = 0
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) > 12
    for language, block in blocks:
        if "make exercise" in block:
            assert "\nexercise:" in (ROOT / "Makefile").read_text(encoding="utf-8")
        elif language == "python" and block in source:
            continue
        else:
            begun = said.find(plain(block), begun)
            assert begun >= 0, f"the exercise does not show, in this place:\n{plain(block)}"
