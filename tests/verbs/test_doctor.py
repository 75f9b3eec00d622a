"""What the doctor sees, before anyone records."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from reenact.cli.context import TerminalContext
from reenact.cli.render.doctor import show, table
from reenact.verbs import doctor


def _topics(findings, level=None):
    return {finding.topic: finding.text for finding in findings if level in {None, finding.level}}


def test_the_environment_is_named(tmp_path):
    found = _topics(doctor.examine(home=tmp_path))
    assert sys.executable in found["python"]
    assert str(tmp_path) in found["home"]
    assert "recorded and replayed" in found["httpx"]


def test_an_old_sqlite_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor.sqlite3, "sqlite_version_info", (3, 40, 1))
    assert "WAL" in _topics(doctor.examine(home=tmp_path))["sqlite"]
    monkeypatch.setattr(doctor.sqlite3, "sqlite_version_info", (3, 51, 3))
    assert "sqlite" not in _topics(doctor.examine(home=tmp_path))


def test_a_library_that_is_not_seen_is_named_with_what_it_means(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "_installed", lambda name: name in {"grpc", "httpx"})
    found = doctor.examine(home=tmp_path)
    assert "wrap them" in _topics(found, "note")["grpcio"]
    assert "no adapter" in _topics(found, "note")["httpx"]


def test_no_library_with_unrecorded_input_is_called_recorded(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "_installed", lambda _: True)
    found = _topics(doctor.examine(home=tmp_path), "ok")
    assert "recorded and replayed" in found["langgraph.pregel.main"]
    assert [topic for topic in found if topic.partition(".")[0] in doctor.UNSEEN] == []


def test_a_home_that_cannot_be_written_is_bad(tmp_path):
    (tmp_path / "file").write_text("")
    assert "home" in _topics(doctor.examine(home=tmp_path / "file"), "bad")


def test_a_script_is_read_with_the_modules_beside_it_and_not_run(tmp_path):
    (tmp_path / "agent.py").write_text("import tools.web\nfrom os import path\nraise SystemExit(1)\n")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").write_text("")
    (tmp_path / "tools" / "web.py").write_text(
        "def f():\n    import grpc, httpx\n    os.system('ls')\n    Pool(3)\n    subprocess.run(['ls'])\n    app.run()\n"
    )
    found = doctor.examine([sys.executable, str(tmp_path / "agent.py")], home=tmp_path)
    assert "a replay refuses its calls" in _topics(found, "bad")["grpcio"]
    assert "httpx, recorded" in _topics(found, "ok")["program"]
    assert "os.system" in _topics(found)["web.py:3"]
    assert "pool" in _topics(found)["web.py:4"]
    assert "its output and exit status are recorded" in _topics(found)["web.py:5"]
    assert "web.py:6" not in _topics(found)


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (["python", "-X", "dev", "x.py", "y.py"], "x.py"),
        (["uv", "run", "x.py"], "x.py"),
        (["./x.py"], "./x.py"),
        (["python", "-c", "x.py"], None),
        (["pytest"], None),
    ],
)
def test_the_script_of_a_command_is_found(command, file):
    found = doctor.script(command)
    assert (found and str(found)) == (file and file.removeprefix("./"))


def test_a_command_that_is_not_there_is_bad(tmp_path):
    assert "no such program" in _topics(doctor.examine(["no-such"], home=tmp_path), "bad")["program"]
    assert (
        "no such file" in _topics(doctor.examine([sys.executable, "no.py"], home=tmp_path), "bad")["program"]
    )


def test_trying_a_program_records_and_replays_it_elsewhere(shell):
    shell.write(
        "agent.py",
        "import random, subprocess; print(random.random()); subprocess.run(['true'], pass_fds=[1])",
    )
    done = shell.run("doctor", "--run", "--json", "--", sys.executable, "agent.py")
    found = {(item["level"], item["topic"]): item["text"] for item in done.json}
    assert "0 steps, ok" in found["ok", "record"]
    assert "true" in found["bad", "unrecorded"]
    assert ("bad", "replay") in found
    assert done.status == 1
    assert not shell.home.exists()


@pytest.mark.thorough
def test_a_faithful_program_is_ok(shell):
    shell.write("agent.py", "import random; print(random.random())")
    done = shell.run("doctor", "--run", "--", sys.executable, "agent.py")
    assert done.status == 0, done
    assert "faithful" in done.out


def test_the_table_has_a_line_for_each(tmp_path):
    console = Console(file=io.StringIO(), width=200)
    console.print(table(doctor.examine(home=tmp_path)))
    assert "python" in console.file.getvalue()


def test_in_a_pipe_a_finding_is_one_line_without_blanks_at_its_end(capsys):
    show(
        doctor.Result([doctor.Finding("note", "a topic", "a long text " * 40)]),
        doctor.Options(),
        TerminalContext(home=None),
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line == line.rstrip() for line in lines] == [True]
