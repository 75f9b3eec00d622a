"""What the server takes of a recording that is made elsewhere, and what it refuses."""

from __future__ import annotations

import hashlib

import pytest
from fastapi.testclient import TestClient

import reenact
from reenact.core.store.intake import LocalIntake
from reenact.core.store.local import LocalStore
from reenact.core.store.quotas import IntakeLimits
from reenact.server.app import application
from reenact.server.keys import Keys
from reenact.server.request_memory import RequestMemory
from reenact.server.settings import Settings
from reenact.team.ship import upload_format
from reenact.team.ship.upload_format import Piece
from tests.hostile.forge import forge

ID = "abcdefghjk"
HEADER = b'{"event":"opened","format":1,"id":"abcdefghjk","pid":1}\n'
LINE = b'{"event":"noted","what":"hole","text":"x","t":1.0}\n'
FILE = f"/api/v1/recordings/{ID}/files/events.jsonl"


@reenact.tool
def look():
    return bytes(range(256)) * 100


@pytest.fixture
def home(tmp_path):
    return tmp_path / "server"


@pytest.fixture
def client(home):
    app = application(Settings(home=home, hosts=("testserver",)))
    key = Keys(home).make(role="write", name="writer")[1]
    with TestClient(app, headers={"Authorization": f"Bearer {key}"}) as client:
        yield client


@pytest.fixture
def events(home):
    return home / "recordings" / ID / "events.jsonl"


def test_lines_are_appended_where_the_file_ends_and_once(client, events):
    assert client.put(FILE, content=HEADER).json() == {"length": len(HEADER)}
    assert client.put(f"{FILE}?offset={len(HEADER)}", content=LINE).status_code == 200
    # Again, as after an answer that was lost; and in part known, as after a kill.
    assert client.put(f"{FILE}?offset={len(HEADER)}", content=LINE).status_code == 200
    assert client.put(FILE, content=HEADER + LINE + LINE).json() == {"length": len(HEADER + LINE + LINE)}
    assert events.read_bytes() == HEADER + LINE + LINE
    assert client.head(FILE).headers["Upload-Length"] == str(len(HEADER + LINE + LINE))


@pytest.mark.thorough
def test_what_would_leave_a_gap_or_change_a_byte_is_refused_with_the_length(client, events):
    client.put(FILE, content=HEADER)
    gap = client.put(f"{FILE}?offset=999", content=LINE)
    assert (gap.status_code, gap.headers["Upload-Length"]) == (409, str(len(HEADER)))
    other = client.put(FILE, content=HEADER.replace(b'"pid":1', b'"pid":2') + LINE)
    assert (other.status_code, other.json()["detail"]) == (
        409,
        "other bytes are stored here already, and are never overwritten",
    )
    assert events.read_bytes() == HEADER


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("recording", "name"),
    [
        ("..", "events.jsonl"),
        ("../../etc", "events.jsonl"),
        (ID, "../../../x.jsonl"),
        (ID, "/etc/passwd"),
        (ID, "events.../../x.jsonl"),
        (ID, "events.jsonl\n"),
        (ID, "keys.sqlite"),
        (ID, "sha256:../../../../etc/passwd"),
        (ID, "sha256:" + "A" * 64),
        ("a/b", "events.jsonl"),
        ("", "events.jsonl"),
    ],
)
def test_no_name_leads_out_of_the_recording(client, home, recording, name):
    client.put(FILE, content=HEADER)
    before = sorted(home.rglob("*"))
    body = upload_format.packed([Piece(recording, name, 0, HEADER)])
    (answer,) = client.post("/api/v1/uploads", content=body).json()["pieces"]
    assert answer["status"] == "refused"
    assert sorted(home.rglob("*")) == before


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path", ["%2e%2e/files/events.jsonl", f"{ID}/files/..%2fx.jsonl", f"{ID}/blobs/..%2f..%2fx"]
)
def test_no_address_does_either(client, home, path):
    answer = client.put(f"/api/v1/recordings/{path}", content=HEADER)
    assert answer.status_code in {404, 405, 422}
    assert not (home / "recordings").exists()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (LINE, "begins with a header"),
        (b"\xff\xfe\n", "begins with a header"),
        (HEADER[:-1], "ends with a line"),
        (b"", "ends with a line"),
        (HEADER.replace(b'"format":1', b'"format":99'), "upgrade the server"),
        (HEADER.replace(b"abcdefghjk", b"another123"), "names another recording"),
        (
            HEADER.replace(b'"pid":1', b'"parent":{"id":"../../projects/x/recordings/y"}'),
            "a parent that is no recording",
        ),
        (HEADER + b'{"event":"same","line":2}\n', "a fork is sent whole"),
    ],
)
def test_what_is_no_recording_is_refused_and_leaves_nothing(client, home, data, why):
    answer = client.put(FILE, content=data)
    assert answer.status_code == 400
    assert why in answer.json()["detail"]
    assert not (home / "recordings").exists()


