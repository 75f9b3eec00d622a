"""A recording that says of itself what cannot be kept harms itself alone, whichever way it came in."""

from __future__ import annotations

import itertools
import json
import os
from contextlib import closing
from types import SimpleNamespace

import orjson
import pytest
from prometheus_client.parser import text_string_to_metric_families

import reenact
from reenact.cli import main
from reenact.core.query.filter import Filter
from reenact.core.store import bundle
from reenact.core.store.base import Piece
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.team.index import TeamIndex
from reenact.team.location import TeamPlace
from reenact.team.ship import upload_format
from reenact.team.ship.exchange import TeamExchange
from reenact.team.store import TeamStore
from tests.server.asking import Asking
from tests.team.conftest import served

GOOD = ("goodaaaaaa", "goodbbbbbb", "goodcccccc")
NUMBERS = itertools.count()


def deep(depth, inner='"x"'):
    return json_raw("[" * depth + inner + "]" * depth)


def json_raw(text):
    """JSON as it is, which Python's own writer would not write."""
    return Raw(text)


class Raw(str):
    """A piece of JSON."""


HEADERS = {
    "tag-surrogate": {"tags": [json_raw('"\\ud800x"')]},
    "tag-escaped-surrogate": {"tags": [{"$surrogates": "\\ud800x"}]},
    "tag-list": {"tags": [["a"]]},
    "tag-object": {"tags": [{"a": 1}]},
    "tag-deep": {"tags": [deep(600)]},
    "tag-number": {"tags": [5]},
    "tag-null": {"tags": [None]},
    "tag-long": {"tags": ["x" * 100_000]},
    "tag-nul": {"tags": ["a\0b"]},
    "tags-many": {"tags": [f"t{number}" for number in range(10_000)]},
    "tags-text": {"tags": "abc"},
    "tags-number": {"tags": 5},
    "tags-object": {"tags": {"a": "b"}},
    "name-long": {"name": "n" * 10_000_000},
    "name-list": {"name": ["n"]},
    "name-number": {"name": 2**63},
    "name-object": {"name": {"$bytes": "AA=="}},
    "name-nul": {"name": "a\0b"},
    "name-surrogate": {"name": json_raw('"\\udfff"')},
    "name-markup": {"name": "[bold]x[/bold]\x1b[2J\u202e<script>"},
    "started-far": {"started": "99999-01-01T00:00:00+00:00"},
    "started-first": {"started": "0001-01-01T00:00:00+14:00"},
    "started-last": {"started": "9999-12-31T23:59:59-14:00"},
    "started-number": {"started": 1e300},
    "started-word": {"started": "yesterday"},
    "started-list": {"started": ["2026"]},
    "entry-object": {"entry": {"a": 1}},
    "parent-list": {"parent": ["x"]},
    "parent-step": {"parent": {"id": "goodaaaaaa", "step": 2**64 - 1, "how": ["x"]}},
    "parent-self": {"parent": {"id": "parent-self", "step": 1, "how": "fork"}},
    "pid-huge": {"pid": 2**63},
    "pid-list": {"pid": [1]},
    "offset-word": {"offset": "soon"},
    "program-list": {"program": [1]},
    "format-huge": {"format": 10**30},
    "header-deep": {"program": deep(900)},
}
"""What a header says in the place of what it should."""

EVENTS = {
    "ended-never": [{"event": "sealed", "status": "ok", "t": json_raw("1e999")}],
    "ended-nan": [{"event": "sealed", "status": "ok", "t": json_raw("NaN")}],
    "ended-word": [{"event": "sealed", "status": ["ok"], "t": "soon"}],
    "ended-long": [{"event": "sealed", "status": "x" * 100_000, "t": 1.0}],
    "step-long": [
        {
            "event": "called",
            "call": 1,
            "n": 1,
            "in": None,
            "kind": "k" * 9000,
            "name": "é" * 9000,
            "at": "main",
            "t": 0.1,
            "args": {},
        },
        {"event": "returned", "call": 1, "in": None, "at": "main", "t": 0.2, "value": 2**64 - 1},
    ],
    "step-types": [
        {"event": "called", "call": [1], "kind": {}, "name": 5, "scope": None, "t": "x", "args": []}
    ],
    "step-cost": [
        {
            "event": "called",
            "call": 1,
            "n": 1,
            "in": None,
            "kind": "model",
            "name": "gpt-4o",
            "at": "main",
            "t": 0.1,
            "args": {},
        },
        {
            "event": "returned",
            "call": 1,
            "n": 1,
            "in": None,
            "t": 0.2,
            "value": {
                "model": "g" * 5000,
                "choices": [{"message": {"role": "assistant", "content": "x"}}],
                "usage": {"prompt_tokens": 2**63, "completion_tokens": 1e300, "total_tokens": "many"},
            },
        },
    ],
    "line-list": [["event"]],
    "line-number": [5],
}
"""What comes after the header."""


