"""list and show, as a person and as a script use them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

import reenact
from reenact.analysis.interchange import importers
from reenact.analysis.views.text import ago, count, money, numbers, seconds
from reenact.cli import recordings
from reenact.core.store.local import LocalStore
from reenact.run.files import scratch
from tests.forked import forker

TAU = Path(__file__).parents[1] / "analysis" / "interchange" / "importers" / "data" / "tau_bench.jsonl"

COMMAND = [sys.executable, "-c", "import sys; from reenact.cli import main; sys.exit(main())"]


@reenact.tool
def lookup_order(order_id):
    return {"status": "delivered", "note": "客户要求退款 🙂"}


@reenact.tool
def cancel_order(order_id):
    lookup_order(order_id)
    raise ValueError("it was \x1b[31mdelivered\x1b[0m")


@reenact.tool(kind="model", name="gpt-4o")
def ask(messages):
    call = {"id": "c1", "function": {"name": "cancel_order", "arguments": '{"order_id": "ORD-5521"}'}}
    last = messages[-1]["role"] == "tool"
    message = (
        {"role": "assistant", "content": "It cannot be cancelled."}
        if last
        else {"role": "assistant", "content": None, "tool_calls": [call]}
    )
    return {"choices": [{"message": message}], "usage": {"prompt_tokens": 1200, "completion_tokens": 34}}


def agent(name="support", tags=("staging",)):
    with reenact.record(name, tags=tags) as recording:
        messages = [
            {"role": "system", "content": "Policy. " * 400},
            {"role": "user", "content": "Cancel ORD-5521"},
        ]
        ask(list(messages))
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "function": {"name": "cancel_order", "arguments": '{"order_id": "ORD-5521"}'},
                    }
                ],
            }
        )
        try:
            cancel_order("ORD-5521")
        except ValueError as error:
            messages.append({"role": "tool", "tool_call_id": "c1", "content": str(error)})
        ask(list(messages))
        recording.output = "done"
    return recording.id


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return LocalStore(tmp_path / "home")


def test_an_empty_store_says_how_to_make_a_recording(run, home):
    assert run("list") == (
        0,
        "",
        f"no recordings in {home.root}; `reenact record -- python agent.py` makes one\n",
    )
    assert not home.root.exists()


def test_the_list_has_a_run_on_one_line(run):
    id = agent()
    status, out, err = run("list")
    title, line = out.splitlines()
    assert title.split() == [
        "id",
        "when",
        "agent",
        "status",
        "prompt",
        "outcome",
        "steps",
        "model",
        "tokens",
        "cost",
        "time",
        "tags",
    ]
    assert line.startswith(id)
    for word in ("now", "support", "ok", "4", "gpt-4o", "2.5k", "#staging"):
        assert word in line.split()
    assert not re.search(r"[\x1b\u2500-\u257f]| $", out, re.MULTILINE)
    assert (status, err) == (0, "")


def test_a_filter_says_in_which_steps_it_found_something(run):
    agent()
    _, out, _ = run("list", "tool:cancel_order", "error")
    assert "found in" in out
    assert re.search(r" 4 +2 +gpt-4o", out)


def test_a_search_says_which_index_it_used_and_its_work(run):
    for _ in range(3):
        agent()
    with reenact.record("other"), pytest.raises(ValueError, match="delivered"):
        cancel_order("ORD-1")
    _, out, err = run("list", 'args.order_id == "ORD-1"', "--why")
    assert len(out.splitlines()) == 2
    assert err == "index: facts of arguments and outputs; looked into 1 of 4 recordings, 2 steps\n"
    _, _, err = run("list", "error", "--why")
    assert err == "index: columns of steps; looked into 4 of 4 recordings, 4 steps\n"
    assert run("list", "--why")[2] == "index: columns of recordings; no steps were looked into\n"


def test_what_is_not_found_is_said_and_bare_words_are_explained(run):
    agent()
    assert run("list", "refund") == (
        0,
        "",
        (
            "no recordings match (1 searched); no step is of kind 'refund': for text, write '\"refund\"', "
            "for an id 'id:refund*'\n"
        ),
    )
    for words in ("#good", "label:good"):
        assert run("list", words)[2].endswith(": for a tag or label, write 'tag:good'\n")
    for words in ("tool:nothing", "tag:nope", "t*:nothing"):
        assert run("list", words)[2] == "no recordings match (1 searched)\n"
    assert run("list", "--tag", "nope")[1] == ""


def test_a_run_without_steps_is_shown_without_empty_space(run):
    with reenact.record("short"):
        os.environ.get("SHORT")
    out = run("show", "last")[1]
    assert "also recorded: " in out
    assert "\n\n\n" not in out


def test_tags_status_and_limit_narrow_the_list(run):
    for number in range(4):
        agent(f"run{number}", tags=[f"t{number % 2}"])
    assert [row["name"] for row in json.loads(run("list", "--json")[1])] == ["run3", "run2", "run1", "run0"]
    assert [row["name"] for row in json.loads(run("list", "--tag", "t1", "--json")[1])] == ["run3", "run1"]
    _, out, err = run("list", "-n", 1)
    assert (len(out.splitlines()), err) == (2, "1 of 4; --all shows the others\n")
    assert len(run("list", "-n", 1, "--all")[1].splitlines()) == 5
    assert run("list", "--status", "error")[1] == ""
    assert run("list", "--status", "fine")[0] == 2


def test_the_list_tells_what_was_asked_and_how_it_ended(run):
    agent()
    line = json.loads(run("list", "--json")[1])[0]
    assert (line["prompt"], line["outcome"], line["script"]) == (
        "Cancel ORD-5521",
        "done",
        None,
    )
    _, out, _ = run("list")
    assert re.search(r"support +ok +Cancel ORD-5521 +done +4", out)


def test_the_list_is_sorted_by_a_column_and_in_reverse(run):
    for name in ("b", "a", "c"):
        agent(name)

    def names(sort):
        return [row["name"] for row in json.loads(run("list", "--sort", sort, "--json")[1])]

    assert (names("when"), names("-when")) == (["c", "a", "b"], ["b", "a", "c"])
    assert (names("agent"), names("-agent")) == (["a", "b", "c"], ["c", "b", "a"])
    assert len(run("list", "--sort", "agent", "-n", 1)[1].splitlines()) == 2
    status, out, err = run("list", "--sort", "size")
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "--sort size: it is one of when, agent" in err


def test_broken_and_unsealed_ones_are_listed_with_a_word(run, home):
    agent()
    (home.folder("broken0000")).mkdir()
    (home.folder("broken0000") / "events.jsonl").write_text("nonsense\n")
    id = agent("cut")
    events = home.folder(id) / "events.jsonl"
    lines = events.read_bytes().splitlines()
    events.write_bytes(b"\n".join(lines[:-3]) + b'\n{"event":"retur')
    _, out, _ = run("list")
    assert re.search(r"broken0000.* broken.* is no recording", out)
    assert re.search(rf"{id}.* unsealed", out)
    assert {row["status"] for row in json.loads(run("list", "--json")[1])} == {"ok", "unsealed", "broken"}
    assert len(json.loads(run("list", "--status", "broken", "--json")[1])) == 1
    _, out, _ = run("show", id)
    assert "unsealed: the program still runs, or was cut off" in out
    assert "the last line was torn" in out
    status, out, err = run("show", "broken0000")
    assert (status, out) == (2, "")
    assert err.startswith("reenact: ")
    assert len(err.splitlines()) == 1


def test_the_conversation_is_told_once(run):
    agent()
    _, out, _ = run("show", "last")
    assert out.count("Cancel ORD-5521") == 1
    assert out.count('cancel_order(order_id="ORD-5521")') == 1
    assert "It cannot be cancelled." in out
    assert re.search(r"… 2,0\d\d more characters \(reenact show last 1\)", out)
    assert "客户要求退款 🙂" in out
    assert "error      ValueError: it was ␛[31mdelivered␛[0m" in out
    assert "\x1b" not in out
    # What the model saw of the error is not the error itself, so both are shown.
    assert "tool cancel_order it was ␛[31mdelivered␛[0m" in " ".join(out.split())
    assert out.rstrip().endswith("done")
    lines = [line for line in out.splitlines() if re.match(r" *\d+  ", line)]
    assert [line.split()[1] for line in lines] == [
        "model:gpt-4o",
        "tool:cancel_order",
        "tool:lookup_order",
        "model:gpt-4o",
    ]
    assert lines[2].startswith("     3")


def test_full_folds_nothing(run):
    agent()
    out = run("show", "last", "--full")[1]
    assert "more characters" not in out
    assert out.count("Policy.") == 400


def test_one_step_is_shown_whole(run):
    agent()
    out = run("show", "last", 2)[1]
    for text in (
        "main/tool:cancel_order#0",
        'order_id = "ORD-5521"',
        "inside     step 3",
        "ValueError",
        "+0.",
    ):
        assert text in out
    assert out.count("Policy.") == 0
    assert run("show", "last", 1)[1].count("Policy.") == 400
    assert "-- new in this call --" in run("show", "last", 4)[1]


def test_some_steps_may_be_shown(run):
    agent()
    assert re.findall(r"^ *(\d)  \w+:", run("show", "last", "2-3")[1], re.MULTILINE) == ["2", "3"]
    assert re.findall(r"^ *(\d)  \w+:", run("show", "last", "3-")[1], re.MULTILINE) == ["3", "4"]
    assert re.findall(r"^ *(\d)  \w+:", run("show", "last", "4-99")[1], re.MULTILINE) == ["4"]


@pytest.mark.parametrize("step", ["0", "5", "99-", "3-2", "x", "1-2-3", "last"])
def test_a_step_that_is_none_is_named(run, step):
    agent()
    status, out, err = run("show", "last", step)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert step.rstrip("-") in err


def test_a_filter_shows_the_steps_for_which_it_holds(run):
    agent()
    status, out, _ = run("show", "last", "--filter", "tool:cancel_order and error")
    assert status == 0
    assert re.findall(r"^ *(\d+)  ", out, re.MULTILINE) == ["2"]
    assert json.loads(run("show", "last", "--filter", "model", "--json")[1])["step_list"][1]["step"] == 4
    assert {
        json.loads(line)["call"]
        for line in run("show", "last", "2-4", "--filter", "tool", "--raw")[1].splitlines()
    } == {2, 3}


def test_a_filter_that_holds_nowhere_or_does_not_parse_is_said(run):
    agent()
    status, out, err = run("show", "last", "--filter", "step > 7")
    assert (status, out, err) == (0, "", "no steps match (4 searched)\n")
    status, _, err = run("show", "last", "--filter", "tokens >")
    assert status == 2
    assert "column 9" in err
    status, _, err = run("show", "last", "2", "--filter", "error")
    assert status == 2
    assert "--filter" in err


def test_json_is_as_documented(run):
    id = agent()
    found = json.loads(run("show", "last", "--json")[1])
    documented = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    for key in (
        *found,
        *found["step_list"][0],
        *found["step_list"][0]["model"],
        *json.loads(run("list", "error", "--json")[1])[0],
    ):
        assert f"`{key}`" in documented, key
    assert (found["id"], found["status"], len(found["step_list"])) == (id, "ok", 4)
    first, tool, inner, last = found["step_list"]
    assert [message["role"] for message in first["model"]["new_messages"]] == ["system", "user"]
    assert last["model"]["known_messages"] == 2
    assert "args" not in first
    assert (tool["args"], tool["error"], inner["within"]) == (
        {"order_id": "ORD-5521"},
        "ValueError: it was \x1b[31mdelivered\x1b[0m",
        2,
    )
    whole = json.loads(run("show", "last", 1, "--json")[1])
    assert whole["args"]["messages"][1]["content"] == "Cancel ORD-5521"


def test_raw_gives_the_stored_lines(run, home):
    id = agent()
    stored = (home.folder(id) / "events.jsonl").read_text()
    assert run("show", "last", "--raw")[1] == stored
    lines = [orjson.loads(line) for line in run("show", "last", 2, "--raw")[1].splitlines()]
    assert [(line["event"], line["call"]) for line in lines] == [("called", 2), ("raised", 2)]


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "nope"],
        ["show", ""],
        ["show", "none/at/all"],
        ["list", "tokens >"],
        ["list", "--home", "/proc/nope", "("],
        ["export", "nope", "x"],
        ["import", "nope"],
        ["rm", "nope", "--yes"],
        ["prune"],
        ["prune", "--older-than", "soon"],
        ["prune", "--older-than", "9" * 5000 + "d"],
        ["frobnicate"],
        ["show"],
        ["list", "--limit", "0"],
        ["show", "last", "--json", "--nope"],
    ],
)
def test_mistakes_cost_one_message_and_status_two(run, home, arguments, monkeypatch, tmp_path):
    # `prune` also clears scratch folders that other killed runs have left on this machine.
    monkeypatch.setattr(scratch, "_places", lambda: [tmp_path / "scratch"])
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err
    assert not home.root.exists()


def test_an_ambiguous_prefix_lists_what_it_may_be(run, home):
    for id in ("abc1", "abc2"):
        (home.folder(id)).mkdir(parents=True)
        (home.folder(id) / "events.jsonl").write_bytes(
            (Path(home.folder(agent())) / "events.jsonl").read_bytes()
        )
    status, _, err = run("show", "abc")
    assert status == 2
    assert "abc1" in err
    assert "abc2" in err


def test_a_real_run_reads_well(run, home):
    importers.bring(home, TAU)
    out = run("list", "tool:cancel_reservation")[1]
    assert "#reward:0" in out
    shown = run("show", json.loads(run("list", "tool:cancel_reservation", "--json")[1])[0]["id"])[1]
    assert "imported from" in shown
    assert "ended with the run was given reward 0" in shown
    assert len(shown) < 12_000


def test_a_recording_killed_at_once_is_read_as_far_as_it_goes(run, home):
    code = """
