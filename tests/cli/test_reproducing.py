"""`reenact reproduce`, `bisect` and `report` as a person at a terminal meets them."""

from __future__ import annotations

import sys

import pytest

import reenact

AGENT = """
    import random, reenact

    @reenact.tool
    def weather(city): return random.SystemRandom().random()

    @reenact.tool
    def stock(item): return 3 if open("mood.txt").read() == "good" else 0

    weather("Ulm")
    print("ordered" if stock("lamp") else "sold out")
"""
CHECK = 'grep -q ordered "$REENACT_STDOUT"'


@pytest.fixture
def runs(shell):
    shell.write("agent.py", AGENT)
    found = []
    for mood in ("bad", "good"):
        (shell.folder / "mood.txt").write_text(mood)
        shell.run("record", "--name", mood, "--", sys.executable, "agent.py")
        found.append(reenact.load("last", home=shell.home).id)
    return found


def test_bisect_says_which_step_is_decisive_and_shows_both_answers(shell, runs):
    bad, good = runs
    done = shell.run("bisect", bad, "--good", good, "--check", CHECK)
    assert done.status == 0, done.err
    assert "step 2, tool stock: with the good run's answer the outcome changes" in done.out
    assert "trial 2: step 1, tool weather: bad" in done.err
    assert "the other way round too" in done.out


@pytest.mark.thorough
def test_bisect_as_json_has_nothing_else_on_standard_output(shell, runs):
    bad, good = runs
    tree = shell.run("bisect", bad, "--good", good, "--check-output", "--json").json
    assert [change["step"] for change in tree["changes"]] == [2]
    assert tree["turns_back"] is True
    assert tree["runs"] == len(tree["trials"]) + 6


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "either --check 'a command', or --check-output"),
        (("--check", "true", "--check-output"), "either --check 'a command', or --check-output"),
        (("--check", "no-such-command-here"), "cannot be run"),
        (("--check", "true"), "is good: the search cannot work"),
        (("--check", "kill -9 $$"), "was ended by a signal"),
    ],
)
def test_a_check_that_cannot_be_used_costs_one_line(shell, runs, words, said):
    bad, good = runs
    done = shell.run("bisect", bad, "--good", good, *words)
    assert done.status == 2
    assert len(done.ours) == 1
    assert said in done.ours[0]


@pytest.mark.thorough
def test_a_check_may_say_that_it_cannot_tell(shell, runs):
    bad, good = runs
    check = (
        'test "$REENACT_ID" = "'
        + good
        + '" || { grep -q "sold out" "$REENACT_STDOUT" && exit 1 || exit 125; }'
    )
    done = shell.run("bisect", bad, "--good", good, "--check", check)
    assert done.status == 1
    assert "undecided (the check was undecided)" in done.err


@pytest.mark.thorough
def test_bisect_says_where_fewer_answers_may_do_since_their_trials_could_not_be_judged(shell, runs):
    shell.write("agent.py", AGENT.replace('weather("Ulm")', 'print(weather("Ulm"))'))
    bad, good = (shell.run("replay", id).out for id in runs)
    for name, text in (("bad", bad), ("good", good)):
        (shell.folder / f"{name}.txt").write_text(text)
    check = (
        'cmp -s "$REENACT_STDOUT" good.txt && exit 0; cmp -s "$REENACT_STDOUT" bad.txt && exit 1; exit 125'
    )
    done = shell.run("bisect", runs[0], "--good", runs[1], "--check", check, "--ignore", "stdout")
    assert "together they change the outcome" in done.out, done.err
    assert "some of these alone could not be judged: fewer may do" in done.out
    assert "undecided \N{MULTIPLICATION SIGN} 2: the check was undecided" in done.out


@pytest.mark.thorough
def test_reproduce_says_so_and_gives_the_exit_status(shell, runs):
    done = shell.run("reproduce", runs[1], "--times", "2")
    assert (done.status, "reproduced" in done.out) == (0, True)
    shell.write("agent.py", AGENT.replace('"Ulm"', '"Hof"'))
    changed = shell.run("reproduce", runs[1], "--times", "2", "--json")
    assert changed.status == 1
    assert changed.json["result"] == "different"
    assert "CHANGED at step 1" in changed.json["where"]
    (shell.folder / "agent.py").unlink()
    gone = shell.run("reproduce", runs[1])
    assert gone.status == 2
    assert "cannot run" in gone.out


@pytest.mark.thorough
def test_reproduce_runs_another_program_behind_two_dashes(shell, runs):
    shell.write("other.py", AGENT)
    done = shell.run("reproduce", runs[1], "--times", "1", "--", sys.executable, "other.py")
    assert done.status == 0, done.out


@pytest.mark.thorough
def test_report_writes_a_page_with_the_recording_in_it(shell, runs):
    bad, good = runs
    done = shell.run("report", bad, "-o", "out/page.html", "--good", good, "--check", CHECK, "--times", "1")
    assert done.status == 0, done.err
    shown = (shell.folder / "out/page.html").read_text()
    for title in (
        "Attempts to reproduce it",
        "The decisive step",
        "Compared with a good run",
        "Answers of the good run",
        "Commands",
    ):
        assert f"<h2>{title}</h2>" in shown
    assert "data:application/zip;base64," in shown
    assert f"reenact bisect {bad} --good {good}" in shown


@pytest.mark.thorough
def test_a_page_in_markdown_has_the_recording_beside_it(shell, runs):
    done = shell.run("report", runs[0], "-o", "page.md", "--times", "0")
    assert done.status == 0, done.err
    assert "## What happened" in (shell.folder / "page.md").read_text()
    assert reenact.load(shell.folder / "page.reenact").id == runs[0]
    again = shell.run("report", runs[0], "-o", "page.md", "--times", "0")
    assert (again.status, "--force replaces it" in again.err) == (2, True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "said"),
    [(("-o", "page.pdf"), "report.html or report.md"), (("-o", "page.md", "--check", "true"), "--good ID")],
)
def test_a_page_that_cannot_be_meant_costs_one_line(shell, runs, words, said):
    done = shell.run("report", runs[0], *words)
    assert done.status == 2
    assert said in done.ours[0]
    assert not list(shell.folder.glob("page*"))
