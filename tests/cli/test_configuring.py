"""`reenact config`, and the options of a configuration file in commands."""

from __future__ import annotations

import json

import pytest

import reenact

FILE = """
home = "recs"
ignore = ["args.body.seed"]

[policy]
refund = "refuse"

[list]
limit = 1
"""


@pytest.fixture
def folder(run, tmp_path, monkeypatch):
    monkeypatch.delenv("REENACT_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    return tmp_path


def recordings(folder, count):
    for number in range(count):
        with reenact.record(f"run {number}", home=folder / "recs") as recording:
            recording.output = number


def test_each_value_is_shown_with_its_origin(run, folder, monkeypatch):
    (folder / "reenact.toml").write_text(FILE)
    monkeypatch.setenv("REENACT_SERVER", "https://agents.example.com")
    monkeypatch.setenv("REENACT_API_KEY", "key-of-mine")
    monkeypatch.setenv("REENACT_STORE", "postgresql://ann:hunter2@db/agents")
    status, out, err = run("config")
    assert status == 0
    rows = {line.split()[0]: line.split() for line in out.splitlines()}
    assert rows["home"][1:] == [str(folder / "recs"), "reenact.toml:2:8"]
    assert rows["policy.refund"][1:] == ["refuse", "reenact.toml:6:1"]
    assert rows["list.limit"][1:] == ["1", "reenact.toml:9:9"]
    assert rows["replay.ignore"][1:] == ["args.body.seed", "reenact.toml:3:10"]
    assert rows["REENACT_SERVER"][1:] == ["https://agents.example.com", "environment"]
    assert "key-of-mine" not in out
    assert "hunter2" not in out
    assert "not trusted" in err


def test_the_defaults_of_one_command_are_shown_too(run, folder):
    (folder / "reenact.toml").write_text(FILE)
    _, out, _ = run("config", "replay")
    assert "replay.pace" in out
    assert "list.limit" not in out
    status, _, err = run("config", "replai")
    assert (status, "there is no command 'replai'" in err) == (2, True)


def test_the_environment_is_named_as_the_origin_of_the_home(run, folder, monkeypatch):
    (folder / "reenact.toml").write_text(FILE)
    monkeypatch.setenv("REENACT_HOME", "/elsewhere")
    _, out, _ = run("config", "--json")
    tree = json.loads(out)
    assert tree["file"] == {"path": str(folder / "reenact.toml"), "trusted": False}
    assert tree["values"][0] == {"key": "home", "value": "/elsewhere", "origin": "REENACT_HOME"}


def test_the_command_line_wins_over_the_file(run, folder):
    recordings(folder, 3)
    (folder / "reenact.toml").write_text(FILE)
    assert run("list", "--json")[1].count('"id"') == 1
    assert run("list", "--json", "--limit", "2")[1].count('"id"') == 2
    # Also where it gives the default again.
    assert run("list", "--json", "--limit", "30")[1].count('"id"') == 3


def test_every_problem_is_a_line_and_the_status_is_2(run, folder):
    (folder / "reenact.toml").write_text("[list]\nlimit = 0\n[nothing]\n")
    status, out, err = run("config")
    assert (status, out) == (2, "")
    assert [line.split(": ")[1] for line in err.splitlines()] == ["reenact.toml:3:2", "reenact.toml:2:9"]
    status, _, err = run("list")
    assert (status, len(err.splitlines())) == (2, 1)


def test_an_error_about_a_configured_option_names_its_place(run, folder):
    recordings(folder, 1)
    (folder / "reenact.toml").write_text("[list]\nsort = 'wen'\n")
    status, _, err = run("list")
    assert status == 2
    assert "list.sort in reenact.toml:2:8" in err
    assert "reenact.toml" not in run("list", "--sort", "wen")[2]


def test_a_file_is_trusted_by_a_command(run, folder):
    (folder / "reenact.toml").write_text("[verify]\nentry = 'shop:run'\n")
    status, _, err = run("verify")
    assert status == 2
    assert "reenact.toml:2:9: verify.entry: it is for files that you trust" in err
    assert run("config", "--trust")[0] == 0
    assert "trust" not in run("verify")[2]


def test_without_a_file_there_is_nothing_to_trust(run, folder):
    assert run("config", "--trust")[0] == 2
    status, out, err = run("config")
    assert (status, "no configuration file" in err) == (0, True)
    assert "default" in out


def test_a_policy_of_the_file_refuses_a_call_and_one_of_the_command_line_allows_it(shell):
    shell.write(
        "agent.py",
        """
        import reenact

        @reenact.tool(writes=True)
        def refund(order):
            with open("refunds.txt", "a") as file:
                file.write(order + "\\n")
            return order

        @reenact.tool
        def look(order):
            return order

        look("ORD-1")
        refund("ORD-1")
        """,
    )
    shell.record("agent.py")
    refunds = shell.folder / "refunds.txt"
    refunds.unlink()
    shell.write("reenact.toml", '[policy]\nrefund = "refuse"\n')
    done = shell.run("fork", "last", "--at", "2", "--files", "live")
    assert done.status == 3, done.err
    assert not refunds.exists()
    done = shell.run("fork", "last", "--at", "2", "--files", "live", "--policy", "refund=live")
    assert done.status == 0, done.err
    assert refunds.read_text() == "ORD-1\n"
