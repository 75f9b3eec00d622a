"""The commands that pages, films and rare states name, each followed from the place where they were printed."""

from __future__ import annotations

import re
import sys
from html import unescape

import pytest

from reenact.analysis.interchange.importers import ImportedRun, keep
from reenact.analysis.report import exported
from reenact.analysis.views import file_tree
from reenact.browser.watch import content
from reenact.core.store.local import LocalStore
from reenact.verbs import player
from tests.analysis.conftest import does, says
from tests.cli.test_debugging import Typing
from tests.cli.test_named_commands import AGENT, FILES, refer
from tests.hints import followed

__all__ = ["refer"]
PYTHON = sys.executable
RUN = ImportedRun(
    "support",
    [*(does("fetch_page", {"n": n}, "a text") for n in range(4)), does("book", {}, "7"), says("done")],
)


def words_of(page):
    """The words of a page, without its marks."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())


# -- pages and films -----------------------------------------------------------------------------------------------


@pytest.mark.sampled
def test_a_page_that_leaves_files_out_names_their_list(shell, refer, run, monkeypatch):
    shell.write("agent.py", FILES)
    shell.record("agent.py")
    words = refer(shell)
    monkeypatch.setattr(file_tree, "_FILES", 2)
    assert run("export", *words, "-o", "page.html")[0] == 0
    said = words_of((shell.folder / "page.html").read_text())
    status, listed, _ = run(*followed(said, "analysis/report/exported.py", "files"))
    assert (status, set(re.findall(r"file (\d)", listed))) == (0, set("01234"))


@pytest.mark.sampled
def test_a_page_that_leaves_steps_out_names_what_shows_them(shell, refer, run, monkeypatch):
    keep(LocalStore(shell.home), RUN)
    words = refer(shell)
    monkeypatch.setattr(exported, "STEPS", 2)
    assert run("export", *words, "-o", "page.html")[0] == 0
    said = words_of((shell.folder / "page.html").read_text())
    status, shown, _ = run(*followed(said, "analysis/report/exported.py", "show"))
    assert (status, "book" in shown) == (0, True)


@pytest.fixture
def filmed(shell):
    """A recorded browser session."""
    pytest.importorskip("PIL")
    from tests.browser.watch.shop import buy

    buy(str(shell.home))
    return shell


@pytest.mark.sampled
def test_a_page_without_its_film_names_what_plays_it(filmed, refer, run, monkeypatch):
    words = refer(filmed)
    monkeypatch.setattr(player, "FILM", 1)
    _, _, err = run("export", *words, "-o", "page.html")
    status, out, err = run(*followed(err, "verbs/player.py", "watch"), "--frames")
    assert (status, out.strip().endswith(".html")) == (0, True), err


@pytest.mark.sampled
def test_a_full_page_of_a_session_names_what_shows_the_rest(filmed, refer, run, monkeypatch):
    words = refer(filmed)
    monkeypatch.setattr(content, "LETTERS", 3)
    assert run("watch", *words, "--frames", "-o", "page.html")[0] == 0
    from tests.browser.watch.test_content import inside

    said = str(inside(filmed.folder / "page.html", "data"))
    status, shown, err = run(*followed(said, "browser/watch/content.py", "show"))
    assert (status, "I open the lamp" in shown) == (0, True), err


def test_the_examples_of_a_debugger_and_a_session_in_the_help_run(filmed):
    said = filmed.run("--help").out
    watched = filmed.run(*followed(said, "cli/overview.py", "watch"))
    assert (watched.status, watched.out.strip().endswith(".html")) == (0, True), watched.err
    filmed.write("agent.py", AGENT)
    filmed.record("agent.py")
    with Typing(filmed, command=followed(said, "cli/overview.py", "debug")) as at:
        at.until("look")
        at.type("q")
        assert at.end() == 0


# -- rare states ---------------------------------------------------------------------------------------------------


UNSTEADY = """
    import reenact

    @reenact.tool
    def look(order): return open("mood.txt").read()

    def main():
        print(look(7), open("/proc/sys/kernel/random/uuid").read())

    if __name__ == "__main__":
        main()
"""
COUNTING = """
    import os, pathlib, sys

    # Each outcome is judged alike however often; the first is bad, the second good, and so on.
    seen, outcome = pathlib.Path({seen!r}), pathlib.Path(os.environ["REENACT_STDOUT"]).read_text()
    known = seen.read_text().splitlines() if seen.exists() else []
    if outcome.strip() not in known:
        known.append(outcome.strip())
        seen.write_text("\\n".join(known))
    sys.exit(1 - known.index(outcome.strip()) % 2)
"""


@pytest.mark.sampled(every=10)
def test_an_outcome_that_changes_from_replay_to_replay_names_what_says_more(shell, refer):
    shell.write("agent.py", UNSTEADY)
    for mood in ("good", "bad"):
        (shell.folder / "mood.txt").write_text(mood)
        shell.record("agent.py")
    assert shell.run("export", "last~1", "-o", "good.reenact").status == 0
    check = shell.write("check.py", COUNTING.format(seen=str(shell.folder / "seen.txt")))
    words = refer(shell)
    refused = shell.run(
        "bisect", *words, "--good", "good.reenact", "--check", f"'{PYTHON}' '{check}'", "--run-foreign"
    )
    assert refused.status == 2
    said = shell.run(*followed(refused.err, "verbs/reproduce/bisection.py", "reproduce"), "--run-foreign")
    assert (said.status, "flaky under replay" in said.out) == (1, True), said.out + said.err


BLOCK_OF_PROCESSES = """
    import subprocess, sys, reenact

    @reenact.tool(writes=False)
    def ask(question): return question

    ask("first")
    subprocess.run([sys.executable, "worker.py"], check=True)
    print(ask("second"))
"""
WORKER = """
    import reenact

    @reenact.tool
    def draw(): return 7

    open("log.txt", "a").write(str(draw()))
"""
FORKING = """
    import sys, reenact
    from reenact.errors import UsageError

    if __name__ == "__main__":
        try:
            reenact.fork("last", at=int(sys.argv[1]))
        except UsageError as error:
            print(error)
"""


def test_a_block_that_cannot_fork_processes_names_the_command_that_can(shell):
    shell.write("agent.py", BLOCK_OF_PROCESSES)
    shell.write("worker.py", WORKER)
    _, recording = shell.record("agent.py")
    step = next(step.number for step in recording if step.args.get("question") == "second")
    shell.write("forking.py", FORKING)
    refused = shell.plain("forking.py", str(step)).stdout
    done = shell.run(*followed(refused, "run/fork/started.py", "fork"))
    assert (done.status, done.out) == (0, "second\n"), done.err
