"""The debugger's state machine, over a program that is only thought of: it asks what was recorded, and says so."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reenact
from reenact.core.replay.watch import Edit
from reenact.errors import Departure, Divergence, FilterError, UsageError
from reenact.run.debugger.machine import Machine, Phase
from reenact.run.debugger.orders import (
    Again,
    Departed,
    Died,
    Ended,
    Go,
    Interrupt,
    ProgramPlace,
    Shell,
    Stopped,
)

# Steps 1, 2, 3 (with 4 inside), 5 (with 6 inside, and 7 inside of 6), 8.
STEPS = 8
PARENTS = {4: 3, 6: 5, 7: 6}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Eight steps, three of them inside others."""

    @reenact.tool
    def lookup(name):
        return name

    @reenact.tool
    def outer(depth):
        return outer(depth - 1) if depth > 1 else lookup("inner")

    home = tmp_path_factory.mktemp("home")
    with reenact.record("machine", home=home) as session:
        lookup("a")
        lookup("b")
        outer(1)
        outer(2)
        lookup("z")
    found = reenact.load(session.id, home=home)
    assert len(found.steps) == STEPS
    return found


@dataclass
class Program:
    """A program as the driver shows it: runs until it is to stop, and reports. An edit of an odd step makes it leave its
    recording at the next question.
    """

    machine: Machine
    asked: list[ProgramPlace] = field(default_factory=list)

    def carry_out(self, orders):
        for order in orders:
            if isinstance(order, (Go, Again)):
                if isinstance(order, Again):
                    self.asked = []
                self._run(order)

    def tell(self, command, *args):
        """Give a command; those that cannot be meant change nothing."""
        before = self.machine.state
        try:
            orders = getattr(self.machine, command)(*args)
        except (UsageError, FilterError):
            assert self.machine.state == before
            return False
        self.carry_out(orders)
        return True

    def _run(self, order):
        while (place := self._next(order)) is not None:
            if isinstance(place, Divergence):
                last = self.asked[-1]
                self.machine.hear(Departed(place, ProgramPlace(last.step, last.extra + 1), tuple(self.asked)))
                return
            self.asked.append(place)
            until = order.until
            beyond = until.beyond is not None and not self._inside(place.step, until.beyond)
            if until.next or place == until.place or place.step in until.steps or beyond:
                self.machine.hear(Stopped(place, tuple(self.asked[:-1])))
                return
        self.machine.hear(Ended(tuple(self.asked), 0))

    def _next(self, order):
        last = self.asked[-1].step if self.asked else 0
        if self.machine.state.divergence is not None:
            return None
        if last in order.edits and last % 2:
            return Divergence(Departure.CHANGED, "main/tool:lookup#0", last + 1)
        for step in range(last + 1, STEPS + 1):
            if all(parent in order.opened for parent in ancestors(step)):
                return ProgramPlace(step)
        return None

    @staticmethod
    def _inside(step, parent):
        return parent in ancestors(step)


def ancestors(step):
    found = []
    while step in PARENTS:
        step = PARENTS[step]
        found.append(step)
    return found


COMMANDS = st.one_of(
    st.sampled_from(
        [("step",), ("over",), ("out",), ("into",), ("go",), ("back",), ("reverse",), ("start",)]
    ),
    st.tuples(st.just("run_to"), st.integers(0, STEPS + 1)),
    st.tuples(
        st.just("break_at"), st.one_of(st.integers(1, STEPS), st.sampled_from(["tool:outer", "error", "("]))
    ),
    st.tuples(st.just("clear")),
    st.tuples(st.just("edit"), st.integers(1, STEPS), st.sampled_from([Edit("x"), None])),
)


@settings(max_examples=300, deadline=None)
@given(commands=st.lists(COMMANDS, max_size=40))
def test_any_walk_ends_where_a_fresh_run_to_the_same_place_does(recording, commands):
    program = Program(Machine(recording))
    program.tell("start")
    for command in commands:
        program.tell(*command)
    here = program.machine.state
    assert here.phase is not Phase.RUNNING
    fresh = Program(Machine(recording))
    for step, edit in here.edits.items():
        fresh.machine.edit(step, edit)
    fresh.machine.state = type(here)(Phase.ENDED, edits=here.edits, opened=here.opened)
    fresh.tell("start")
    for _ in range(2 * STEPS):
        if fresh.machine.state.at == here.at and fresh.machine.state.phase is here.phase:
            break
        fresh.tell("step")
    again = fresh.machine.state
    assert (again.phase, again.at, again.passed, again.divergence) == (
        here.phase,
        here.at,
        here.passed,
        here.divergence,
    )


def started(recording):
    program = Program(Machine(recording))
    program.tell("start")
    return program


def test_it_starts_at_the_first_question(recording):
    state = started(recording).machine.state
    assert (state.phase, state.at, state.passed) == (Phase.STOPPED, ProgramPlace(1), ())


