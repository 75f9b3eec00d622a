"""A forged recording's command is run by no verb before the user has agreed, whatever way the recording came."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import select
import shutil
import subprocess
import time
import zipfile

import pytest
from fastapi.testclient import TestClient

from reenact.cli.application import application
from reenact.core.store.base import Piece
from reenact.core.store.local import load
from reenact.core.trust import consent
from reenact.server.app import application as application_of
from reenact.server.settings import Settings
from reenact.team.ship import upload_format
from tests.hostile.forge import forge

SERVERS = {"serve", "console", "collect"}
"""They go on until they are ended. What they let through is in `tests/server`."""

RUNNING = {
    "replay": ["ID"],
    "reproduce": ["ID"],
    "prove": ["ID"],
    "reproduce --check-world": ["ID", "--check-world", "--", "true"],
    "bisect": ["ID", "--good", "GOOD", "--check", "true"],
    "fork": ["ID", "--at", "1"],
    "debug": ["ID", "--plain"],
    "debug --web": ["ID", "--web", "--no-open"],
    "keep": ["ID"],
    "report --times": ["ID", "-o", "page.md", "--times", "1"],
    "report --check": ["ID", "-o", "page.md", "--good", "GOOD", "--check", "true"],
    "report --check-world": ["ID", "-o", "page.md", "--check-world", "--", "true"],
    "verify": ["ID"],
}
"""Verbs that would run what the recording says: all are to refuse."""

WORDS = {
    "list": [],
    "report": ["ID", "-o", "page.md"],
    "video": ["ID", "-o", "film.mp4"],
    "export": ["ID", "-o", "copy.reenact"],
    "diff": ["ID", "GOOD"],
    "import": ["FILE"],
    "record": ["--", "true"],
    "trust add": ["stranger", "ID"],
    "trust remove": ["stranger"],
    "debug --read": ["ID", "--plain", "--read"],
    "replay": ["ID"],
}
"""Words of verbs that want others than a recording's id."""


def verbs():
    """Every command of the command line, also those of groups."""
    found = []

    def walk(command, name):
        for word, inner in getattr(command, "commands", {}).items():
            walk(inner, f"{name} {word}".strip())
        if not getattr(command, "commands", None):
            found.append(name)

    walk(application([]), "")
    return sorted(found)


def lines(id, folder, format):
    program = {"argv": ["/bin/sh", "-c", f"touch {folder}/MARK"], "cwd": str(folder), "packages": {}}
    call = {
        "event": "called",
        "call": 1,
        "kind": "http",
        "name": "GET x",
        "at": "main",
        "n": 0,
        "in": None,
        "t": 0.1,
    }
    return [
        {
            "event": "opened", "format": format, "rules": 1, "id": id, "name": "forged", "tags": [],
            "started": "2026-01-01T00:00:00+00:00", "entry": "program", "ordinal": 0, "process": "main", "pid": 1,
            "program": program, "adapters": [], "salt": "00" * 16, "secrets": {},
            "function": {"name": "os:system", "args": {"command": f"touch {folder}/MARK"}},
            "home": {"key": "ed25519:" + "0" * 64, "mac": "0" * 64},
        },
        {**call, "args": {"method": "GET", "url": f"http://127.0.0.1:9/{id}"}},
        {"event": "returned", "call": 1, "value": {"status": 200, "body": id}, "t": 0.2},
        {
            "event": "sealed", "status": "ok", "exit": 0, "t": 0.3,
            "signed": {"key": "ed25519:" + "0" * 64, "signature": "00" * 64, "mac": "0" * 64},
        },
    ]  # fmt: skip


def forged(id, folder, format):
    if format == 2:
        return forge(lines(id, folder, 2))
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines(id, folder, 1))


@pytest.fixture(params=[pytest.param(1, marks=pytest.mark.thorough), 2], ids=["format 1", "format 2"])
def place(shell, request):
    """A folder with a home that has two forged recordings, and one as a file."""
    for id in ("evil000001", "good000001"):
        target = shell.home / "recordings" / id
        target.mkdir(parents=True)
        (target / "events.jsonl").write_bytes(forged(id, shell.folder, request.param))
    data = forged("filed00001", shell.folder, request.param)
    member = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    manifest = {"reenact": 1, "id": "filed00001", "name": "", "members": {"events.jsonl": member}}
    with zipfile.ZipFile(shell.folder / "other.reenact", "w") as archive:
        archive.writestr("events.jsonl", data)
        archive.writestr("manifest.json", json.dumps(manifest))
    # What cannot be read would be refused for another reason.
    load(shell.home / "recordings" / "evil000001")
    load(shell.folder / "other.reenact")
    return shell


