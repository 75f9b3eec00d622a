"""reenact diff, as a person, a script and a browser see it."""

from __future__ import annotations

import json
import os
import re
import sys
from html.parser import HTMLParser

import pytest
from rich.cells import cell_len

import reenact
from tests.forked import forker

COMMAND = [sys.executable, "-c", "import sys; from reenact.cli import main; sys.exit(main())"]


@reenact.tool
def search(query):
    return f"results for {query}: " + "one of many rows " * 20


@reenact.tool
def cancel(order, reason):
    return {"order": order, "cancelled": True}


@reenact.tool(kind="model", name="gpt-4o")
def ask(messages, answer):
    usage = {"prompt_tokens": 1200, "completion_tokens": len(answer)}
    return {"choices": [{"message": {"role": "assistant", "content": answer}}], "usage": usage}


def agent(*, answer="Yes, it can be cancelled.", reason="wrong size", searches=6, name="support"):
    with reenact.record(name, tags=["t"]) as recording:
        for number in range(searches):
            search(f"order {number}")
        recording.output = ask([{"role": "user", "content": "Can it be cancelled?"}], answer)["choices"][0][
            "message"
        ]["content"]
        cancel("ORD-1", reason)
    return recording.id


def test_a_run_and_itself_are_the_same(run):
    id = agent()
    status, out, err = run("diff", id, id)
    assert status == 0
    assert "the same: 8 steps" in out
    assert err == ""


def test_the_parting_is_told_first_and_marked_in_the_steps(run):
    status, out, _ = run("diff", agent(), agent(answer="No, it can not be cancelled."))
    assert status == 1
    assert "First difference at step 7 of A, step 7 of B: a different question, and a different answer" in out
    assert (
        out.index("First difference") < out.index("first difference") < out.index("   7    7  ~ model:gpt-4o")
    )
    assert "…     6 equal steps: 1-6" in out
    assert "[-Yes-]{+No+}, it can {+not +}be cancelled." in out
    assert not re.search(r"[\x1b]| $", out, re.MULTILINE)


def test_arguments_are_compared_word_by_word(run):
    _, out, _ = run("diff", agent(), agent(reason="wrong colour"))
    assert "args.reason\n" in out
    assert "wrong [-size-]{+colour+}" in out


def test_what_only_one_run_has_stands_with_what_it_is(run):
    _, out, _ = run("diff", agent(searches=3), agent(searches=4))
    assert re.search(r"^ +4  \+ tool:search  only in B", out, re.MULTILINE)
    assert "query=order 3 → results for order 3" in out


def test_totals_stand_side_by_side(run):
    _, out, _ = run("diff", agent(), agent(answer="No."))
    assert re.search(r"^output tokens +25 +3 +-22$", out, re.MULTILINE)
    assert re.search(r"^steps +8 +8$", out, re.MULTILINE)


def test_all_shows_equal_steps_and_whole_texts(run):
    a, b = agent(), agent(answer="Yes, it can be cancelled. " + "And so on. " * 200)
    brief, whole = run("diff", a, b)[1], run("diff", a, b, "--all")[1]
    assert " … " in brief
    assert whole.count("And so on.") > 200
    assert re.search(r"^   1    1  = tool:search", whole, re.MULTILINE)


def test_json_has_the_documented_keys(run):
    status, out, _ = run("diff", agent(), agent(answer="No, it can be cancelled."), "--json")
    found = json.loads(out)
    assert status == 1
    assert list(found) == [
        "same", "a", "b", "counts", "shared", "parting", "ending", "program", "ignored", "pairs",
    ]  # fmt: skip
    assert found["counts"] == {"same": 7, "changed": 1, "inserted": 0, "deleted": 0, "moved": 0}
    assert found["parting"]["a"] == found["parting"]["b"] == 7
    pair = found["pairs"][found["parting"]["pair"]]
    assert pair["kind"] == "changed"
    assert pair["a"]["input_tokens"] == 1200
    answer = next(item for item in pair["differences"] if item["path"] == "answer.text")
    assert answer["words"] == [["-", "Yes"], ["+", "No"], ["=", ", it can be cancelled."]]