def test_what_is_inside_an_answered_call_is_never_asked(recording):
    program = started(recording)
    seen = [program.machine.state.at.step]
    while program.tell("step") and program.machine.state.phase is Phase.STOPPED:
        seen.append(program.machine.state.at.step)
    assert seen == [1, 2, 3, 5, 8]
    assert program.machine.state.phase is Phase.ENDED


def test_stepping_into_a_call_opens_it_and_over_leaves_it_again(recording):
    program = started(recording)
    program.tell("run_to", 5)
    program.tell("into")
    assert program.machine.state.at == ProgramPlace(6)
    program.tell("into")
    assert program.machine.state.at == ProgramPlace(7)
    program.tell("out")
    assert program.machine.state.at == ProgramPlace(8)
    program.tell("back")
    assert program.machine.state.at == ProgramPlace(7)


def test_running_to_an_inner_step_opens_all_calls_around_it(recording):
    program = started(recording)
    program.tell("run_to", 7)
    assert program.machine.state.at == ProgramPlace(7)
    assert program.machine.state.opened == {5, 6}


def test_going_stops_at_breakpoints_and_backwards_too(recording):
    program = started(recording)
    program.tell("break_at", "tool:outer")
    program.tell("go")
    assert program.machine.state.at == ProgramPlace(3)
    assert program.machine.state.why == "breakpoint tool:outer"
    program.tell("go")
    program.tell("go")
    assert program.machine.state.phase is Phase.ENDED
    program.tell("reverse")
    assert program.machine.state.at == ProgramPlace(5)
    program.tell("reverse")
    program.tell("reverse")
    assert program.machine.state.at == ProgramPlace(1)


def test_an_edit_of_a_step_that_is_past_goes_back_there(recording):
    program = started(recording)
    program.tell("run_to", 8)
    program.tell("edit", 3, Edit("other"))
    assert program.machine.state.at == ProgramPlace(3)
    program.tell("step")
    assert program.machine.state.phase is Phase.DEPARTED
    program.tell("step")
    assert program.machine.state.phase is Phase.ENDED
    program.tell("edit", 3, None)
    program.tell("run_to", 8)
    assert program.machine.state.phase is Phase.STOPPED


def test_what_cannot_be_meant_says_so_and_changes_nothing(recording):
    machine = started(recording).machine
    before = machine.state
    for command, args, text in (
        ("run_to", (99,), "has no step 99: its steps go from 1 to 8"),
        ("back", (), "this is the program's first step"),
        ("into", (), "nothing was recorded inside step 1"),
        ("out", (), "not inside another"),
        ("clear", ("tool",), "there is no breakpoint tool; there are: none"),
        ("break_at", ("",), "an empty breakpoint"),
        ("break_at", (0,), "no step 0"),
    ):
        with pytest.raises(UsageError, match=text.replace("(", r"\(")):
            getattr(machine, command)(*args)
    with pytest.raises(FilterError, match="column 6"):
        machine.break_at("tool:(")
    assert machine.state == before


def test_a_running_program_can_only_be_interrupted(recording):
    machine = started(recording).machine
    machine.go()
    assert machine.interrupt() == [Interrupt()]
    with pytest.raises(UsageError, match="the program is running; `interrupt` stops it"):
        machine.step()
    with pytest.raises(UsageError, match="must stand at a step to open pdb"):
        machine.shell()
    machine.hear(Died("the program did not react, and was killed"))
    assert machine.state.phase is Phase.DIED
    assert machine.state.passed[-1] == ProgramPlace(1)
    assert isinstance(machine.back()[0], Again)


def test_pdb_opens_where_the_program_stands(recording):
    assert started(recording).machine.shell() == [Shell()]


def test_a_recording_without_its_program_is_walked_step_by_step(recording):
    machine = Machine(recording, reading=True)
    assert machine.state.at == ProgramPlace(1)
    assert machine.step() == []
    assert machine.state.at == ProgramPlace(2)
    machine.run_to(7)
    machine.back()
    assert machine.state.at == ProgramPlace(6)
    machine.break_at("tool:outer")
    machine.reverse()
    assert machine.state.at == ProgramPlace(5)
    machine.over()
    assert machine.state.at == ProgramPlace(8)
    with pytest.raises(UsageError, match="the recording's last step"):
        machine.step()
    with pytest.raises(UsageError, match="no program here"):
        machine.edit(1, Edit("x"))
    machine.go()
    assert machine.state.why == "the recording's last step; no breakpoint on the way"


def test_a_recording_without_steps_can_be_opened(tmp_path):
    with reenact.record("empty", home=tmp_path) as session:
        pass
    machine = Machine(reenact.load(session.id, home=tmp_path), reading=True)
    assert machine.state.at == ProgramPlace(0)
    assert machine.current() is None
