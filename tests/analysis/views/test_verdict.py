"""A verdict in a line, and in several."""

from __future__ import annotations

from reenact.analysis.views.verdict import as_options, brief, lines
from reenact.core.model.divergence import Verdict
from reenact.errors import Departure, Divergence

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