@pytest.mark.thorough
def test_a_blob_is_what_its_name_says(client, home):
    data = bytes(range(256))
    digest = hashlib.sha256(data).hexdigest()
    path = f"/api/v1/recordings/{ID}/blobs/{digest}"
    assert client.put(path, content=data[1:]).json() == {"detail": "its bytes have another hash"}
    for _ in range(2):
        assert client.put(path, content=data).status_code == 200
    folder = home / "recordings" / ID / "blobs" / digest[:2]
    assert [(file.name, file.read_bytes()) for file in folder.iterdir()] == [(digest, data)]


@pytest.mark.thorough
def test_each_of_many_pieces_has_an_answer_of_its_own(client, events):
    pieces = [
        Piece(ID, "events.jsonl", 0, HEADER),
        Piece(ID, "session.1.jsonl", 0, b'{"event":"session"}\n'),
        Piece("other", "events.jsonl", 5, LINE),
        Piece(ID, "events.jsonl", len(HEADER), LINE),
        Piece("none", "session.1.jsonl", 0, LINE),
    ]
    answers = client.post("/api/v1/uploads", content=upload_format.packed(pieces)).json()["pieces"]
    assert [one["status"] for one in answers] == ["ok", "ok", "gap", "ok", "gap"]
    assert events.read_bytes() == HEADER + LINE
    asked = client.post("/api/v1/uploads/lengths", json={"recordings": [ID, "other", "../x"]})
    assert asked.json() == {"recordings": {ID: {"events.jsonl": len(HEADER + LINE), "session.1.jsonl": 20}}}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "body",
    [
        b"", b"{}", b"[]\n", b'{"pieces":5}\n', b'{"pieces":[{}]}\n', b'{"pieces":[]}\nmore', b"\xff\n",
        b'{"pieces":[{"recording":"a","name":"events.jsonl","offset":0,"length":9}]}\nshort',
        b'{"pieces":[{"recording":"a","name":"events.jsonl","offset":-1,"length":0}]}\n',
        b'{"pieces":[{"recording":"a","name":"events.jsonl","offset":true,"length":0}]}\n',
    ],
)  # fmt: skip
def test_a_body_that_is_none_is_said_to_be_none(client, body):
    answer = client.post("/api/v1/uploads", content=body)
    assert answer.status_code == 400
    assert isinstance(answer.json()["detail"], str)


@pytest.mark.thorough
def test_a_body_that_is_too_long_is_not_read(client, monkeypatch, home):
    monkeypatch.setattr(upload_format, "BODY", 1000)
    answer = client.put(FILE, content=HEADER + LINE * 100)
    assert answer.status_code == 413
    assert not (home / "recordings").exists()


@pytest.mark.thorough
def test_one_who_may_only_read_and_one_without_a_key_write_nothing(client, home):
    reader = Keys(home).make(role="read", name="reader")[1]
    for headers, status in (
        ({"Authorization": f"Bearer {reader}"}, 403),
        ({"Authorization": "Bearer x"}, 401),
    ):
        assert client.put(FILE, content=HEADER, headers=headers).status_code == status
        assert (
            client.post("/api/v1/uploads", content=upload_format.packed([]), headers=headers).status_code
            == status
        )
        assert client.head(FILE, headers=headers).status_code == status
    assert not (home / "recordings").exists()


@pytest.mark.thorough
def test_a_key_writes_to_its_own_project(client, home):
    other = Keys(home).make(role="write", project="other", name="o")[1]
    client.put(FILE, content=HEADER, headers={"Authorization": f"Bearer {other}"})
    assert (home / "projects" / "other" / "recordings" / ID / "events.jsonl").exists()
    assert client.head(FILE).status_code == 404