def words_of(words, place, ref="evil000001"):
    known = {"ID": ref, "GOOD": "good000001", "FILE": str(place.folder / "other.reenact")}
    return [known.get(word, word) for word in words]


def unharmed(place):
    return not (place.folder / "MARK").exists()


@pytest.mark.sampled
@pytest.mark.parametrize("verb", RUNNING)
@pytest.mark.parametrize("ref", ["evil000001", pytest.param("other.reenact", marks=pytest.mark.thorough)])
def test_without_a_terminal_every_verb_that_runs_refuses_in_one_line(place, verb, ref):
    ref = str(place.folder / ref) if ref.endswith("reenact") else ref
    done = place.run(verb.split()[0], *words_of(RUNNING[verb], place, ref))
    assert unharmed(place)
    assert done.status == 2, done
    if verb == "verify":
        assert "1 refused" in done.out
    elif verb == "debug --web" and ref.endswith("reenact"):
        assert len(done.ours) == 1
    else:
        assert len(done.ours) == 1
        # A fork is made of a recording in the store, to which an exported file comes by an import.
        imports = verb == "fork" and ref.endswith("reenact")
        assert ("reenact import" if imports else consent.OPTION) in done.err


@pytest.fixture
def gone(shell):
    """A home with a forged recording whose program cannot run here."""

    def write(**program):
        target = shell.home / "recordings" / "gone000001"
        target.mkdir(parents=True)
        tree = lines("gone000001", shell.folder, 1)
        tree[0]["program"] |= program
        (target / "events.jsonl").write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in tree))
        return shell

    return write


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ({"cwd": "/no/such/folder"}, "the folder that the program ran in is gone: /no/such/folder"),
        ({"argv": ["/no/python", "agent.py"]}, "the Python that ran the program is gone: /no/python"),
        ({"argv": ["/bin/sh", "a\x1b[2J.sh"]}, "a\\x1b[2J.sh"),
        ({"argv": []}, "has no recorded program"),
        ({"cwd": "/" + "x" * 4000}, "the folder that the program ran in is gone"),
        ({"argv": ["/bin/sh", "x" * 4000]}, "the program is gone"),
    ],
)
def test_a_program_that_cannot_run_is_not_asked_about(gone, program, reason):
    place = gone(**program)
    shown = at_a_terminal(place, ["replay", "gone000001"], b"y\n")
    assert "[y/N]" not in shown
    assert reason in " ".join(shown.split())
    assert "reenact replay gone000001 -- python agent.py" in " ".join(shown.split())


@pytest.mark.parametrize("verb", ["replay", "prove", "fork"])
def test_without_a_terminal_the_missing_folder_is_the_reason(gone, verb):
    place = gone(cwd="/no/such/folder")
    done = place.run(verb, *words_of(RUNNING[verb], place, "gone000001"))
    assert (done.status, len(done.ours)) == (2, 1)
    assert "is gone: /no/such/folder" in done.err


def test_a_report_says_that_the_program_cannot_run(gone):
    place = gone(cwd="/no/such/folder")
    done = place.run("report", "gone000001", "-o", "page.md", "--times", "1")
    assert done.status == 0, done.err
    assert "is gone: /no/such/folder" in (place.folder / "page.md").read_text()


def test_a_test_of_a_program_that_is_gone_is_written_after_consent_alone(gone):
    place = gone(cwd="/no/such/folder")
    words = ["keep", "gone000001", "--as", "test_it.py"]
    assert place.run(*words).status == 2
    assert "[y/N]" in at_a_terminal(place, words, b"n\n")
    assert not (place.folder / "test_it.py").exists()


@pytest.mark.parametrize("folder", ["//elsewhere/share", "\\\\elsewhere\\share", "/net/elsewhere"])
def test_no_other_machine_is_contacted_before_consent(gone, folder):
    place = gone(cwd=folder)
    done = place.run("replay", "gone000001")
    assert done.status == 2
    assert consent.OPTION in done.err


@pytest.mark.sampled
@pytest.mark.parametrize("verb", [verb for verb in verbs() if verb not in SERVERS])
def test_no_verb_of_the_command_line_runs_it(place, verb):
    done = place.run(*verb.split(), *words_of(WORDS.get(verb, ["ID"]), place))
    assert unharmed(place)
    assert "Traceback" not in done.err
    assert done.status in {0, 1, 2, 3}


def test_brought_by_import_it_is_as_foreign_as_before(place):
    assert place.run("import", place.folder / "other.reenact").status == 0
    done = place.run("replay", "filed00001")
    assert (done.status, unharmed(place)) == (2, True)
    assert [line["origin"]["where"] for line in place.run("list", "--json").json] == ["foreign"] * 3


