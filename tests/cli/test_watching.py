"""reenact watch: a page, where it lies, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

import reenact
from tests.browser.watch.shop import buy


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


def test_the_path_of_the_page_is_printed_where_there_is_no_screen(run, home):
    folder = buy(home)
    status, out, _ = run("watch", "last", "--frames")
    page = Path(out.strip())
    assert status == 0
    assert page.parent == folder / "pages"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert page.stat().st_mode & 0o077 == 0


def test_a_file_that_is_there_is_replaced_by_force_alone(run, home, tmp_path):
    buy(home)
    page = tmp_path / "replay.html"
    assert run("watch", "last", "-o", page, "--frames")[0] == 0
    status, _, err = run("watch", "last", "-o", page, "--frames")
    assert (status, "--force replaces it" in err) == (2, True)
    assert run("watch", "last", "-o", page, "--frames", "--force")[0] == 0


def test_two_runs_and_an_exported_one_are_watched_as_well(run, home, tmp_path):
    good, bad = buy(home), buy(home, consent=False)
    assert run("export", good.name, tmp_path / "good.reenact")[0] == 0
    status, out, _ = run("watch", tmp_path / "good.reenact", bad.name, "--frames")
    assert status == 0
    assert "<title>buy a lamp and buy a lamp, again</title>" in Path(out.strip()).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nope"], "no recording 'nope'"),
        (["last", "--session", "4"], "has one browser session: there is no session 4"),
        (["last", "-o", "nowhere/page.html"], "there is no folder nowhere"),
        (["last", "-o", "."], "that is a folder"),
        (["./agent.py"], "agent.py is no exported recording; `reenact import` reads other formats"),
        (["./page.html"], "page.html is a page, to open in a browser"),
    ],
)
def test_a_mistake_costs_one_line(run, home, tmp_path, words, told):
    buy(home)
    (tmp_path / "agent.py").write_text("print('an agent')\n")
    (tmp_path / "page.html").write_text("<!doctype html><title>A page</title>")
    status, out, err = run("watch", *words)
    assert (status, out) == (2, "")
    assert told in err


def test_a_run_without_a_browser_is_refused(run, home):
    with reenact.record():
        reenact.effect("tool", "add", a=1).perform(lambda: 2)
    status, _, err = run("watch", "last")
    assert (status, "has no browser session to watch" in err) == (2, True)


def test_it_is_served_at_a_signed_address(home):
    buy(home)
    code = "import sys; from reenact.cli import main; sys.exit(main())"
    words = [sys.executable, "-c", code, "watch", "last", "--frames", "--serve", "--home", str(home)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as served:
        try:
            url = served.stdout.readline().strip()
            with urlopen(url) as answer:
                assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
                assert answer.read(15) == b"<!doctype html>"
        finally:
            served.terminate()
