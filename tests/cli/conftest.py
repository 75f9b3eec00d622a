from __future__ import annotations

import sys

import pytest

from reenact.cli import main


@pytest.fixture
def run(home, tmp_path, monkeypatch, capfd):
    """Runs one command; gives its exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run
