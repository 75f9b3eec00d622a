"""Each command that an output names does what it says, from the place and for the kind of reference that was typed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from reenact.analysis.interchange.importers import ImportedRun, keep
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team.open import Reaching
from tests.analysis.conftest import does, says
from tests.hints import followed

NAMED = re.compile(r"`reenact ([^`]+)`|\(reenact (show [^)]+)\)")
PROGRAM = """import reenact
@reenact.tool
def look(order):
    return 'late'
@reenact.tool
def tell(text):
    return 'sent ' + text
if __name__ == '__main__':
    print(tell(look(7)))
"""
RUN = ImportedRun(
    "support", [*(does("fetch_page", {"n": 1}, "a long text " * 200) for _ in range(3)), says("done")]
)


def named(text):
    """The commands that an output names."""
    return [shlex.split(one or other) for one, other in NAMED.findall(text.replace("\n", " "))]


@pytest.fixture(params=["id", "last", "file", "file with a space", "home"])
def typed(request, run, home, tmp_path):
    """A reference as a user types it."""
    store = LocalStore(tmp_path / "elsewhere" if request.param == "home" else home)
    id = keep(store, RUN)
    if request.param == "home":
        return ["--home", store.root, id]
    if request.param in {"id", "last"}:
        return [id if request.param == "id" else "last"]
    name = "a bug.reenact" if "space" in request.param else "bug.reenact"
    assert run("export", id, name)[0] == 0
    assert run("rm", id, "--yes")[0] == 0
    return [name]


def test_the_commands_that_an_output_names_find_the_recording(run, typed):
    _, diagnosed, _ = run("diagnose", *typed)
    commands = [followed(diagnosed, "cli/render/diagnose.py", "show")]
    for more in ((), ("1-3",)):
        _, out, _ = run("show", *typed, *more)
        commands.append(followed(out, "cli/transcript.py", "show"))
    for one in commands:
        status, shown, problem = run(*one)
        assert status == 0, (one, problem)
        assert "fetch_page" in shown


@pytest.mark.parametrize(
    "words",
    [
        ["show"], ["replay"], ["reproduce"], ["prove"], ["fork", "--at", "1"], ["diff", "last"], ["diagnose"], ["files"],
        ["export"], ["keep"], ["report", "-o", "page.md"], ["rm", "--yes"], ["watch"],
        ["debug", "--plain"], ["bisect", "--good", "last", "--check-output"], ["export-script"], ["video"],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_every_command_suggests_the_reference_that_was_mistyped(run, home, words):
    id = keep(LocalStore(home), RUN)
    verb, *more = words
    for typed, meant in (
        ("lst", "last"),
        (id[:-1] + "_", id),
        ("suport", f"{id}, the newest named 'support'"),
    ):
        status, out, err = run(verb, typed, *more)
        said = out + err
        assert status, said
        assert f"no recording '{typed}' in" in said
        assert f"; did you mean {meant}? `reenact list` shows all" in said.replace("\n", " ")
        status, _, err = run("show", meant.partition(",")[0])
        assert status == 0, err


def test_a_reference_unlike_any_has_no_suggestion(run, home):
    keep(LocalStore(home), RUN)
    # Not the beginning of an id: these have no i, l, o and u.
    for typed in ("nothere", "o", "\x1b[2J", "l" * 200):
        _, _, err = run("show", typed)
        assert "did you mean" not in err
        assert "`reenact list` shows all" in err


def test_a_name_that_would_act_on_the_terminal_is_not_suggested(run, home):
    keep(LocalStore(home), ImportedRun("support\x1b[2J", RUN.effects))
    assert "did you mean" not in run("show", "support")[2]


def test_the_console_opens_an_exported_file(run, home, tmp_path):
    id = keep(LocalStore(tmp_path / "theirs"), RUN)
    assert run("export", "--home", tmp_path / "theirs", id, "bug.reenact")[0] == 0
    store = Reaching(home)
    for _ in range(2):
        found = store.kept("bug.reenact")
        assert store.load(found).name == "support"
    with pytest.raises(UsageError, match=f"name its home: --home .*theirs {id}"):
        store.kept(str(tmp_path / "theirs" / "recordings" / id))


def test_a_tool_that_ran_for_real_is_followed_by_a_fork(shell):
    shell.write("agent.py", PROGRAM)
    shell.record("agent.py")
    shell.write("agent.py", PROGRAM.replace("'late'", "'lost'"))
    replayed = shell.run("replay", "--live", "tool", "last")
    assert replayed.status == 1
    assert "realign" not in replayed.err
    done = shell.run(*followed(replayed.err, "cli/render/replay.py", "fork"))
    assert (done.status, done.out) == (0, "sent lost\n")


def test_a_replay_of_another_program_is_followed_by_a_fork_of_that_program(shell):
    shell.write("agent.py", PROGRAM)
    shell.record("agent.py")
    shell.write("mended.py", PROGRAM.replace("'late'", "'lost'"))
    replayed = shell.run("replay", "--live", "tool", "last", "--", sys.executable, "mended.py")
    done = shell.run(*followed(replayed.err, "cli/render/replay.py", "fork"))
    assert (done.status, done.out) == (0, "sent lost\n")


PAYING = """import reenact
@reenact.tool(kind="shop")
def refund(order):
    return 'REF-1'
