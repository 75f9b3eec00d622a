"""Commands that `os.spawn*` and `os.posix_spawn` start are effects: a replay starts none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reenact
from reenact.errors import DivergenceError

pytestmark = pytest.mark.usefixtures("home")

TIME = "date +%N > made; exit 5"


def waited_for() -> tuple[int, str]:
    return os.spawnlp(os.P_WAIT, "sh", "sh", "-c", TIME), Path("made").read_text(encoding="utf-8")


def left_running() -> tuple[int, str]:
    number = os.spawnvpe(os.P_NOWAIT, "sh", ["sh", "-c", "date +%N > $NAME"], {**os.environ, "NAME": "made"})
    return os.waitpid(number, 0)[1], Path("made").read_text(encoding="utf-8")


def by_posix_spawn() -> tuple[int, int, str]:
    number = os.posix_spawn("/bin/sh", ["sh", "-c", TIME], os.environ)
    return (
        number,
        os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]),
        Path("made").read_text(encoding="utf-8"),
    )


def killed() -> tuple[tuple[int, int], int]:
    number = os.posix_spawnp("sleep", ["sleep", "100"], os.environ)
    running = os.waitpid(number, os.WNOHANG)
    os.kill(number, 9)
    return running, os.waitpid(number, 0)[1]


def not_there() -> int:
    return os.spawnlp(os.P_WAIT, "no-such-command", "no-such-command")


@pytest.mark.parametrize("work", [waited_for, left_running, by_posix_spawn, killed, not_there])
def test_a_spawned_command_is_answered(
    twice: Any,
    work: Callable[[], object],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Files below the folder that holds the recordings are not recorded.
    monkeypatch.chdir(tmp_path_factory.mktemp("work"))
    recorded, replayed, verdict = twice(work, lambda: Path("made").unlink(missing_ok=True))
    assert replayed == recorded
    assert verdict.faithful
    assert not Path("made").exists()


def test_another_spawned_command_is_a_departure_before_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with reenact.record("spawned") as recording:
        os.spawnlp(os.P_WAIT, "true", "true")
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        os.spawnlp(os.P_WAIT, "touch", "touch", "made")
    assert "process:touch" in str(caught.value)
    assert not Path("made").exists()
