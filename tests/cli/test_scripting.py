"""export-script: a script on standard output or in a file, and one line where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

import reenact
from reenact.cli import main
from reenact.core import boundary
from reenact.core.model.event import Effect


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with reenact.record("session") as recording:
        outcome = {"success": True, "message": "opened", "actor": "script", "selectors": None}
        boundary.perform(Effect("browser", "goto", {"url": "http://x/"}), lambda: outcome)
    return recording


def test_the_script_is_printed_or_written_and_never_over_another_file(recorded, capsys):
    assert main(["export-script", "last"]) == 0
    text = capsys.readouterr().out
    compile(text, "script.py", "exec")
    assert main(["export-script", recorded.id, "-o", "script.py"]) == 0
    assert Path("script.py").read_text(encoding="utf-8") == text
    assert main(["export-script", "last", "-o", "script.py"]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["export-script", "last", "-o", "script.py", "--force"]) == 0


def test_what_is_no_session_is_named(recorded, capsys):
    with reenact.record("other"):
        pass
    assert main(["export-script", "last"]) == 2
    assert "no browser session" in capsys.readouterr().err
    assert main(["export-script", recorded.id, "--session", "nope"]) == 2
    assert "no session nope" in capsys.readouterr().err
    assert main(["export-script", "nope"]) == 2
