"""A text in the user's own editor."""

from __future__ import annotations

import sys

import pytest

from reenact.errors import UsageError
from reenact.run.debugger import editor


@pytest.fixture
def edits(tmp_path, monkeypatch):
    """Makes a Python program the editor; its argument is the file."""

    def use(program, variable="EDITOR"):
        path = tmp_path / "my editor.py"
        path.write_text(f"import sys\npath = sys.argv[-1]\n{program}\n")
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv(variable, f"{sys.executable} '{path}' --wait")

    return use


def test_what_is_saved_comes_back_to_the_letter(edits):
    edits("data = open(path, 'rb').read(); open(path, 'wb').write(data.upper() + b'\\r\\n')")
    assert editor.in_editor("späte\nzeile") == "SPäTE\nZEILE\r\n"


def test_the_file_is_named_for_what_it_is(edits):
    edits("open(path, 'w').write(path)")
    assert editor.in_editor("{}", suffix=".json", name="step-4").endswith("/step-4.json")


def test_visual_comes_before_editor(edits, monkeypatch):
    edits("open(path, 'w').write('visual')", "VISUAL")
    monkeypatch.setenv("EDITOR", "no-such-editor")
    assert editor.in_editor("") == "visual"


def test_an_editor_that_fails_changes_nothing(edits):
    edits("raise SystemExit(3)")
    with pytest.raises(UsageError, match="ended with status 3: nothing is changed"):
        editor.in_editor("x")


def test_no_editor_at_all_is_said(monkeypatch):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UsageError, match=r"set \$EDITOR"):
        editor.in_editor("x")
