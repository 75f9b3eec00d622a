"""A folder of recordings that is copied while programs write to it: the copy can be read, and lacks only what came later."""

from __future__ import annotations

import subprocess
import threading

import reenact
from reenact.cli import main
from reenact.core.store.local import LocalStore
from tests.systems import POSIX

LARGE = bytes(range(256)) * 400


@reenact.tool
def look(order):
    return {"order": order, "picture": LARGE + order.encode()}


@POSIX
def test_a_copy_made_in_the_middle_of_a_run_is_readable(tmp_path, capsys):
    home, done = tmp_path / "home", threading.Event()
    ids = []

    def work():
        while not done.is_set():
            with reenact.record("one", home=home) as run:
                ids.append(run.id)
                for number in range(20):
                    look(f"A-{number}")

    agent = threading.Thread(target=work)
    agent.start()
    try:
        for number in range(4):
            while len(ids) < 2 * number + 1:
                done.wait(0.01)
            # It also copies the index, whatever state that is in.
            main(["list", "--home", str(home)])
            subprocess.run(["cp", "-a", home, tmp_path / f"copy{number}"], check=False, capture_output=True)
    finally:
        done.set()
        agent.join()
    for number in range(4):
        copy, there = LocalStore(tmp_path / f"copy{number}"), LocalStore(home)
        # A recording whose first line came later is none yet.
        copied = [id for id in copy.ids() if (copy.folder(id) / "events.jsonl").stat().st_size]
        assert len(copied) > 2 * number
        for id in copied:
            whole, part = there.load(id), copy.load(id)
            assert len(part.steps) <= len(whole.steps)
            lines = (there.folder(id) / "events.jsonl").read_bytes()
            assert lines.startswith((copy.folder(id) / "events.jsonl").read_bytes())
        capsys.readouterr()
        assert main(["list", "--home", str(tmp_path / f"copy{number}")]) == 0
        assert copied[0][:4] in capsys.readouterr().out