import os, reenact
@reenact.tool
def f(x): return x * 2
@reenact.tool
def g(): os.kill(os.getpid(), 9)
with reenact.record('killed'):
    f(21); g()
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    out = run("show", "last")[1]
    assert "gave       42" in out
    assert "tool:g · no answer recorded" in out


@pytest.mark.thorough
def test_help_and_version_answer(run):
    assert run("--version") == (0, f"reenact {reenact.__version__}\n", "")
    for command in ("list", "show", "export", "import", "rm", "prune"):
        assert command in run("--help")[1]
        status, out, _ = run(command, "--help")
        assert (status, "Usage" in out) == (0, True)


@pytest.mark.thorough
def test_a_reader_that_has_enough_costs_no_traceback(home):
    for _ in range(3):
        agent()
    with subprocess.Popen(
        [*COMMAND, "show", "last", "--full"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as pipe:
        pipe.stdout.read(10)
        pipe.stdout.close()
        assert pipe.stderr.read() == b""


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [60, 80, 200])
def test_on_a_terminal_nothing_is_wider_than_it(home, columns):
    importers.bring(home, TAU)
    id = agent("客服" * 20, tags=["a-very-long-tag-indeed", "another"])
    from rich.cells import cell_len

    for arguments in (["list"], ["list", "tool"], ["show", id], ["show", id, "2"]):
        for line in forker.on_a_terminal(arguments, dict(os.environ), columns).splitlines():
            assert cell_len(line.rstrip()) <= columns, line


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (5, "now"),
        (65, "1m"),
        (7300, "2h"),
        (90000, "1d"),
        (30 * 86400, "Oct 22"),
        (400 * 86400, "2025-10-17"),
        (-500, "2026-11-21"),
    ],
)
def test_times_are_told_shortly(age, expected):
    import datetime as dt

    now = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
    assert ago((now - dt.timedelta(seconds=age)).isoformat(), now) == expected


def test_numbers_are_told_shortly():
    assert [seconds(value) for value in (0.0001, 0.012, 1.25, 75, 3700)] == [
        "<1 ms",
        "12 ms",
        "1.2 s",
        "1 min 15 s",
        "1 h 01 min",
    ]
    assert [count(value) for value in (7, 12345, 2_500_000)] == ["7", "12.3k", "2.5M"]
    assert [money(value) for value in (None, 0.00001, 0.0123, 12.5)] == [
        "",
        "<$0.0001",
        "$0.0123",
        "$12.50",
    ]
    assert numbers((1, 2, 3, 7, 9, 10)) == "1-3, 7, 9-10"
    assert recordings.short_lengths(["abcdef", "abcxyz", "q"]) == {"abcdef": 4, "abcxyz": 4, "q": 1}


def test_the_error_that_a_program_ended_with_has_its_class(shell):
    shell.write("agent.py", "import reenact\nreenact.tool(len)([1])\nraise LookupError('no such order')")
    shell.run("record", "--", sys.executable, "agent.py")
    assert "ended with LookupError: no such order\n" in shell.run("show", "last").out