@reenact.tool
def cancel(order):
    return refund(order)
@reenact.tool(kind='model', name='gpt')
def answer(messages):
    return 'sent ' + messages
print(answer(cancel(7)))
"""


def test_a_mended_tool_that_leaves_a_call_out_is_followed_by_a_fork_too(shell):
    shell.write("agent.py", PAYING)
    shell.record("agent.py")
    shell.write("agent.py", PAYING.replace("return refund(order)", "return 'nothing'"))
    replayed = shell.run("replay", "--live", "tool", "last")
    assert replayed.status == 1
    assert "MISSING" in replayed.err
    assert "realign" not in replayed.err
    done = shell.run(*followed(replayed.err, "cli/render/replay.py", "fork"))
    assert (done.status, done.out) == (0, "sent nothing\n")


@pytest.mark.parametrize("name", ["bug.reenact", "a bug.reenact"])
def test_a_program_that_is_gone_is_replaced_by_the_suggested_command(shell, name):
    shell.write("agent.py", PROGRAM)
    shell.record("agent.py")
    assert shell.run("export", "last", "-o", name).status == 0
    assert shell.run("rm", "last", "--yes").status == 0
    (shell.folder / "agent.py").rename(shell.folder / "moved.py")
    replayed = shell.run("replay", "--run-foreign", name)
    assert replayed.status == 2
    (command,) = re.findall(r"say what to run: reenact (.+)", replayed.err)
    words = ["moved.py" if word == "agent.py" else word for word in shlex.split(command)]
    done = shell.run(*[sys.executable if word == "python" else word for word in words])
    assert (done.status, done.out) == (0, "sent late\n"), done.err


def test_a_read_that_the_recording_lacks_is_kept_by_a_fork_and_by_a_new_recording(shell):
    shell.write("agent.py", PROGRAM)
    shell.record("agent.py")
    more = "    import os, time\n    print(os.environ.get('NEW_LIMIT'), time.time())\n"
    shell.write("agent.py", PROGRAM + more)
    env = {"NEW_LIMIT": "7"}
    replayed = shell.run("replay", "last", env=env)
    assert replayed.status == 1
    said = " ".join(replayed.err.split())
    for read in ("env:NEW_LIMIT", "clock:time"):
        assert (
            f"a read of {read} in main that was not recorded got the present value; record again, or fork, to keep it"
        ) in said
    forked = shell.run("fork", "last", "--at", "2", env=env)
    assert forked.status == 0, forked.err
    for _ in ("the fork", "the new recording"):
        again = shell.run("replay", "last", env={"NEW_LIMIT": "8"})
        assert (again.status, "faithful" in again.err) == (0, True), again.err
        assert "\n7 " in again.out
        assert shell.run("record", "--", sys.executable, "agent.py", env=env).status == 0


AGENT = """import sys, reenact
@reenact.tool
def look(order):
    return 'late'
print(look(7))
"""


@pytest.fixture
def received(shell):
    """A recording from another machine: as a file and as a page, beside the program's own folder here."""
    there = shell.folder / "theirs"
    there.mkdir()
    (there / "agent.py").write_text(AGENT)
    environ = {"REENACT_HOME": str(there / "home")}
    assert shell.run("record", "--", sys.executable, "agent.py", cwd=there, env=environ).status == 0
    for name in ("bug.reenact", "bug.html"):
        assert shell.run("export", "last", shell.folder / name, cwd=there, env=environ).status == 0
    there.rename(shell.folder / "gone")
    return shell


