"""A recording's seal is checked where it enters, and all that shows the recording shows the same mark."""

from __future__ import annotations

import hashlib
import json
import shutil
import time

import pytest
from fastapi.testclient import TestClient

import reenact
from reenact.cli import main
from reenact.core.store.base import Piece
from reenact.core.store.local import LocalStore
from reenact.server.app import application
from reenact.server.settings import Settings
from reenact.team.ship import upload_format
from tests.hostile.corpus import archive
from tests.hostile.forge import forge, lines_of


def other_answer(lines):
    next(line for line in lines if line["event"] == "returned")["value"] = "another answer"


def no_signature(lines):
    lines[-1].pop("signed")


def nothing(lines):
    del lines


def unsealed(lines):
    lines.pop()


MADE = {
    "another answer": (other_answer, "changed"),
    "no signature": (no_signature, "changed"),
    "no seal": (unsealed, "unsealed"),
    "nothing": (nothing, "sealed"),
}


@pytest.fixture
def command(home, capfd):
    """Runs a command that succeeds; returns its output and its messages."""

    def run(*words):
        capfd.readouterr()
        assert main([str(word) for word in words]) == 0
        return capfd.readouterr()

    return run


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The events of a recording of another home."""
    home = tmp_path_factory.mktemp("elsewhere")
    with reenact.record("run", home=home) as run:
        reenact.tool(lambda text: text, name="say")("hello")
    return LocalStore(home).folder(run.id) / "events.jsonl"


def altered(path, change):
    """The bytes of a recording's events after a change of its lines, with sums that fit."""
    if change is nothing:
        return path.read_bytes()
    lines = lines_of(path)
    change(lines)
    return forge(lines)


@pytest.fixture(params=MADE)
def stranger(request, recorded, tmp_path):
    """A recording from elsewhere: its id, its events, its file, the state of its seal, and its name."""
    change, seal = MADE[request.param]
    data = altered(recorded, change)
    id = recorded.parent.name
    member = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest = {"reenact": 2, "id": id, "name": "run", "members": {"events.jsonl": member}}
    file = tmp_path / "bug.reenact"
    file.write_bytes(archive(("events.jsonl", data), manifest=manifest))
    return id, data, file, seal, request.param


def sentence(seal):
    return {
        "changed": "it was changed after it was sealed",
        "unsealed": "it is foreign: no key has signed it",
        "sealed": "it is foreign: signed by the key",
    }[seal]


def test_an_import_says_what_the_list_the_page_and_the_report_say(command, stranger, tmp_path):
    id, _, file, seal, _ = stranger
    said = f"imported {id} from {file} (reenact): {sentence(seal)}"
    assert said in " ".join("".join(command("import", file)).split())
    ((imported,),) = (json.loads(command("import", file, "--json", "--home", tmp_path / "second").out),)
    origin = imported["origins"][id]
    assert (origin["where"], origin["seal"]) == ("foreign", seal)
    (line,) = json.loads(command("list", "--json").out)
    assert line["origin"] == origin
    listed = command("list").out
    assert "foreign" in listed
    assert ("changed" in listed) == (seal == "changed")
    assert sentence(seal) in command("show", id).out
    assert json.loads(command("show", id, "--json").out)["origin"] == origin
    command("report", id, "-o", tmp_path / "page.md")
    head = (tmp_path / "page.md").read_text().splitlines()[2].split(" · ")
    assert "foreign" in head
    assert (seal in head) == (seal != "sealed")
    assert sentence(seal) in command("show", file).out


@pytest.mark.sampled
def test_a_server_says_it_of_an_import_and_of_an_upload(stranger, tmp_path):
    id, data, file, seal, _ = stranger
    for way in ("import", "upload", "piece"):
        app = application(Settings(tmp_path / way, ("testserver",), keyless=True))
        with TestClient(app) as client:
            if way == "import":
                answer = client.post("/api/v1/recordings/import", content=file.read_bytes())
                assert answer.status_code == 201
                assert (answer.json()["origin"]["where"], answer.json()["origin"]["seal"]) == (
                    "foreign",
                    seal,
                )
            elif way == "upload":
                taken = client.post(
                    "/api/v1/uploads", content=upload_format.packed([Piece(id, "events.jsonl", 0, data)])
                )
                assert [piece["status"] for piece in taken.json()["pieces"]] == ["ok"]
            else:
                assert (
                    client.put(f"/api/v1/recordings/{id}/files/events.jsonl", content=data).status_code == 200
                )
            shown = client.get(f"/api/v1/recordings/{id}").json()["origin"]
            until = time.monotonic() + 60
            while not (listed := client.get("/api/v1/recordings").json()["items"]):
                assert time.monotonic() < until
            assert (shown["where"], shown["seal"]) == ("foreign", seal)
            assert [line["origin"] for line in listed] == [shown]
        shutil.rmtree(tmp_path / way)


def test_the_home_that_recorded_it_sees_a_change_as_the_others_do(command, home, stranger):
    with reenact.record("run", home=home) as mine:
        reenact.tool(lambda text: text, name="say")("hello")
    path = LocalStore(home).folder(mine.id) / "events.jsonl"
    change, seal = MADE[stranger[4]]
    path.write_bytes(altered(path, change))
    (line,) = json.loads(command("list", "--json").out)
    assert line["origin"]["seal"] == seal
    assert line["origin"]["where"] == ("foreign" if seal == "changed" else "home")
