"""`reenact record`, `replay` and `doctor` as a person at a terminal meets them."""

from __future__ import annotations

import io
import shutil
import sys

import pytest
from rich.console import Console

import reenact
from reenact.analysis.views.difference import difference
from reenact.cli.verdict import panel
from reenact.core.model.divergence import Verdict
from reenact.errors import ABSENT, Departure, Divergence, Mismatch
from tests.hostile.forge import forge, lines_of

AGENT = """
    import sys, reenact
    @reenact.tool
    def lookup(order): return {"order": order}
    for order in sys.argv[1:]: print(lookup(order))
"""


def _shown(verdict):
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(panel(verdict, name="support"))
    return console.export_text()


def test_recording_says_what_it_recorded_and_how_to_replay_it(shell):
    shell.write("agent.py", AGENT)
    done, recording = shell.record("agent.py", "one")
    assert done.ours == [
        f"reenact: recorded {recording.id} (1 step, ok)",
        f"reenact: replay it with: reenact replay {recording.id}",
    ]
    assert done.out == "{'order': 'one'}\n"


def test_a_verdict_in_a_pipe_has_whole_lines_without_blanks_at_their_ends(shell):
    shell.write("agent.py", AGENT)
    shell.record("agent.py", "one")
    shell.write(
        "agent.py", AGENT.replace("order): return", "order=0): return").replace("lookup(order)", "lookup(1)")
    )
    said = shell.run("replay", "last").err.splitlines()
    assert [line for line in said if line != line.rstrip()] == []
    assert "  CHANGED  step 1  main/tool:lookup#0" in said
    assert any("edited on purpose?" in line and "answers" in line for line in said), said


@pytest.mark.thorough
def test_name_tags_and_home_are_the_recordings(shell, tmp_path):
    shell.write("agent.py", AGENT)
    home = tmp_path / "else where"
    done = shell.run(
        "record",
        "--name",
        "support",
        "--tag",
        "a",
        "--tag",
        "b",
        "--home",
        home,
        "--",
        sys.executable,
        "agent.py",
        "--flag",
        "-x",
    )
    recording = reenact.load("last", home=home)
    assert (recording.name, recording.tags) == ("support", ("a", "b"))
    assert "--flag" in done.out
    assert f"--home '{home}'" in done.ours[1]
    assert not shell.home.exists()
    assert shell.run("replay", "--home", home, recording.id).status == 0


@pytest.mark.thorough
def test_the_words_after_two_dashes_are_the_programs_own(shell):
    done = shell.run(
        "record", "--", sys.executable, "-c", "import sys; print(sys.argv)", "--name", "--", "--help"
    )
    assert done.out == "['-c', '--name', '--', '--help']\n"


@pytest.mark.thorough
def test_a_faithful_replay_shows_the_programs_output_and_a_frame_on_standard_error(shell):
    shell.write("agent.py", AGENT)
    done, recording = shell.record("agent.py", "one")
    again = shell.run("replay", recording.id[:5])
    assert (again.status, again.out) == (0, done.out)
    assert "faithful" in again.err
    assert "1 tool call ran again" in again.err


@pytest.mark.thorough
def test_a_kind_to_let_through_of_which_nothing_came_is_named(shell):
    shell.write("agent.py", AGENT)
    _, recording = shell.record("agent.py", "one")
    again = shell.run("replay", recording.id, "--live", "tol", "--live", "tool")
    assert again.ours == [
        f"reenact: --live tol: nothing of that name came; `reenact show {shell.last().id}` names the kinds"
    ]