class Tags(HTMLParser):
    """What a browser would open, run, fetch and show."""

    def __init__(self, text):
        super().__init__()
        self.names, self.links, self.open, self.texts = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        self.links += [value for key, value in attributes if key in ("src", "href", "style", "onclick")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_needs_nothing_else_and_escapes_all(run, tmp_path):
    evil = "<script>alert(1)</script> & \"quotes\" <img src=x onerror='alert(2)'> \x1b[31m"
    a, b = agent(name=evil), agent(answer=f"Yes {evil}", reason=evil, name=evil)
    status, out, err = run("diff", a, b, "--html", tmp_path / "d.html")
    assert (status, out) == (1, "")
    assert "written to" in err
    text = (tmp_path / "d.html").read_text(encoding="utf-8")
    page = Tags(text)
    assert page.open == []
    assert not {"script", "img", "link", "iframe"} & set(page.names)
    assert {link for link in page.links if not link.startswith("#section-")} == {"#parting"}
    assert "url(" not in text
    assert "@import" not in text
    assert "\x1b" not in text
    assert {"del", "ins", "details"} <= set(page.names)
    assert any("<script>alert(1)</script>" in shown for shown in page.texts)
    assert "prefers-color-scheme: dark" in text


def test_mistakes_cost_one_line(run, tmp_path):
    id = agent()
    with reenact.record("nothing") as nothing:
        pass
    other = agent(name="other")
    for arguments, word in (
        (("diff", id, "nowhere"), "no recording 'nowhere'"),
        (("diff", "zzz", id), "no recording 'zzz'"),
        (("diff", id, nothing.id), "has no steps"),
        (("diff", id, other, "--html", tmp_path), "is a folder"),
        (("diff", id, other, "--html", tmp_path / "no" / "d.html"), "there is no folder"),
        (("diff", id, other, "--ignore", "seed"), "begins with `args`"),
    ):
        status, out, err = run(*arguments)
        assert (status, out) == (2, ""), arguments
        assert word in err
        assert err.count("\n") == 1


def test_runs_that_share_nothing_cost_one_line(run, tmp_path):
    a = agent(searches=0)
    with reenact.record("stranger") as stranger:
        search("the weather")
    status, out, err = run("diff", a, stranger.id, "--html", tmp_path / "d.html")
    assert (status, out) == (2, "")
    assert f"{a} and {stranger.id} share nothing" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "d.html").exists()
    status, out, _ = run("diff", a, stranger.id, "--all")
    assert status == 1
    assert "2 only in A · 1 only in B" in out


def test_help_tells_the_options(run):
    status, out, _ = run("diff", "--help")
    assert status == 0
    for option in ("--html", "--all", "--ignore", "--json", "--home"):
        assert option in out


def test_a_page_of_very_many_differences_has_the_first_ones_unless_all_are_wanted(run, tmp_path):
    a, b = agent(searches=0), agent(searches=130)
    run("diff", a, b, "--html", tmp_path / "d.html")
    brief = (tmp_path / "d.html").read_text(encoding="utf-8")
    run("diff", a, b, "--html", tmp_path / "d.html", "--all")
    whole = (tmp_path / "d.html").read_text(encoding="utf-8")
    assert brief.count("<article") == 100
    assert "And 30 more differences" in brief
    assert whole.count("<article") == 130


def test_nothing_of_the_recordings_is_changed(run, home, tmp_path):
    a, b = agent(), agent(answer="No.")

    def files():
        return {path: path.read_bytes() for path in reenact_home.rglob("*") if path.is_file()}

    reenact_home = tmp_path / "home"
    before = files()
    run("diff", a, b, "--html", tmp_path / "d.html")
    assert files() == before


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_on_a_terminal_nothing_is_wider_than_it(home, columns):
    a = agent(name="客服" * 20)
    b = agent(answer="不能取消。" * 30, reason="a/very/long/word/without/any/spaces" * 5, searches=3)
    out = forker.on_a_terminal(["diff", a, b, "--all"], dict(os.environ), columns)
    assert "First difference" in out
    for line in out.splitlines():
        assert cell_len(line.rstrip()) <= columns, line