@pytest.mark.parametrize(
    ("limits", "status", "why"),
    [
        (IntakeLimits(recording=400), "large", "a recording may have at most 400 bytes"),
        (IntakeLimits(project=400), "full", "the project has 400 bytes at most"),
        (IntakeLimits(free=1 << 62), "full", "the server's disk is full"),
    ],
)
def test_no_more_is_taken_than_there_may_be(tmp_path, limits, status, why):
    intake = LocalIntake(LocalStore(tmp_path), limits)
    answers = intake.take([Piece(ID, "events.jsonl", 0, HEADER)])
    answers += intake.take([Piece(ID, "events.jsonl", len(HEADER), LINE * 9)])
    intake.close()
    assert answers[-1].status == status
    assert why in answers[-1].detail


@pytest.mark.thorough
def test_a_project_has_so_many_recordings_and_those_may_grow(home):
    limits = IntakeLimits(recordings=1, recording=1000)
    app = application(Settings(home=home, hosts=("testserver",), keyless=True, limits=limits))
    other = ID.replace("a", "z")
    header = HEADER.replace(ID.encode(), other.encode())
    with TestClient(app) as client:
        assert client.put(FILE, content=HEADER).status_code == 200
        refused = client.put(FILE.replace(ID, other), content=header)
        assert (refused.status_code, refused.headers["Retry-After"]) == (507, "60")
        assert "1 recordings at most" in refused.json()["detail"]
        assert client.put(f"{FILE}?offset={len(HEADER)}", content=LINE).status_code == 200
        answer = client.post(
            "/api/v1/uploads", content=upload_format.packed([Piece(other, "events.jsonl", 0, header)])
        )
        assert answer.status_code == 507, answer.text
        at = len(HEADER + LINE)
        assert client.put(f"{FILE}?offset={at}", content=LINE * 20).status_code == 413
        assert client.post("/api/v1/recordings/import", content=bytes(1001)).status_code == 413
        assert client.post("/api/v1/recordings/import", content=bytes(10)).status_code == 507
    assert not (home / "recordings" / other).exists()


def test_more_bytes_at_once_than_are_held_in_memory_are_to_be_sent_again(home):
    app = application(Settings(home=home, hosts=("testserver",), keyless=True))
    app.state.projects.library("default").uploads = RequestMemory(3 * len(HEADER))
    with TestClient(app) as client:
        refused = client.put(FILE, content=HEADER + LINE * 100)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        # What is answered is held no more, whatever the answer.
        assert [client.put(FILE, content=HEADER).status_code for _ in range(9)] == [200] * 9
        assert [client.put(FILE, content=b"x" * len(HEADER)).status_code for _ in range(9)] == [400] * 9
        assert client.put(FILE, content=HEADER).status_code == 200


def test_a_blob_that_is_too_large_is_refused(tmp_path):
    intake = LocalIntake(LocalStore(tmp_path), IntakeLimits(blob=10))
    (answer,) = intake.take([Piece(ID, f"sha256:{hashlib.sha256(bytes(11)).hexdigest()}", 0, bytes(11))])
    intake.close()
    assert (answer.status, answer.detail) == ("refused", "a blob has 10 bytes at most here")


@pytest.mark.thorough
def test_a_damaged_line_is_named_and_nothing_is_kept(client, home):
    good = forge(
        [
            {"event": "opened", "format": 2, "id": ID, "pid": 1},
            {"event": "noted", "what": "hole", "text": "x", "t": 1.0},
        ]
    )
    refused = client.put(FILE, content=good.replace(b'"text":"x"', b'"text":"y"'))
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("events.jsonl, line 2: damaged: it was changed")
    assert not (home / "recordings" / ID).exists()


def test_a_line_that_names_a_file_elsewhere_as_its_blob_reads_nothing(client, tmp_path, home):
    secret = tmp_path / "secret"
    secret.write_bytes(b"a secret of the server's")
    with reenact.record("blob", home=home) as run:
        look()
    store = LocalStore(home)
    events = store.folder(run.id) / "events.jsonl"
    data = events.read_bytes()
    start = data.index(b'"sha256:') + 8
    for address in (str(secret).encode(), b"../../../../secret"):
        events.write_bytes(data[:start] + address + data[start + 64 :])
        with pytest.raises(reenact.RecordingError):
            _ = [step.output for step in store.load(run.id)]
