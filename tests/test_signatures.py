"""What `help()`, `inspect.signature` and `repr` print of public names."""

from __future__ import annotations

import dataclasses
import inspect
import pydoc
import typing
from enum import Enum

import pytest

import reenact
from reenact.errors import ReenactError

CALLABLE = [
    name
    for name in reenact.__all__
    if callable(thing := getattr(reenact, name))
    and not (isinstance(thing, type) and issubclass(thing, (ReenactError, Enum)))
]


@pytest.mark.parametrize("name", CALLABLE)
def test_a_signature_shows_types_without_quotes_and_in_a_few_lines(name):
    thing = getattr(reenact, name)
    for function in (thing, *(vars(thing).values() if isinstance(thing, type) else ())):
        if not callable(function) or isinstance(function, type):
            continue
        shown = str(inspect.signature(function))
        assert ": '" not in shown
        assert "-> '" not in shown
        assert " object at 0x" not in shown
        assert len(shown) < 600


@pytest.mark.parametrize("name", CALLABLE)
def test_the_help_has_no_long_lines_of_sets(name):
    assert "frozenset({" not in pydoc.plain(pydoc.render_doc(getattr(reenact, name)))


def test_the_signature_of_record_names_the_rules():
    shown = str(inspect.signature(reenact.record))
    assert shown.startswith(
        "(name: str = '', *, tags: Iterable[str] = (), home: str | os.PathLike[str] | None = None"
    )
    assert "secrets: SecretRules = DEFAULT_RULES" in shown


def test_names_of_unions_and_literals_are_spelled_out():
    shown = str(inspect.signature(reenact.replay))
    assert "source: str | PathLike[str] | Recording" in shown
    assert "on_divergence: Literal['raise', 'realign', 'live'] = 'raise'" in shown


def test_annotations_are_still_texts_that_can_be_evaluated():
    hints = typing.get_type_hints(reenact.DivergenceError.__init__)
    assert hints["divergence"] is reenact.Divergence


def test_rules_print_their_numbers_and_no_secret():
    rules = dataclasses.replace(reenact.DEFAULT_RULES, values=frozenset({"hunter2"}))
    assert repr(reenact.DEFAULT_RULES) == "DEFAULT_RULES"
    assert "1 values" in repr(rules)
    assert "hunter2" not in repr(rules)


@pytest.fixture
def recording(home):
    @reenact.tool(name="odd\nname")
    def odd(text):
        return text * 2

    with reenact.record("line\nbreak") as run:
        odd("a\n" * 10_000)
        reenact.snapshot("here")
    return reenact.load(run.id)


def test_a_step_a_recording_and_a_diff_print_one_short_line(recording):
    things = [recording, recording.steps[0], recording.state(), reenact.diff(recording, recording)]
    for thing in things:
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 200
    assert repr(recording.steps[0]) == "<Step 1 'tool:odd\\nname': returned>"


def test_a_replay_and_its_verdict_print_one_short_line(recording):
    with pytest.raises(reenact.DivergenceError), reenact.replay(recording) as replay:
        assert repr(replay) == f"<replay of {recording.id}: no departure>"
        reenact.tool(name="odd\nname")(lambda text: text)("b\n" * 10_000)
    for thing in (replay, replay.verdict, replay.verdict.divergence, *replay.verdict.divergence.mismatches):
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 400
    assert repr(replay.verdict).startswith(f"<Verdict {recording.id}: diverged, 0 served, <Divergence: ")


def test_a_fork_prints_one_short_line(recording):
    fork = reenact.fork(recording, at=1)
    assert repr(fork) == f"<fork {fork.id} of {recording.id}>"