def written(value):
    """JSON, with the pieces that stand in it as they are."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)


def lines(id, said=None, events=None):
    header = {
        "event": "opened",
        "format": 1,
        "rules": 1,
        "id": id,
        "name": "agent",
        "tags": ["nightly"],
        "started": "2026-11-01T10:00:00+00:00",
        "entry": "block",
        "process": "main",
        "pid": 1,
        "program": None,
        "adapters": [],
        "salt": "00",
        "secrets": {},
    }
    ended = [{"event": "sealed", "status": "ok", "t": 0.5}]
    return b"".join(
        written(line).encode("utf-8", "surrogatepass") + b"\n"
        for line in ({**header, **(said or {})}, *(events or ended))
    )


BAD = {name: lines(name, said) for name, said in HEADERS.items()} | {
    name: lines(name, None, events) for name, events in EVENTS.items()
}


def put(store, id, data):
    folder = store.folder(id)
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(data)


@pytest.fixture
def home(tmp_path):
    """Three good recordings, and one of each that is not."""
    store = LocalStore(tmp_path / "home")
    for id in GOOD:
        put(store, id, lines(id))
    for id, data in BAD.items():
        put(store, id, data)
    return store


@pytest.fixture(scope="module")
def postgres():
    with served() as server:
        yield server


@pytest.fixture
def place(postgres, tmp_path):
    return TeamPlace(
        postgres.database(f"bad_{next(NUMBERS)}"), f"file://{tmp_path}/objects", "default", tmp_path / "cache"
    )


def told(summaries):
    """All of them are listed; the good ones as they are, and each broken one with a reason on one line."""
    found = {line.id: line for line in summaries}
    for id in GOOD:
        assert (found[id].broken, found[id].name, found[id].tags) == ("", "agent", ("nightly",))
    for line in found.values():
        assert "\n" not in line.broken
        assert len(line.broken) <= 400
        orjson.dumps([line.name, *line.tags, line.problem, line.duration, line.moment])
    return found


def test_a_folder_lists_the_good_ones_and_names_the_broken_ones(home, run):
    with_index = told(Index(home).summaries())
    assert with_index.keys() == {*GOOD, *BAD}
    assert all(
        with_index[id].broken for id in ("tag-list", "tag-deep", "tags-number", "name-long", "started-far")
    )
    status, out, err = run("list", "--all", "--home", home.root)
    assert status == 0, err
    assert all(id in out for id in GOOD)
    assert "tag-list" in out
    status, out, err = run("list", "--all", "--json", "--home", home.root)
    assert status == 0, err
    known = {one["id"]: one for one in json.loads(out)}
    assert known["tag-list"]["status"] == "broken"
    assert "tag" in known["tag-list"]["problem"]
    status, out, _ = run("list", "--tag", "nightly", "--all", "--json", "--home", home.root)
    assert {one["id"] for one in json.loads(out)} >= set(GOOD)
    status, out, _ = run("list", "tag:nightly and status == ok", "--all", "--json", "--home", home.root)
    assert status == 0
    assert {one["id"] for one in json.loads(out)} >= set(GOOD)


def test_no_reading_verb_ends_with_a_traceback(home, run):
    for id in ("tag-list", "tag-deep", "tags-number", "name-nul", "parent-step"):
        status, _, err = run("show", id, "--home", home.root)
        assert status in (0, 2), err
    status, _, err = run("prune", "--keep", "1000", "--yes", "--home", home.root)
    assert status == 0, err


def test_a_folder_whose_name_is_no_text_is_left_out_of_the_list(home, run):
    put(home, os.fsdecode(b"bad\xff"), lines("x"))
    told(Index(home).summaries())
    assert run("list", "--all", "--home", home.root)[0] == 0


@pytest.mark.thorough
def test_a_server_lists_and_counts_them(home):
    with Asking(home.root) as ask:
        page = ask.until(
            "/recordings?limit=500", lambda page: page["total"] == len(BAD) + 3 and page["complete"]
        )
        found = {one["id"]: one for one in page["items"]}
        assert found["tag-list"]["status"] == "broken"
        assert found["tag-list"]["problem"]
        facets = ask("/recordings/facets")
        counted = {one["value"]: one["count"] for one in facets["status"]}
        assert counted["broken"] == sum(one["status"] == "broken" for one in found.values())
        assert ask("/recordings/trends")["buckets"]
        assert {one["id"] for one in ask.listed(3, "id:good*")} == set(GOOD)
        ready = ask("/ready")
        assert ready["ready"]
        assert ready["broken"] == counted["broken"]


def test_an_upload_of_each_is_answered_and_listed(tmp_path):
    with Asking(tmp_path / "server") as ask:
        pieces = [Piece(id, "events.jsonl", 0, data) for id, data in BAD.items() if len(data) < 1 << 20]
        pieces += [Piece(id, "events.jsonl", 0, lines(id)) for id in GOOD]
        answer = ask.client.post(
            "/api/v1/uploads",
            content=upload_format.packed(pieces),
            headers={"Content-Type": upload_format.TYPE},
        )
        assert answer.status_code == 200, answer.text
        taken = [
            piece.recording
            for piece, one in zip(pieces, answer.json()["pieces"], strict=True)
            if one["status"] == "ok"
        ]
        assert set(taken) > set(GOOD)
        page = ask.until(
            "/recordings?limit=500", lambda page: page["total"] == len(taken) and page["complete"]
        )
        assert {one["id"] for one in page["items"] if one["status"] != "broken"} >= set(GOOD)


def test_an_import_of_each_costs_one_line_at_most(home, run, tmp_path):
    store = LocalStore(tmp_path / "other")
    for id in (*BAD, *GOOD):
        file = tmp_path / f"{id}.reenact"
        # As a stranger packs it: an export refuses what it cannot read.
        bundle._write(home.folder(id), file, SimpleNamespace(id=id, name=id), b"", None)
        status, _, err = run("import", file, "--home", store.root)
        assert status in (0, 2), (id, err)
    told(Index(store).summaries())


@pytest.mark.thorough
def test_a_team_lists_searches_and_brings_back_all_but_the_broken_ones(
    home, place, run, monkeypatch, tmp_path
):
    monkeypatch.setenv("REENACT_STORE", place.database)
    monkeypatch.setenv("REENACT_OBJECTS", place.objects)
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "mine"))
    status, _, err = run("push", "--all", "--home", home.root)
    assert status in (0, 1), err
    with TeamStore(place) as team:
        index = TeamIndex(team)
        found = told(index.summaries())
        assert "tag" in found["tag-list"].broken
        assert found["step-long"].broken == ""
        # One more reads what nobody has read: none is left to be read again.
        assert index._unread() == []
        assert {hit.summary.id for hit in index.search(Filter("tag:nightly"))} >= set(GOOD)
        assert {hit.summary.id for hit in index.search(Filter("tool:x or error"))} <= found.keys()
        assert "tag-list" in {hit.summary.id for hit in index.listed(Filter(""), status="broken").hits}
    for words in (
        ("list", "--team", "--all"),
        ("list", "--team", "--all", "--json"),
        ("list", "--team", "--tag", "nightly"),
        ("team", "projects"),
        ("team", "clean"),
    ):
        status, _, err = run(*words)
        assert status == 0, (words, err)
    status, _, err = run("sync", "--home", tmp_path / "third")
    assert status in (0, 1), err
    assert set(GOOD) <= set(LocalStore(tmp_path / "third").ids())
    status, _, err = run("show", GOOD[0], "--team")
    assert status == 0, err


@pytest.mark.thorough
def test_a_line_that_an_earlier_version_wrote_is_shown_all_the_same(home, place):
    with TeamStore(place) as team, closing(TeamExchange(home, team)) as exchange:
        exchange.push(list(GOOD))
        index = TeamIndex(team)
        index.summaries()
        with team.database.begin() as connection:
            connection.exec_driver_sql(
                f"UPDATE reenact.recordings SET tags = ARRAY[chr({0xF0000 + 0xD800}) || 'x'] WHERE id = '{GOOD[0]}'"
            )
        (line,) = [line for line in index.summaries() if line.id == GOOD[0]]
        assert line.tags == ("\N{REPLACEMENT CHARACTER}x",)


@pytest.mark.thorough
def test_a_server_before_a_team_goes_on(home, place, tmp_path, capfd):
    with TeamStore(place) as team, closing(TeamExchange(home, team)) as exchange:
        exchange.push(home.ids())
        count = len(team.ids())
    with Asking(tmp_path / "server", team=place) as ask:
        page = ask.until("/recordings?limit=500", lambda page: page["total"] == count and page["complete"])
        assert {one["id"] for one in page["items"]} >= set(GOOD)
        text = ask.client.get("/metrics").text
    assert "trying again" not in capfd.readouterr().err
    counted = (
        {family.name: family for family in text_string_to_metric_families(text)}
        if text.startswith("#")
        else {}
    )
    if counted:
        assert counted["reenact_broken_recordings"].samples[0].value > 0


@pytest.fixture
def run(tmp_path, capfd):
    """Runs one command; gives its exit status, standard output and standard error."""

    def run(*arguments):
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run


def test_a_tag_whose_bytes_are_no_text_is_refused_before_the_program_runs(run, tmp_path):
    mark = tmp_path / "ran"
    words = ("record", "--tag", os.fsdecode(b"caf\xe9"), "--home", tmp_path / "home", "--", "touch", mark)
    status, _, err = run(*words)
    assert status == 2
    assert "its bytes are not UTF-8" in err
    assert len(err.strip().splitlines()) == 1
    assert not mark.exists()


def test_tags_of_a_program_that_no_recording_can_have_are_left_out_with_a_word(tmp_path, capfd):
    with reenact.record("x", tags=["a", "\ud800x", 5, ["b"], "y" * 5000], home=tmp_path) as recording:
        recording.output = 1
    assert recording.load().tags == ("a",)
    err = capfd.readouterr().err
    assert err.count("it is left out of the recording") == 4
    (line,) = Index(LocalStore(tmp_path)).summaries()
    assert (line.broken, line.tags) == ("", ("a",))


def test_a_name_that_no_recording_can_have_is_made_one(tmp_path):
    with reenact.record("\ud800" + "n" * 10_000, home=tmp_path):
        pass
    (line,) = Index(LocalStore(tmp_path)).summaries()
    assert line.broken == ""
    assert len(line.name) == 4096
