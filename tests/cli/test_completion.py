"""A shell completes commands, options and the ids of recordings."""

import os
import subprocess
import sys

import pytest

from reenact.cli import main


def completed(words, home, word):
    """The words that a shell offers for one of a command line."""
    environ = os.environ | {
        "_REENACT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(word),
        "REENACT_HOME": str(home),
    }
    done = subprocess.run(
        [sys.executable, "-m", "reenact"], env=environ, capture_output=True, text=True, check=False
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_are_completed(tmp_path):
    assert completed("reenact li", tmp_path, 1) == ["list"]


def test_options_are_completed(tmp_path):
    assert completed("reenact show --fu", tmp_path, 2) == ["--full"]


def test_ids_of_recordings_are_completed(shell):
    shell.record("-c", "print('hello')")
    offered = completed("reenact show ", shell.home, 2)
    assert offered[0] == "last"
    assert len(offered) == 2


def test_a_folder_that_cannot_be_read_completes_no_ids(tmp_path):
    home = tmp_path / "home"
    home.write_text("no folder")
    assert completed("reenact show ", home, 2) in ([], [""])


@pytest.mark.parametrize("named", ["bash", "zsh", "fish"])
def test_the_script_is_written_where_the_shell_reads_it(named, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SHELL", f"/bin/{named}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert main(["--install-completion"]) == 0
    assert main(["--install-completion"]) == 0
    (written,) = [path for path in tmp_path.rglob("*reenact*") if path.is_file()]
    assert str(written) in capsys.readouterr().err
    assert main(["--show-completion"]) == 0
    assert capsys.readouterr().out == written.read_text()
    if named == "zsh":
        assert (tmp_path / ".zshrc").read_text().count(".zfunc") == 1
    if named == "bash":
        command = f"source {written} && complete -p reenact"
        assert subprocess.run(["bash", "-c", command], check=True, capture_output=True).stdout


def test_another_shell_is_named(monkeypatch, capsys):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert main(["--install-completion"]) == 2
    assert "bash, zsh and fish" in capsys.readouterr().err