def test_a_page_in_place_of_a_recording_is_answered_with_the_file_to_ask_for(received):
    for verb in ("show", "replay", "import", "diagnose", "keep"):
        done = received.run(verb, "bug.html")
        assert done.status == 2
        assert "bug.html is a page, to open in a browser; commands need the recording itself" in done.err


def test_a_foreign_recording_is_kept_as_a_test_of_the_program_that_is_here(received):
    words = ["keep", "bug.reenact", "--as", "tests/test_bug.py"]
    refused = received.run(*words)
    assert refused.status == 2
    assert "--run-foreign allows that, or an --entry of your own" in refused.err
    received.write("agent.py", AGENT)
    done = received.run(*words, "--run-foreign")
    assert done.status == 0, done.err
    (command,) = re.findall(r"say what to run: reenact (.+)", done.err)
    again = received.run(*[sys.executable if word == "python" else word for word in shlex.split(command)])
    assert again.status == 0, again.err
    assert 'cwd=here / ".."' in (received.folder / "tests/test_bug.py").read_text()
    checked = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_bug.py"],
        cwd=received.folder, env=received.environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 passed" in checked.stdout, checked.stdout


def test_a_test_whose_folder_is_gone_says_so(received):
    done = received.run("keep", "bug.reenact", "--as", "tests/test_bug.py", "--run-foreign")
    assert done.status == 0, done.err
    checked = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_bug.py"],
        cwd=received.folder, env=received.environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert re.search("there is no folder .*theirs to run", checked.stdout), checked.stdout


def test_the_commands_of_a_report_work_for_a_reader_on_another_machine(shell):
    shell.write("agent.py", PROGRAM)
    _, good = shell.record("agent.py")
    shell.record("agent.py")
    bad = shell.last().id
    assert shell.run("report", "last", "--good", good.id, "-o", "page.md").status == 0
    page = (shell.folder / "page.md").read_text()
    assert shell.run("export", good.id, "-o", "good.reenact").status == 0
    # The reader has a home of their own, and the program where it was.
    env = {"REENACT_HOME": str(shell.folder / "reader")}
    assert shell.run("import", "good.reenact", env=env).status == 0
    commands = [
        followed(page, "verbs/report.py", "import"),
        followed(page, "verbs/report.py", "show"),
        followed(page, "verbs/report.py", "replay"),
        followed(page, "verbs/report.py", "reproduce"),
        followed(page, "verbs/report.py", "keep"),
        followed(page, "verbs/report.py", "bisect {"),
    ]
    for words in commands:
        done = shell.run(*words, env=env)
        # Both runs printed the same: there is no difference for a search to explain.
        assert done.status == (2 if words[0] == "bisect" else 0), (words, done.err)
        assert "may run here" not in done.err
        assert words[0] == "import" or bad in words


def test_the_commands_of_an_exported_page_work_beside_its_recording(shell):
    shell.write("agent.py", PROGRAM)
    shell.record("agent.py")
    assert shell.run("export", "last", "-o", "bug.reenact").status == 0
    env = {"REENACT_HOME": str(shell.folder / "reader")}
    assert shell.run("import", "bug.reenact", env=env).status == 0
    for home in ({}, env):
        assert shell.run("export", "last", "-o", "page.html", "--force", env=home).status == 0
        page = re.sub(r"</?(code|dd|dt|div)[^>]*>", "\n", (shell.folder / "page.html").read_text())
        replayed = shell.run(*followed(page, "verbs/export_html.py", "replay"), env=home)
        assert (replayed.status, "faithful" in replayed.err) == (0, True), replayed.err
        words = followed(page, "verbs/export_html.py", "debug")
        debugged = shell.run(*words, "--plain", text="c\nq\n", env=home)
        assert "sent late" in debugged.out + debugged.err, debugged.err


def test_the_lists_that_errors_name_are_printed(run, home):
    id = keep(LocalStore(home), RUN)
    asked = (("show", "support"), ("diagnose", id, "--rule", "zzzz"), ("trust", "remove", "zzzz"))
    for words in asked:
        status, out, err = run(*words)
        assert status, words
        commands = named(out + err)
        assert commands, out + err
        for command in commands:
            assert run(*command)[0] == 0, command
