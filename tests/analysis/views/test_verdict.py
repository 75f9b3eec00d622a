"""A verdict in a line, and in several."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from reenact.analysis.views.difference import divergence_lines
from reenact.analysis.views.terminal import Terminal
from reenact.analysis.views.text import WIDE
from reenact.analysis.views.verdict import as_options, brief, lines
from reenact.cli.verdict import panel
from reenact.core.model.divergence import Verdict
from reenact.errors import Departure, Divergence, Mismatch

MANY = Verdict(
    "abc",
    served=2,
    live={"tool:pay": 3},
    missing=tuple((number, f"main/tool:x#{number}") for number in range(3, 20)),
    divergences=tuple(Divergence(Departure.MISSING, f"main/tool:x#{number}", number, detail="left\nout") for number in range(3, 14)),
    notes=("step 2, tool:look: its answer was edited",),
)  # fmt: skip


def test_a_faithful_replay_is_said_in_a_few_words():
    assert brief(Verdict("abc", served=1)) == "faithful: 1 answer served from the recording"


def test_of_many_departures_the_line_names_the_first_and_counts_the_others():
    text = brief(MANY)
    assert text.startswith(
        "diverged: 2 answers served from the recording, tool:pay ran for real × 3, 17 steps not requested; "
    )
    assert "its answer was edited" in text
    assert "MISSING at step 3, main/tool:x#3" in text
    assert text.endswith("and 10 more divergences")
    assert "\n" not in text


def test_long_lists_are_cut_and_say_so():
    told = list(lines(MANY))
    assert "and 3 more divergences" in told
    assert (
        told[-3:-1] == ["  18  main/tool:x#18", "  19  main/tool:x#19"] or told[-1] == "  19  main/tool:x#19"
    )
    assert all("\n" not in line for line in told)


def test_what_was_let_through_is_not_wholly_from_the_recording():
    assert brief(Verdict("abc", served=1, live={"tool": 1})).startswith("partly from the recording: ")


def test_what_to_try_is_written_for_the_command_line():
    assert as_options("let it run: live=['process']") == "let it run: --live process"
    assert (
        as_options("not to compare: ignore=['http:* args.a']") == "not to compare: --ignore 'http:* args.a'"
    )
    said = as_options("edited on purpose? on_divergence='realign' keeps the others")
    assert said == "edited on purpose? --on-divergence realign keeps the others"


FORGED = "look\n  faithful\x1b[2J  all as recorded"


def hostile():
    """A verdict in which each text ends its line and begins another."""
    divergence = Divergence(
        Departure.CHANGED, FORGED, 1, (Mismatch(FORGED, 1, 2),), detail=FORGED, hint=FORGED
    )
    return Verdict(
        FORGED,
        live={FORGED: 1},
        answered={FORGED: FORGED},
        rules=(FORGED,),
        missing=((2, FORGED),),
        divergences=(divergence,),
        notes=(FORGED,),
        compared=("calls", "output"),
        uncompared=(FORGED,),
        changed_since=(FORGED,),
    )


def printed(verdict):
    """The verdict as a command writes it into a pipe."""
    page = io.StringIO()
    Terminal(file=page, width=WIDE).print(panel(verdict, name=FORGED))
    return page.getvalue().splitlines()


@pytest.mark.parametrize("shown", [lines, printed, lambda verdict: divergence_lines(verdict.divergences[0])])
def test_no_text_of_a_recording_adds_a_line_to_a_verdict(shown):
    found = list(shown(replace(hostile(), recording="a1")))
    assert any("look" in line for line in found)
    assert not [line for line in found if line.lstrip().startswith("faithful") or "\n" in line]
    assert "\n" not in str(hostile().divergences[0])


def test_the_end_of_an_address_is_shown_after_an_escape_sequence():
    verdict = Verdict("a1", missing=tuple((number, "main/tool:a\x1b[2J" + "b" * 40) for number in range(3)))
    assert all(line.endswith("b" * 40) for line in printed(verdict) if "tool" in line)