@pytest.mark.thorough
def test_json_is_all_there_is_on_standard_output(shell):
    shell.write("agent.py", AGENT)
    _, recording = shell.record("agent.py", "one")
    again = shell.replay("--json")
    assert again.json == {
        "recording": recording.id, "exit": 0, "warnings": [],
        "verdict": {"faithful": True, "recording": recording.id, "served": 1, "live": {}, "rules": [], "missing": [], "divergences": [], "notes": [], "kinds": {"tool": 1}, "again": {"tool:lookup": 1}, "answered": {}, "compared": ["calls", "standard output", "standard error"], "uncompared": [], "changed_since": []},
    }  # fmt: skip
    assert "{'order': 'one'}" in again.err
    changed = shell.replay("--json", "--", sys.executable, "agent.py", "two")
    assert changed.status == 1
    (divergence,) = changed.json["verdict"]["divergences"]
    assert divergence["mismatches"] == [{"path": "args.order", "recorded": "one", "actual": "two"}]


def test_a_frame_lays_recorded_against_actual():
    verdict = Verdict(
        "abc",
        served=3,
        live={"tool:pay": 2},
        rules=("ignore args.seed",),
        missing=((7, "main/tool:x#0"), (8, "main/tool:x#1")),
        divergences=(
            Divergence(
                Departure.CHANGED, "main/model:gpt#2", 7,
                (Mismatch("args.messages[1].content", "Cancel my order ORD-5521 please", "Cancel my order ORD-5522 please"), Mismatch("args.seed", ABSENT, 7)),
                "the detail", "the hint",
            ),
        ),
        notes=("a clock read that was not recorded",),
    )  # fmt: skip
    text = _shown(verdict)
    for part in (
        "diverged  abc  support", "3 answers served", "ran for real: tool:pay \N{MULTIPLICATION SIGN} 2", "rule applied: ignore args.seed", "! a clock read",
        "CHANGED  step 7  main/model:gpt#2", "the detail", "args.messages[1].content", 'recorded  "Cancel my order ORD-5521 please"',
        'actual    "Cancel my order ORD-5522 please"', "(absent)", "the hint", "not requested: 1 recorded step", "8  main/tool:x#1",
    ):  # fmt: skip
        assert part in text, text


def test_only_the_words_that_differ_stand_out():
    old, new = difference("cancel order 5521 now", "cancel order 5522 now")
    assert [old.plain[span.start : span.end] for span in old.spans] == ["5521"]
    assert [new.plain[span.start : span.end] for span in new.spans] == ["5522"]


@pytest.mark.parametrize("size", [50, 500, 5000, 50000])
def test_long_texts_are_shown_around_the_difference(size):
    text = "word " * size
    old, new = difference(text + "A" + text, text + "B" + text)
    assert "A" in old.plain
    assert "B" in new.plain
    assert len(old.plain) < 800


def test_neither_side_of_a_difference_has_a_colour_that_means_good_or_bad():
    for side in difference('"ok"', '"error"'):
        assert {str(span.style) for span in side.spans} <= {"bold yellow", "bold cyan"}


# -- mistakes ------------------------------------------------------------------------------------------------


def _mistake(done, *words):
    assert done.status == 2, done
    assert len(done.err.splitlines()) == 1, done.err
    assert done.out == ""
    for word in words:
        assert word in done.err, done.err


def test_mistakes_cost_one_line_and_write_nothing(shell):
    shell.write("agent.py", AGENT)
    _mistake(shell.run("record"), "no command")
    _mistake(shell.run("record", "--"), "no command")
    _mistake(shell.run("record", "--", "no-such-program"), "no such program: no-such-program")
    _mistake(shell.run("record", "--nme", "x", "--", sys.executable), "no such option: --nme")
    _mistake(shell.run("replay", "nothing"), "nothing", "reenact list")
    _mistake(shell.run("replay", "last"), "no recording yet")
    _mistake(shell.run("replay", "/no/such/path"), "/no/such/path")
    _mistake(shell.run("replay", shell.folder), "no recording")
    assert not shell.home.exists()


