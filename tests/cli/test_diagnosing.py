"""`reenact diagnose`: findings for people and for programs, the exit status, and one line for each mistake."""

from __future__ import annotations

import pytest

from reenact.analysis.interchange.importers import Happened, ImportedRun, keep
from reenact.core.store.local import LocalStore
from tests.analysis.conftest import does, says


@pytest.fixture
def run(shell):
    """Keep what happened where the shell looks for recordings; returns the id."""
    store = LocalStore(shell.home)

    def write(*effects, **more):
        return keep(store, ImportedRun(more.pop("name", "support"), effects, **more))

    return write


LOOP = [does("fetch_page", {"n": 1}) for _ in range(3)]


def test_findings_are_told_by_step_with_what_they_rest_on(shell, run):
    id = run(*LOOP, says("done"))
    done = shell.run("diagnose", "last")
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0].split() == ["support", id, "4", "steps,", "ok"]
    assert lines[1].split() == ["step", "2", "tool:fetch_page", "main"]
    assert lines[2].strip().startswith("error")
    assert "the same call 3 times in a row, from step 1 to 3  [loop]" in lines[2]
    assert "fetch_page(n=1)" in lines[3]
    assert f"`reenact show {id} 2` shows the first" in lines[-1]
    assert all(line == line.rstrip() for line in lines)


def test_evidence_that_the_sentence_repeats_is_told_once(shell, run):
    run(Happened("browser", "click", {"selector": "#pay"}, None, "the button is covered"))
    out = shell.run("diagnose", "last", "--rule", "failed-action").out
    assert "click failed" in out
    assert out.count("the button is covered") == 1


def test_a_run_with_nothing_odd_is_exit_status_0(shell, run):
    run(says("hello"))
    done = shell.run("diagnose", "last")
    assert (done.status, "nothing odd" in done.out) == (0, True)


def test_warnings_alone_are_exit_status_0(shell, run):
    run(does("look", error="TimeoutError"), says("I could not look.", ("look", {})))
    done = shell.run("diagnose", "last", "--rule", "tool-error")
    assert (done.status, "warning" in done.out) == (0, True)


def test_json_has_every_finding(shell, run):
    first, second = run(*LOOP, says("done")), run(says("hello"))
    done = shell.run("diagnose", first, second, "--json", "--rule", "loop")
    assert [(one["id"], one["steps"]) for one in done.json] == [(first, 4), (second, 1)]
    (found,) = done.json[0]["findings"]
    assert {key: found[key] for key in ("rule", "severity", "step", "others", "judge")} == {
        "rule": "loop",
        "severity": "error",
        "step": 2,
        "others": [1, 2, 3],
        "judge": False,
    }
    assert done.json[1]["findings"] == []


def test_rules_are_chosen_on_the_command_line(shell, run):
    run(*LOOP, says("done"))
    assert "loop" not in shell.run("diagnose", "last", "--no-rule", "loop").out
    assert shell.run("diagnose", "last", "--rule", "loop", "--json").json[0]["findings"][0]["rule"] == "loop"


def test_settings_of_the_folder_count(shell, run):
    run(*LOOP, says("done"))
    shell.write("pyproject.toml", "[tool.reenact.diagnose]\nloop.severity = 'info'\n")
    done = shell.run("diagnose", "last")
    assert (done.status, "info    the same call 3 times" in done.out) == (0, True)


def test_a_baseline_is_a_filter(shell, run):
    for _ in range(6):
        run(does("look"), tags=("good",))
    run(*[does("look", {"n": n}) for n in range(8)])
    done = shell.run("diagnose", "last", "--baseline", "tag:good", "--rule", "many-steps")
    assert "8.0 times the median of 6 others" in done.out


def test_many_steps_are_cut_and_all_shows_them(shell, run):
    run(*[does("look", {"n": n}, error="boom") for n in range(6)])
    short = shell.run("diagnose", "last", "--rule", "tool-error", "-n", "2").out
    assert (short.count("look failed"), "4 steps more with --all" in short) == (2, True)
    assert shell.run("diagnose", "last", "--rule", "tool-error", "--all").out.count("look failed") == 6


