"""The debugger's screen, driven by keys over real programs and real recordings."""

from __future__ import annotations

import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import reenact
from reenact.analysis.interchange import importers
from reenact.core.query.facts import RecordingFacts
from reenact.core.store.local import LocalStore
from reenact.run.debugger.machine import Phase
from reenact.run.driver import Driver
from reenact.run.launch import Options
from reenact.tui.app import Debugger
from reenact.tui.help import HelpScreen
from reenact.tui.key_table import KEYS
from reenact.tui.notices import Heard
from reenact.tui.reader import LinesPane
from tests.cli.test_debugging import AGENT, Typing
from tests.conftest import Shell
from tests.hints import followed

SMALL, LARGE = (80, 24), (200, 50)
TAU = Path(__file__).parents[1] / "analysis" / "interchange" / "importers" / "data" / "tau_bench.jsonl"


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A terminal in whose folder the agent was recorded."""
    shell = Shell(tmp_path_factory.mktemp("recorded"))
    shell.write("agent.py", AGENT)
    shell.record("agent.py")
    return shell


class Screen:
    """What is on it, and somebody at its keys."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    @property
    def state(self):
        return self.app.driver.machine.state

    async def press(self, *keys):
        for key in keys:
            await self.pilot.press(key)
            await self.settled()

    async def settled(self):
        deadline = time.monotonic() + 120
        while self.state.phase is Phase.RUNNING or self.app.board._state is not self.state:
            assert time.monotonic() < deadline, self.state
            await self.pilot.pause(0.02)
        await self.pilot.pause()

    async def type(self, text):
        await self.press(
            *(
                "space"
                if c == " "
                else {":": "colon", "_": "underscore", "/": "slash", "=": "equals_sign"}.get(c, c)
                for c in text
            )
        )

    @property
    def page(self):
        return self.app.query_one("#page", LinesPane).said

    @property
    def rows(self):
        """All that stands on the screen, row by row."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    @property
    def status(self):
        return self.rows[self.app.query_one("#status").region.y].strip()

    def row(self, step):
        timeline = self.app.board.timeline
        return timeline._recorded(step, timeline.size.width).plain


@asynccontextmanager
async def screen(shell, size=SMALL, *, recording=None, command=(), options=None, reading=False, note=""):
    recording = recording or shell.last()
    heard = Heard()
    driver = Driver(
        recording,
        command=command,
        options=options or Options(),
        home=shell.home,
        reading=reading,
        on_change=heard,
    )
    app = Debugger(driver, RecordingFacts(recording), heard, note=note)
    try:
        async with app.run_test(size=size) as pilot:
            found = Screen(app, pilot)
            await found.settled()
            yield found
    finally:
        driver.close()


@pytest.mark.sampled
@pytest.mark.parametrize("size", [SMALL, (120, 36), LARGE])
async def test_it_opens_with_the_program_at_its_first_question(shell, size):
    async with screen(shell, size) as at:
        assert "stopped before step 1" in at.status
        assert at.row(1).startswith("▶")
        assert len(at.rows) == size[1]
        assert all(len(row) <= size[0] for row in at.rows)
        shown = " ".join(at.rows[-2:])
        assert "s step n over" in shown
        assert [key.word for key in KEYS if key.word and key.word not in shown.split()] == []
        assert at.rows[-1].rstrip().endswith("q quit")


@pytest.mark.thorough
async def test_keys_walk_the_program(shell):
    async with screen(shell) as at:
        await at.press("n")
        assert at.state.at.step == 3
        assert at.row(3).startswith("▶")
        await at.press("s", "s")
        assert at.state.at.step == 5
        await at.press("p")
        assert at.state.at.step == 4
        await at.press("c")
        assert "the program has ended  faithful: 5 answers served" in at.status
        await at.press("R")
        assert at.state.at.step == 1


@pytest.mark.thorough
async def test_a_key_that_comes_while_the_program_steps_waits_for_it(shell):
    async with screen(shell) as at:
        at.app.action_order("over")
        at.app.action_order("over")
        await at.settled()
        await at.settled()
        assert at.state.at.step == 4


@pytest.mark.thorough
async def test_into_looks_inside_a_call_and_out_leaves_it(shell):
    async with screen(shell) as at:
        assert "▸tool:lookup" in at.row(1)
        await at.press("i")
        assert at.state.at.step == 2
        assert "▾tool:lookup" in at.row(1)
        await at.press("6")
        assert "in lookup" in at.page or "lookup" in at.page
        assert "step 1  tool:lookup" in at.page
        await at.press("o")
        assert at.state.at.step == 3
        await at.press("i")
        assert at.state.at.step == 4, "nothing is inside: it steps"


@pytest.mark.thorough
async def test_the_function_keys_are_those_of_other_debuggers(shell):
    async with screen(shell) as at:
        await at.press("f10")
        assert at.state.at.step == 3
        await at.press("f9", "down", "f9", "f5")
        assert at.state.at.step == 4
        assert [point.text for point in at.state.breakpoints] == ["3", "4"]


@pytest.mark.thorough
async def test_breakpoints_are_marked_and_taken_away(shell):
    async with screen(shell) as at:
        await at.press("down", "down", "down", "b")
        assert at.row(4)[1] == "●"
        await at.press("c")
        assert "stopped before step 4  breakpoint 4" in at.status
        await at.press("r")
        assert at.state.at.step == 1
        await at.press("down", "down", "down", "b")
        assert at.row(4)[1] == " "


@pytest.mark.thorough
async def test_the_cursor_runs_the_program_to_it(shell):
    async with screen(shell) as at:
        await at.press("G", "u")
        assert at.state.at.step == 5
        await at.press("home", "down", "enter")
        assert at.state.at.step == 2, "back, and into the call that it is inside of"
        await at.press("G", "g")
        assert at.app.board.timeline.cursor == 2


@pytest.mark.thorough
async def test_the_messages_show_what_is_new_since_the_previous_call(shell):
    async with screen(shell) as at:
        await at.press("G")
        assert "2 messages known already" in at.page
        assert "user      Cancel 7, 请取消" in at.page
        new = at.page.split("new in this call")[1]
        assert "+ tool cancel" in new
        assert "it was shipped" in new
        assert "It cannot be cancelled." in new.split("the answer")[1]
        await at.press("up")
        assert "as of step 3, the model call before this step" in at.page


async def test_until_a_pane_is_chosen_it_is_the_call_and_from_the_first_model_call_on_the_messages(shell):
    async with screen(shell) as at:
        assert at.page.startswith("step 1  tool:lookup")
        assert at.app.board.shown_tab == "call"
        await at.press("down", "down")
        assert "new in this call" in at.page
        await at.press("up")
        assert "step 2  tool:stock" in at.page
        await at.press("1")
        assert at.page == "no model call up to here"


@pytest.mark.thorough
async def test_a_step_shows_its_arguments_and_its_answer(shell):
    async with screen(shell) as at:
        await at.press("2", "down", "down", "down")
        assert "order = 7" in at.page
        assert 'reason = "late"' in at.page
        assert "ValueError: it was shipped" in at.page
        await at.press("right", "right")
        assert "no state is tracked here" in at.page
        await at.press("left", "left", "left")
        assert at.app.board.tab == "messages"


@pytest.mark.thorough
async def test_the_output_is_what_was_written_up_to_here(shell):
    async with screen(shell) as at:
        await at.press("5")
        assert "no output so far" in at.page
        await at.press("n")
        assert at.page.startswith("looking {'order': 7")
        await at.press("p")
        assert "no output so far" in at.page


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.thorough
async def test_a_program_that_leaves_its_recording_shows_both_sides(shell, size):
    async with screen(shell, size, command=(sys.executable, str(shell.folder / "agent.py"), "other")) as at:
        await at.press("c")
        assert at.status.strip().startswith("CHANGED at step 4, main/tool:")
        assert "on_divergence" not in at.status, "the pane has the hint, by the command's option"
        assert "args.reason" in at.page
        recorded = at.page.index('"late"')
        assert at.page.index('"other"') > recorded
        assert ("│" in at.page) is (size == LARGE), "side by side where there is room"
        await at.press("c")
        assert at.state.phase is Phase.ENDED
        assert "diverged" in at.page


@pytest.mark.thorough
async def test_a_crash_shows_what_the_program_wrote_last(shell):
    shell.write(
        "crash.py",
        "import reenact\n@reenact.tool\ndef look(q): return q\nlook(1)\nraise RuntimeError('boom')\n",
    )
    shell.run("record", "--home", shell.folder / "else", "--", sys.executable, "crash.py")
    recording = reenact.load("last", home=shell.folder / "else")
    command = (sys.executable, str(shell.folder / "crash.py"))
    async with screen(shell, recording=recording, command=command) as at:
        await at.press("c")
        assert "ended with exit status 1" in at.status
        assert "RuntimeError: boom" in at.page


@pytest.mark.thorough
async def test_a_program_that_never_asks_again_is_stopped_and_shown(shell):
    shell.write(
        "hangs.py",
        "import reenact, sys\n@reenact.tool\ndef look(q): return q\nlook(1)\nwhile sys.argv[1:]: pass\n",
    )
    shell.run("record", "--home", shell.folder / "hangs", "--", sys.executable, "hangs.py")
    recording = reenact.load("last", home=shell.folder / "hangs")
    command = (sys.executable, str(shell.folder / "hangs.py"), "x")
    async with screen(shell, LARGE, recording=recording, command=command) as at:
        await at.pilot.press("c")
        deadline = time.monotonic() + 120
        while "running" not in at.status:
            assert time.monotonic() < deadline
            await at.pilot.pause(0.05)
        await at.press("ctrl+c")
        assert "between questions  interrupted" in at.status
        assert "hangs.py:5" in at.page
        await at.press("ctrl+c")
        assert "the program does not run now" in at.status
        await at.press("p")
        assert at.state.at.step == 1


@pytest.mark.thorough
async def test_commands_are_typed_behind_a_colon(shell):
    async with screen(shell) as at:
        await at.press("colon")
        await at.type("break tool:cancel")
        await at.press("enter", "c")
        assert at.state.at.step == 4
        await at.press("colon")
        await at.type("brake")
        await at.press("enter")
        assert "did you mean `break`?" in at.status
        await at.press("escape", "n")
        assert at.state.at.step == 5, "the keys are the debugger's again"


@pytest.mark.thorough
async def test_a_filter_that_does_not_parse_costs_a_line_and_stays_to_be_corrected(shell):
    async with screen(shell) as at:
        await at.press("B")
        await at.type("tool and")
        await at.press("enter")
        assert "filter, column" in at.status
        assert at.app.query_one("#prompt").display
        await at.press(*["backspace"] * 4, "enter")
        assert [point.text for point in at.state.breakpoints] == ["tool"]


@pytest.mark.thorough
async def test_steps_are_found_by_number_and_by_filter(shell):
    async with screen(shell) as at:
        await at.press("slash", "4", "enter")
        assert at.app.board.timeline.cursor == 4
        await at.press("slash")
        await at.type("model")
        await at.press("enter")
        assert at.app.board.timeline.cursor == 5
        await at.press("right_square_bracket")
        assert at.app.board.timeline.cursor == 3
        await at.press("left_square_bracket")
        assert at.app.board.timeline.cursor == 5
        await at.press("slash", "9", "9", "enter")
        assert "has no step 99" in at.status


@pytest.mark.thorough
async def test_an_answer_is_edited_shown_and_taken_back(shell):
    async with screen(shell) as at:
        await at.press("colon")
        await at.type("edit = {}")
        await at.press("enter", "2")
        assert "✎" in at.row(1)
        assert "edited answer" in at.page
        await at.press("x")
        assert "✎" not in at.row(1)
        await at.press("x")
        assert "the answer of step 1 has not been edited" in at.status


@pytest.mark.thorough
async def test_a_step_can_be_let_fail(shell):
    async with screen(shell) as at:
        await at.press("E")
        await at.type("TimeoutError: slow")
        await at.press("enter", "c")
        assert "TimeoutError: slow" in at.page


@pytest.mark.thorough
async def test_a_screen_that_cannot_be_given_away_says_so(shell):
    async with screen(shell) as at:
        await at.press("e")
        assert "cannot run another program" in at.status
        await at.press("n")
        assert at.state.at.step == 3


@pytest.mark.thorough
async def test_help_lists_every_key_and_every_command(shell):
    from reenact.run.debugger.commands import COMMANDS

    async with screen(shell, LARGE) as at:
        await at.press("question_mark")
        assert isinstance(at.app.screen, HelpScreen)
        text = at.app.screen.query_one(LinesPane).said
        assert [key.help for key in KEYS if key.help not in text] == []
        assert [command.help for command in COMMANDS if command.help not in text] == []
        await at.press("escape")
        assert not isinstance(at.app.screen, HelpScreen)


@pytest.mark.thorough
async def test_an_imported_run_is_walked_without_a_program(tmp_path):
    shell = Shell(tmp_path)
    store = LocalStore(shell.home)
    _, ids = importers.bring(store, TAU)
    recording = max(map(store.load, ids), key=lambda known: len(known.steps))
    async with screen(
        shell, recording=recording, reading=True, note="recording x has no recorded program"
    ) as at:
        assert at.status == "recording x has no recorded program; reading only"
        await at.press("s", "s")
        assert at.status.startswith("reading step 3")
        assert "user" in at.page
        await at.press("e")
        assert "there is no program here that an edited answer could reach" in at.status
        await at.press("3")
        assert "no program is running" in at.page


@pytest.mark.thorough
async def test_a_thousand_steps_are_drawn_only_where_they_are_seen(home):
    @reenact.tool
    def look(place):
        return "说" * place

    with reenact.record() as recording:
        for place in range(1000):
            look(place)
    loaded = reenact.load(recording.id)
    heard = Heard()
    driver = Driver(loaded, reading=True, on_change=heard)
    app = Debugger(driver, RecordingFacts(loaded), heard)
    async with app.run_test(size=SMALL) as pilot:
        at = Screen(app, pilot)
        await at.press("G")
        assert app.board.timeline.cursor == 1000
        assert any("1000" in row and "tool:look" in row for row in at.rows)
        assert len(app.board.timeline._drawn) < 100
        await at.press("2", "u")
        assert "说说说" in at.page
    driver.close()


@pytest.mark.thorough
def test_an_editor_and_pdb_have_the_terminal_and_give_it_back(shell):
    editor = shell.write(
        "editor.py",
        "import sys; p = sys.argv[1]; t = open(p).read(); open(p, 'w').write(t.replace('shipped', 'lost')); print('EDITING')",
    )
    with Typing(shell, env={"EDITOR": f"{sys.executable} {editor}"}) as typing:
        typing.until("stopped before step 1")
        typing.type("e")
        typing.until("EDITING")
        typing.until("its answer is edited")
        typing.type("n5")
        typing.until("'lost'")
        typing.type("!")
        typing.until("(pdb) ")
        typing.type("p reason\n")
        typing.until("'late'")
        typing.type("c\n")
        typing.until("stopped before step 3")
        typing.type("q")
        assert typing.end() == 0


async def test_the_help_names_the_command_that_takes_the_words_from_standard_input(shell):
    async with screen(shell, LARGE) as at:
        await at.press("question_mark")
        said = at.app.screen.query_one(LinesPane).said
        await at.press("escape")
    id = shell.last().id
    words = [id if word == "ID" else word for word in followed(said, "tui/help.py", "debug")]
    assert "1  tool:lookup" in shell.run(*words, text="where\nq\n").out


async def test_a_command_that_is_no_fork_is_refused_with_the_one_that_is(tmp_path):
    shell = Shell(tmp_path)
    shell.write("agent.py", AGENT)
    _, recording = shell.record("agent.py")
    async with screen(shell, LARGE) as at:
        await at.press("f", "ctrl+u")
        await at.type("true")
        await at.press("enter")
        words = followed("\n".join(at.rows), "tui/app.py", "fork")
    assert shell.run(*words[:1], recording.id, "--at", "1").status == 0
    assert shell.last().header["parent"]["id"] == recording.id


@pytest.mark.thorough
def test_a_fork_runs_on_the_terminal_and_comes_back(tmp_path):
    shell = Shell(tmp_path)
    shell.write("agent.py", AGENT)
    shell.record("agent.py")
    with Typing(shell) as typing:
        typing.until("stopped before step 1")
        typing.type(':edit = {"status": "lost"}\r')
        typing.until("its answer is edited")
        typing.type("f")
        typing.until("Enter runs it")
        typing.type("\r")
        typing.until("Enter goes back")
        assert "looking {'status': 'lost'}" in typing.seen
        typing.type("\r")
        typing.until("stopped before step 1")
        typing.type("q")
        assert typing.end() == 0
    assert shell.last().header["parent"]["step"] == 1
