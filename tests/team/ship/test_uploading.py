"""Programs as they are run, a server as it is served, and `kill -9` of any of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import reenact
from reenact.core.store.local import LocalStore, load
from reenact.team.ship import Destination, upload_format
from reenact.team.ship.queue import Lock, Queue, ShipMark
from reenact.team.ship.shipper import Shipper
from tests.server.asking import Asking
from tests.team.ship.serving import PROGRAM, eventually, files

AGENT = """
import os, sys, time
import reenact

@reenact.tool
def look(number):
    return [number, os.environ["REENACT_API_KEY"], os.urandom(4).hex()]

@reenact.tool
def picture():
    return os.urandom(100_000)

with reenact.record("agent") as run:
    print(run.id, flush=True)
    for number in range(int(sys.argv[1])):
        look(number)
        number % 10 or picture()
        time.sleep(0.005)
"""


def start(environ, count=10**6):
    child = subprocess.Popen(
        [sys.executable, "-c", AGENT, str(count)],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return child, child.stdout.readline().strip()


def end(child, status=0):
    child.wait(300)
    said = child.stderr.read()
    child.stdout.close()
    child.stderr.close()
    assert child.returncode == status, said
    return said


def whole_lines(path):
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1]


def nobody_ships(home):
    """Wait for the shipper's end; what it was given is done then."""
    queue = Queue(home)
    try:
        eventually(lambda: not queue.marks())
    except AssertionError:
        told = [path.read_text() for path in queue.folder.glob("*.json")]
        pytest.fail(f"{queue.marks()} wait: {told}")


def shipper_of(home, server):
    """The process that sends, which nobody here has started: the recorder has."""
    queue = Queue(home)
    lock = Lock(queue, Destination(server.url, server.key).name)

    def taken():
        if lock.take():
            lock.free()
            return False
        return True

    eventually(taken)
    found = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if f"reenact.team.ship\0{home}\0".encode() in _read(path)
    ]
    assert len(found) == 1, found
    return found[0]


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_an_agent_is_seen_while_it_runs_and_all_of_it_is_there_after_kill_9(running, tmp_path):
    home = tmp_path / "home"
    child, id = start(running.environ(home))
    there = running.recordings / id
    eventually(lambda: there.joinpath("events.jsonl").exists() and len(list(load(there))) > 20)
    assert child.poll() is None
    child.kill()
    end(child, -signal.SIGKILL)
    nobody_ships(home)
    here = home / "recordings" / id
    assert (there / "events.jsonl").read_bytes() == whole_lines(here / "events.jsonl")
    assert [step.output for step in load(there)] == [step.output for step in load(here)]
    # Neither the key, nor how it was sent, is in the recording.
    assert running.key.encode() not in b"".join([*files(home).values(), *files(running.recordings).values()])
    assert {step.call.kind for step in load(there)} == {"tool"}


@pytest.mark.thorough
def test_server_shipper_and_agent_may_all_be_killed(mortal, tmp_path):
    home = tmp_path / "home"
    # The server is away at first.
    child, id = start(mortal.environ(home))
    time.sleep(0.5)
    mortal.start()
    there = mortal.recordings / id / "events.jsonl"
    eventually(there.exists)
    mortal.kill()
    time.sleep(0.3)
    before = there.stat().st_size
    mortal.start()
    eventually(lambda: there.stat().st_size > before)
    os.kill(shipper_of(home, mortal), signal.SIGKILL)
    mortal.kill()
    child.kill()
    end(child, -signal.SIGKILL)
    mortal.start()
    # Nobody is left who knows of it: the next recording in this home brings the first one along.
    last, other = start(mortal.environ(home), 5)
    end(last)
    nobody_ships(home)
    here = home / "recordings"
    assert there.read_bytes() == whole_lines(here / id / "events.jsonl")
    assert files(mortal.recordings / other) == files(here / other)
    assert sum(1 for _ in load(there.parent)) > 50


@pytest.mark.thorough
def test_a_wrong_key_costs_a_line_and_by_hand_it_is_sent_with_the_right_one(running, tmp_path):
    home = tmp_path / "home"
    wrong = running.environ(home, key="rnt_wrong")
    first, id = start(wrong, 200)
    said = end(first)
    assert said.count("\n") == 1
    assert f"{running.url} does not know the key in REENACT_API_KEY" in said
    assert not (running.recordings / id).exists()

    def reenact_(*words, environ):
        command = [sys.executable, "-c", PROGRAM, *words]
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)

    refused = reenact_("ship", environ=wrong)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    status = reenact_("ship", "--status", environ=running.environ(home))
    assert id in status.stdout
    assert "waits" in status.stdout
    done = reenact_("ship", environ=running.environ(home))
    assert (done.returncode, done.stderr) == (0, f"reenact: 1 recording sent to {running.url}\n")
    assert files(running.recordings / id) == files(home / "recordings" / id)


FAMILY = """
import os, subprocess, sys
open(sys.argv[1]).read()
subprocess.run([sys.executable, "-c", "import random; print(random.random())"], check=True)
sys.exit(3)
"""


@pytest.mark.thorough
def test_a_recorded_command_goes_with_its_processes_and_with_its_exit_status(running, tmp_path):
    home, program = tmp_path / "home", tmp_path / "program.py"
    program.write_text(FAMILY)
    command = [sys.executable, "-c", PROGRAM, "record", "--", sys.executable, program, program]
    done = subprocess.run(
        command,
        env=running.environ(home),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    nobody_ships(home)
    here = reenact.load("last", home=home)
    there = running.recordings / here.id
    assert files(there) == files(Path(here.path))
    assert len(load(there).logs) == 2
    assert b'"exit":3' in (there / "events.jsonl").read_bytes()


@pytest.mark.thorough
def test_who_comes_as_the_shipper_leaves_is_not_forgotten(running, tmp_path):
    # Short programs one after the other: each finds a shipper that runs, leaves, or has left.
    home = tmp_path / "home"
    ids = []
    for pause in (0, *(5 + place / 8 for place in range(6))):
        time.sleep(pause)
        child, id = start(running.environ(home), 1)
        assert end(child) == ""
        ids.append(id)
    nobody_ships(home)
    assert all(files(running.recordings / id) == files(home / "recordings" / id) for id in ids)


@pytest.mark.thorough
def test_a_recording_that_was_deleted_on_the_server_is_dropped_with_a_word_and_stays_here(tmp_path, capfd):
    home = LocalStore(tmp_path / "home")
    with reenact.record("x", home=home.root) as recording:
        recording.output = 1
    to = Destination("http://localhost", "")
    with Asking(tmp_path / "server") as ask:

        def shipped():
            Queue(home.root).add(ShipMark(recording.id, to.server, to.name)).release()
            shipper = Shipper(home, to)
            shipper._sender._client = ask.client
            ask.client.base_url = f"http://localhost{upload_format.API}"
            shipper.flush()
            return shipper

        assert shipped().finished == [recording.id]
        assert ask.client.delete(f"/recordings/{recording.id}").status_code == 200
        again = shipped()
        assert (again.finished, list(again.dropped)) == ([], [recording.id])
        assert Queue(home.root).marks() == []
    assert home.ids() == [recording.id]
    assert "is not accepted again" in capfd.readouterr().err