def test_the_rules_are_listed(shell):
    done = shell.run("diagnose", "--rules")
    assert done.status == 0
    assert [line for line in done.out.splitlines() if line.startswith("context-growth") and " off " in line]
    about = {one["rule"]: one for one in shell.run("diagnose", "--rules", "--json").json}
    assert about["loop"]["options"] == {"times": 3}
    assert about["slow"]["baseline"] is True


def test_control_characters_of_a_recording_do_not_reach_the_terminal(shell, run):
    run(does("look", error="\x1b[31mboom\x1b]0;title\x07"))
    assert "\x1b" not in shell.run("diagnose", "last", "--rule", "tool-error").out


def test_without_an_id_the_newest_recording_is_diagnosed(shell, run):
    run(says("hello"))
    run(does("look", error="boom"))
    newest = shell.run("diagnose", "last")
    assert "look" in newest.out
    assert shell.run("diagnose").out.replace("show last", "show") == newest.out.replace("show last", "show")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("diagnose", "nope"), "nope"),
        (("diagnose", "last", "--rule", "lop"), "there is no rule 'lop'; did you mean 'loop'?"),
        (("diagnose", "last", "--no-rule", "lop"), "there is no rule 'lop'; did you mean 'loop'?"),
        (("diagnose", "last", "--baseline", "tokens >"), "expected a value"),
        (("diagnose", "last", "--judge", "nobody:nothing"), "the judge nobody:nothing could not be asked"),
    ],
)
def test_mistakes_cost_one_line(shell, run, words, line):
    run(says("hello"))
    done = shell.run(*words)
    assert done.status == 2
    assert len(done.ours) == 1
    assert line in done.ours[0]
    assert "Traceback" not in done.err


def test_settings_that_do_not_parse_cost_one_line(shell, run):
    run(says("hello"))
    shell.write("reenact.toml", "[diagnose\n")
    done = shell.run("diagnose", "last")
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert "reenact.toml:1:10: " in done.ours[0]


def test_modules_are_imported_from_a_trusted_file_only(shell, run):
    run(says("hello"))
    shell.write(
        "house_rules.py",
        """
        import reenact
        from reenact.analysis.anomalies import RuleFinding

        open("imported", "w").close()

        @reenact.rule("house")
        def house(case):
            "Ours."
            yield RuleFinding(None, "found by the house")
        """,
    )
    shell.write("reenact.toml", '[diagnose]\nmodules = ["house_rules"]\n')
    done = shell.run("diagnose", "last")
    assert (done.status, (shell.folder / "imported").exists()) == (2, False)
    [line] = done.ours
    assert line.startswith("reenact: reenact.toml:2:11: diagnose.modules: it imports Python modules, ")
    assert line.endswith("reenact.toml is not trusted: look at the file, then `reenact config --trust`")
    assert shell.run("config", "--trust").status == 0
    assert "found by the house" in shell.run("diagnose", "last").out


def test_rules_are_set_by_a_file_above_the_folder(shell, run):
    run(*LOOP, says("done"))
    shell.write("reenact.toml", "[diagnose]\nloop = false\n")
    inner = shell.folder / "inner"
    inner.mkdir()
    assert "the same call" not in shell.run("diagnose", "last", cwd=inner).out


@pytest.mark.thorough
def test_a_recording_without_outputs_costs_one_line_and_spares_the_others(shell, run):
    good = run(says("hello"))
    done, empty = shell.record("-c", "pass")
    done = shell.run("diagnose", empty.id, good)
    assert done.status == 2
    assert done.ours == [f"reenact: recording {empty.id} cannot be diagnosed: it has no steps"]
    assert good in done.out


def test_a_recording_that_cannot_be_read_does_not_hide_the_others(shell, run):
    good, bad = run(says("hello")), run(says("hello"))
    (LocalStore(shell.home).folder(bad) / "events.jsonl").write_text("nonsense\n")
    done = shell.run("diagnose", bad, good, "--json")
    assert (done.status, [one["id"] for one in done.json], len(done.ours)) == (2, [good], 1)
    done = shell.run("diagnose", bad, "--json")
    assert (done.status, done.out, len(done.ours)) == (2, "", 1)
