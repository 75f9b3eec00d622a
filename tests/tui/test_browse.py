"""The browser, driven by keys over real recordings: it lists, searches, opens, and hands over to the commands."""

from __future__ import annotations

import builtins
import sys
import time
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

import pytest
from textual import events

import reenact
from reenact.analysis.interchange import importers
from reenact.cli import main
from reenact.cli.browsing import as_text
from reenact.core.store.local import LocalStore
from reenact.tui.browse import Browser
from reenact.tui.reader import LinesPane
from reenact.tui.rows import SORTED
from reenact.tui.transcript_screen import TranscriptScreen
from tests.conftest import Shell
from tests.hints import followed

SMALL, LARGE = (80, 24), (200, 50)
DATA = Path(__file__).parents[1] / "analysis" / "interchange" / "importers" / "data"
AGENT = """
import sys, reenact

@reenact.tool
def look_up(order):
    return {"order": order, "status": "shipped"}

print(look_up("ORD-5521"))
if "fail" in sys.argv:
    raise RuntimeError("no such order")
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two runs of a program, one of them failed, and what other programs wrote down."""
    shell = Shell(tmp_path_factory.mktemp("browsed"))
    shell.write("agent.py", AGENT)
    shell.record("agent.py")
    shell.record("agent.py", "fail")
    store = LocalStore(shell.last().path.rpartition("/recordings")[0])
    for name in ("tau_bench.jsonl", "claude_code.jsonl"):
        importers.bring(store, DATA / name, tags=["theirs"])
    return store