@pytest.mark.thorough
def test_options_that_cannot_be_meant_cost_one_line(shell):
    shell.write("agent.py", AGENT)
    shell.record("agent.py", "one")
    _mistake(shell.replay("--pace", "slow"), "--pace slow", "fast, real")
    _mistake(shell.replay("--on-divergence", "x"), "realign")
    _mistake(shell.replay("--ignore", "body"), "args")


@pytest.mark.thorough
def test_damaged_recordings_cost_one_line(shell):
    shell.write("agent.py", AGENT)
    _, recording = shell.record("agent.py", "one", "two")
    events = shell.home / "recordings" / recording.id / "events.jsonl"
    lines = events.read_bytes().splitlines(keepends=True)
    events.write_bytes(b"".join([*lines[:2], b"{garbage\n", *lines[2:]]))
    _mistake(shell.replay(), "line 3")
    events.write_bytes(lines[0].replace(b'"format":2', b'"format":99') + b"".join(lines[1:]))
    _mistake(shell.replay(), "format 99", "upgrade")
    events.write_bytes(b"hello\n")
    _mistake(shell.replay(), "no recording")
    shutil.copytree(events.parent, events.parent.with_name(recording.id[:3] + "zzz"))
    _mistake(shell.run("replay", recording.id[:3]), recording.id, "zzz")


def _edited(shell, recording, change):
    events = shell.home / "recordings" / recording.id / "events.jsonl"
    lines = lines_of(events)
    change(lines)
    lines[-1].pop("signed", None)
    events.write_bytes(forge(lines))


@pytest.mark.thorough
def test_a_recording_without_a_program_wants_a_command(shell):
    shell.write("agent.py", AGENT)
    _, recording = shell.record("agent.py", "one")
    _edited(shell, recording, lambda lines: lines[0].pop("program"))
    _mistake(shell.replay(), "has no recorded program", f"reenact replay {recording.id} -- ")
    assert shell.replay("--", sys.executable, "agent.py", "one").status == 0


@pytest.mark.thorough
def test_a_python_a_program_or_a_folder_that_is_gone(shell):
    path = shell.write("sub/agent.py", AGENT)
    _, recording = shell.record("agent.py", "one", cwd=path.parent)
    path.unlink()
    _mistake(shell.replay(), "the program is gone", str(path))
    path.parent.rmdir()
    _mistake(shell.replay(), "folder", "gone")
    _edited(
        shell,
        recording,
        lambda lines: lines[0]["program"].update(argv=["/no/python", "x.py"], cwd=str(shell.folder)),
    )
    _mistake(shell.replay("--run-foreign"), "the Python", "/no/python")


@pytest.mark.thorough
def test_other_versions_are_a_warning(shell):
    shell.write("agent.py", AGENT + "    import rich\n")
    _, recording = shell.record("agent.py", "one")

    def older(lines):
        lines[0]["program"]["python"] = "3.10.1"
        lines[-1]["packages"]["rich"] = "1.0"
        lines[-1]["packages"]["long-gone"] = "2.0"

    _edited(shell, recording, older)
    again = shell.replay("--run-foreign")
    assert again.status == 0
    assert any("Python 3.10.1" in line for line in again.ours)
    assert any(
        "rich 1.0 (now " in line and "long-gone 2.0 (now not installed)" in line for line in again.ours
    )


@pytest.mark.thorough
def test_help_names_every_option(shell):
    for verb, words in (
        ("record", ["--name", "--tag", "--home"]),
        ("replay", ["--live", "--ignore", "--on-divergence", "--inserted", "--pace", "--json"]),
        ("doctor", ["--run", "--json"]),
    ):
        done = shell.run(verb, "--help")
        assert done.status == 0
        for word in words:
            assert word in done.out


@pytest.mark.thorough
def test_a_verdict_says_which_tools_ran_again(shell):
    shell.write("agent.py", AGENT)
    shell.record("agent.py", "one")
    assert "1 tool call ran again, with the recorded answers inside" in shell.replay().err
    assert "did not run: tool:lookup (as asked)" in shell.replay("--tools", "answer").err