def test_a_command_of_the_users_own_needs_no_leave(place):
    done = place.run("replay", "evil000001", "--", "touch", place.folder / "MINE")
    assert "--run-foreign" not in done.err
    assert (place.folder / "MINE").exists()
    assert unharmed(place)


def test_the_option_lets_it_run_once(place):
    place.run("replay", "evil000001", "--run-foreign")
    assert not unharmed(place)
    (place.folder / "MARK").unlink()
    assert place.run("replay", "evil000001").status == 2
    assert unharmed(place)


@pytest.mark.thorough
def test_verify_refuses_the_foreign_and_goes_on_with_its_own(place):
    place.write("agent.py", "print(1)")
    place.record("agent.py")
    done = place.run("verify", "--json")
    statuses = {line["recording"]: line["status"] for line in done.json}
    assert sorted(statuses.values()) == ["refused", "refused", "same"]
    assert (done.status, unharmed(place)) == (2, True)


def at_a_terminal(place, words, answer):
    """Run a command on a terminal, answer its question, and return all that was on the screen."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        place.command(*words), cwd=place.folder, env=place.environ, stdin=slave, stdout=slave, stderr=slave,
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    shown, answered, until = b"", False, time.monotonic() + 100
    while time.monotonic() < until:
        if select.select([master], [], [], 0.2)[0]:
            try:
                block = os.read(master, 65536)
            except OSError:
                break
            if not block:
                break
            shown += block
        if not answered and b"[y/N]" in shown:
            os.write(master, answer)
            answered = True
    process.kill()
    process.wait()
    os.close(master)
    return shown.decode(errors="replace")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "answer",
    [
        b"\n",
        b"yess\n",
        pytest.param(b"n\n", marks=pytest.mark.thorough),
        pytest.param(b"\x04", marks=pytest.mark.thorough),
    ],
)
def test_at_a_terminal_every_answer_but_yes_runs_nothing(place, answer):
    shown = at_a_terminal(place, ["replay", "evil000001"], answer)
    assert "touch" in shown
    assert "[y/N]" in shown
    assert unharmed(place)
    assert place.run("replay", "evil000001").status == 2


def test_at_a_terminal_yes_runs_it_and_is_remembered_for_this_content(place):
    at_a_terminal(place, ["replay", "evil000001"], b"y\n")
    assert not unharmed(place)
    (place.folder / "MARK").unlink()
    place.run("replay", "evil000001")
    assert not unharmed(place)
    (place.folder / "MARK").unlink()
    changed = place.home / "recordings" / "evil000001" / "events.child.jsonl"
    shutil.copy(place.home / "recordings" / "good000001" / "events.jsonl", changed)
    assert place.run("replay", "evil000001").status == 2
    assert unharmed(place)


def test_what_would_deceive_on_the_terminal_is_shown_as_escapes(place):
    folder = place.home / "recordings" / "sly0000001"
    folder.mkdir()
    tree = lines("sly0000001", place.folder, 1)
    tree[0]["program"]["argv"] = ["/bin/sh", "-c", "touch MARK #\x1b[2J\r\u202egnp.txt"]
    (folder / "events.jsonl").write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in tree))
    shown = at_a_terminal(place, ["replay", "sly0000001"], b"n\n")
    assert "\\x1b[2J\\x0d\\u{202e}gnp.txt" in shown
    assert "\u202e" not in shown
    assert "\x1b[2J" not in shown


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "options"), [("reproduce", {}), ("fork", {"at": 1})])
def test_uploaded_to_a_server_it_is_run_by_no_job_and_answered_with_409(tmp_path, kind, options):
    app = application_of(Settings(tmp_path / "home", ("testserver",), keyless=True, running=True))
    paper = json.dumps({"key": "ed25519:" + "0" * 64, "signature": "00" * 64}).encode()
    pieces = [
        Piece("evil000001", "events.jsonl", 0, forged("evil000001", tmp_path, 2)),
        Piece("evil000001", "endorsed.json", 0, paper),
    ]
    with TestClient(app) as client:
        answer = client.post("/api/v1/uploads", content=upload_format.packed(pieces))
        assert [piece["status"] for piece in answer.json()["pieces"]] == ["ok", "refused"]
        answer = client.post(
            "/api/v1/jobs", json={"kind": kind, "recording": "evil000001", "options": options}
        )
        assert answer.status_code == 409, answer.text
        assert "touch" in answer.json()["detail"]
    assert not (tmp_path / "MARK").exists()