class Screen:
    """What is on it, and somebody at its keys."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    async def press(self, *keys):
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text):
        names = {" ": "space", ":": "colon", "_": "underscore", "(": "left_parenthesis"}
        await self.press(*(names.get(letter, letter) for letter in text))

    async def until(self, true):
        deadline = time.monotonic() + 120
        while not true():
            assert time.monotonic() < deadline, self.rows
            await self.pilot.pause(0.02)
        await self.pilot.pause()

    @property
    def rows(self):
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    @property
    def text(self):
        return "\n".join(self.rows)

    @property
    def names(self):
        return [row.line.name for row in self.app.rows.rows]


@asynccontextmanager
async def screen(store, size=SMALL, filter="", count=5):
    app = Browser(store, lambda id, width: as_text(store, id, width), filter)
    async with app.run_test(size=size) as pilot:
        screen = Screen(app, pilot)
        await screen.until(lambda: len(app.rows.rows) == count)
        yield screen


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_all_recordings_are_listed_with_what_is_known_of_them(store, size):
    async with screen(store, size) as on:
        assert "5 recordings" in on.rows[0]
        for word in ("id", "agent", "status", "prompt", "outcome", "steps"):
            assert word in on.rows[2].split()
        assert ("model" in on.rows[2].split()) == ("tags" in on.rows[2].split()) == (size == LARGE)
        for place, row in enumerate(on.app.rows.rows):
            line = row.line
            assert on.rows[3 + place].startswith(line.id)
            assert f" {line.status} " in on.rows[3 + place]
            assert line.outcome[:12] in on.rows[3 + place]
        assert max(map(len, on.rows)) <= size[0]
        assert "quit" in on.rows[-1]


@pytest.mark.parametrize("width", [100, 120, 130])
async def test_each_column_stands_below_its_title(store, width):
    async with screen(store, (width, 24)) as on:
        place = on.rows[2].index("outcome")
        for number, row in enumerate(on.app.rows.rows):
            assert on.rows[3 + number][place:].startswith(row.line.outcome[:9])


@pytest.mark.parametrize("width", [80, 140])
async def test_an_agent_s_name_is_whole_where_other_columns_are_empty(tmp_path, width):
    name = "import_orders_of_yesterday.py"
    with reenact.record(name, home=tmp_path):
        reenact.effect("tool", "look_up").perform(lambda: "found")
    async with screen(LocalStore(tmp_path), (width, 24), count=1) as on:
        assert f" {name} " in on.rows[3]
        assert "cost" not in on.rows[2]
        assert "outcome" in on.rows[2]
        for _ in SORTED:
            await on.press("s")
            column = on.app.sort
            assert column not in ("cost", "tokens") or width == 80 or f"{column}▼" in on.rows[2]


async def test_a_key_sorts_by_the_next_column_and_another_one_reverses(store):
    async with screen(store) as on:
        newest = on.names
        await on.press("s")
        assert "agent▲" in on.rows[2]
        assert on.names == sorted(on.names, key=str.lower) != newest
        await on.press("S")
        assert "agent▼" in on.rows[2]
        assert on.names == sorted(on.names, key=str.lower, reverse=True)
        await on.press("s")
        assert "status▲" in on.rows[2]


@pytest.mark.thorough
async def test_the_line_below_says_more_of_the_one_under_the_cursor(store):
    async with screen(store) as on:
        place = next(at for at, row in enumerate(on.app.rows.rows) if "no such order" in row.line.problem)
        await on.press("home", *["j"] * place)
        assert "no such order" in on.rows[-3]
        await on.press("end")
        assert "#theirs" in on.rows[-3]


@pytest.mark.thorough
async def test_what_is_searched_for_is_shown_as_it_is_typed(store):
    async with screen(store) as on:
        await on.press("slash")
        await on.type("tool:look_up")
        await on.until(lambda: len(on.app.rows.rows) == 2)
        assert "2 of 5 recordings" in on.rows[0]
        await on.press("enter", "j")
        assert on.app.rows.cursor == 1
        assert "found in 1" in on.rows[-3]
        await on.press("escape")
        await on.until(lambda: len(on.app.rows.rows) == 5)


async def test_what_comes_in_one_go_with_the_slash_is_searched_for_and_none_of_it_is_a_command(
    store, monkeypatch
):
    monkeypatch.setattr(Browser, "action_export", lambda _: pytest.fail("a letter was taken for a command"))
    async with screen(store) as on:
        for key, letter in (("slash", "/"), ("e", "e"), ("slash", "/"), ("x", "x")):
            on.app.post_message(events.Key(key, letter))
        await on.until(lambda: on.app._search.value == "e/x")


async def test_a_filter_that_does_not_parse_is_told_with_its_column_and_the_list_stays(store):
    async with screen(store) as on:
        await on.press("slash")
        # At once: what is typed letter by letter is looked for in between.
        on.app._search.value = "error and ("
        await on.press("enter")
        assert on.app.said.startswith("filter, column 12")
        assert len(on.app.rows.rows) == 5
        await on.type("error")
        await on.press("backspace")
        assert on.app.focused is on.app._search


async def test_a_search_that_means_nothing_says_how_to_go_back(store):
    async with screen(store, filter="tool:nothing_like_it", count=0) as on:
        await on.until(lambda: "Esc shows all again" in on.app.said)
        await on.press("escape")
        await on.until(lambda: len(on.app.rows.rows) == 5)


async def test_a_word_that_is_no_kind_of_step_is_explained(store):
    async with screen(store, filter="nothing_like_it", count=0) as on:
        await on.until(lambda: "no step is of kind 'nothing_like_it': for text, write" in on.app.said)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_one_is_opened_as_a_conversation_and_closed_again(store, size):
    async with screen(store, size, filter="tool:look_up", count=2) as on:
        await on.press("enter")
        await on.until(lambda: isinstance(on.app.screen, TranscriptScreen))
        page = on.app.screen.query_one(LinesPane)
        await on.until(lambda: "tool:look_up" in page.said)
        assert "ORD-5521" in on.text
        await on.press("q")
        assert not isinstance(on.app.screen, TranscriptScreen)
        assert len(on.app.rows.rows) == 2


async def test_an_open_conversation_fills_a_terminal_that_becomes_wider(tmp_path):
    with reenact.record("wide", home=tmp_path):
        reenact.tool(lambda: {"text": "one two three " * 30}, name="write")()
    async with screen(LocalStore(tmp_path), size=(60, 20), count=1) as on:
        await on.press("enter")
        await on.until(lambda: "tool:write" in on.text)
        await on.pilot.resize_terminal(140, 20)
        await on.until(lambda: any(row.count("one two three") > 6 for row in on.rows))


@pytest.mark.thorough
async def test_one_is_replayed_by_its_own_command_and_the_list_comes_back(store, monkeypatch, capfd):
    monkeypatch.setattr(Browser, "suspend", lambda _: nullcontext())
    asked = []
    monkeypatch.setattr(builtins, "input", asked.append)
    async with screen(store, filter="tool:look_up", count=2) as on:
        place = next(at for at, row in enumerate(on.app.rows.rows) if row.line.status == "ok")
        await on.press("home", *["j"] * place, "r")
        await on.until(lambda: asked)
        id = on.app.rows.current.line.id
        assert asked == [f"reenact replay {id} ended with status 0; Enter goes back "]
        assert on.app.said.startswith(f"replay {id} ended with status 0") or not on.app.said
    out = capfd.readouterr()
    assert "faithful" in out.out + out.err


@pytest.mark.thorough
async def test_a_terminal_that_cannot_be_given_away_is_told_the_command(store):
    async with screen(store) as on:
        await on.press("d")
        assert (
            on.app.said
            == f"this terminal cannot be given away; run: reenact debug {on.app.rows.current.line.id}"
        )


@pytest.mark.thorough
async def test_one_is_exported_and_a_second_time_refused(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with screen(store) as on:
        await on.press("e")
        (file,) = tmp_path.iterdir()
        assert on.app.said.startswith(f"exported to {file.name}")
        await on.press("e")
        assert "exists" in on.app.said


@pytest.mark.thorough
async def test_forks_stand_below_what_they_come_from(tmp_path):
    home = tmp_path / "home"

    @reenact.tool
    def tell():
        return "x"

    with reenact.record("parent", home=home) as parent:
        tell()
    with reenact.fork(parent.id, at=1, home=home):
        tell()
    with reenact.record("newest", home=home):
        tell()
    async with screen(LocalStore(home), count=3) as on:
        await on.until(lambda: any(row.depth for row in on.app.rows.rows))
        assert [(row.line.name, row.depth) for row in on.app.rows.rows] == [
            ("newest", 0), ("parent", 0), ("parent", 1),
        ]  # fmt: skip
        assert "└ @1 parent" in on.rows[5]
        await on.press("t")
        assert [row.depth for row in on.app.rows.rows] == [0, 0, 0]


@pytest.mark.thorough
async def test_what_is_new_is_read_on_reload(tmp_path):
    home = tmp_path / "home"
    with reenact.record("one", home=home):
        pass
    async with screen(LocalStore(home), count=1) as on:
        with reenact.record("two", home=home):
            pass
        await on.press("R")
        await on.until(lambda: on.names == ["two", "one"])


@pytest.mark.thorough
async def test_an_empty_home_says_how_to_make_a_recording(tmp_path):
    async with screen(LocalStore(tmp_path / "none"), count=0) as on:
        await on.until(lambda: "makes one" in on.app.said)
        await on.press("enter", "r", "e", "G")
        assert not isinstance(on.app.screen, TranscriptScreen)


@pytest.mark.thorough
async def test_a_broken_recording_is_listed_and_opening_it_says_why(tmp_path):
    store = LocalStore(tmp_path / "home")
    with reenact.record("x", home=store.root) as recording:
        pass
    (store.folder(recording.id) / "events.jsonl").write_text("nonsense\nmore\n")
    async with screen(store, count=1) as on:
        assert "broken" in on.rows[3]
        await on.press("enter")
        await on.until(lambda: recording.id in on.app.said or "events.jsonl" in on.app.said)


@pytest.mark.thorough
def test_without_a_terminal_it_says_what_to_do(capsys):
    assert main(["browse"]) == 2
    assert "reenact list" in capsys.readouterr().err


@pytest.mark.thorough
def test_a_filter_on_the_command_line_that_does_not_parse_is_one_mistake(capsys):
    assert main(["browse", "error and ("]) == 2
    assert "column 12" in capsys.readouterr().err


async def test_an_empty_home_names_the_command_that_records(shell):
    async with screen(LocalStore(shell.home), LARGE, count=0) as at:
        await at.until(lambda: "no recordings" in at.text)
        words = followed(at.text, "tui/browse.py", "record")
    shell.write("agent.py", AGENT)
    done = shell.run(*[sys.executable if word == "python" else word for word in words])
    assert (done.status, shell.last().id in done.err) == (0, True), done.err
