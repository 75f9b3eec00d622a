"""The list, its facets and trends, and recordings as they come, change and go."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest

import reenact
from reenact.analysis.views.base import fields
from reenact.analysis.views.listing import stored_line
from reenact.core.store.base import Hit
from reenact.core.store.bundle import export
from reenact.core.store.index import Index
from reenact.core.store.local import EVENTS, LocalStore
from reenact.core.store.quotas import IntakeLimits
from reenact.server.examiner import Examiner
from reenact.server.library import ProjectLibrary
from reenact.server.refresh import Keeper
from tests.server.asking import Asking

REAL = sorted((Path(__file__).parents[1] / "recordings").glob("v*/*"))


@reenact.tool
def look(place):
    if place == "Oz":
        raise ValueError("no such place")
    return f"{place} is fine"


@reenact.tool(kind="model", name="gpt-4o")
def ask(question):
    return {
        "model": "gpt-4o",
        "choices": [{"message": {"role": "assistant", "content": f"you ask {question}"}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
    }


def recorded(home, name, *places, tags=()):
    with reenact.record(home=home, name=name, tags=tags) as recording:
        for place in places:
            ask(f"Is it warm in {place} this week?")
            try:
                look(place)
            except ValueError:
                if place == places[-1]:
                    break
    return recording.id


@pytest.fixture
def filled(home):
    """Three runs and one folder that cannot be read."""
    ids = [
        recorded(home, "tour", "Rome", "Oslo", tags=["staging"]),
        recorded(home, "tour", "Oz"),
        recorded(home, 'the "other"', "Bonn", "Oz", "Rome"),
    ]
    damaged = LocalStore(home).folder("damaged")
    damaged.mkdir()
    data = (LocalStore(home).folder(ids[0]) / EVENTS).read_bytes()
    (damaged / EVENTS).write_bytes(data.replace(b'{"event":"returned"', b'{"event":ret', 1))
    return ids


def looked(page):
    """Whether rules have been asked about all that is listed."""
    return page["total"] == 4 and all(
        line["anomalies"] is not None or line["status"] == "broken" for line in page["items"]
    )


def test_the_list_says_what_the_command_line_says(home, filled):
    with Asking(Path(home)) as asked:
        lines = asked.listed(4)
    store = LocalStore(home)
    lines_here = [stored_line(Hit(line)) for line in Index(store).summaries()]
    known = {line["id"]: line for line in orjson.loads(orjson.dumps(lines_here, default=fields))}
    for line in lines:
        # The server says no paths of its machine.
        elsewhere = {"path", "problem", "origin", "proved", *(["outcome"] if line["id"] == "damaged" else [])}
        said = {key: value for key, value in known[line["id"]].items() if key not in elsewhere}
        assert {key: line[key] for key in said} == said
    broken = next(line for line in lines if line["id"] == "damaged")
    assert broken["status"] == "broken"
    assert re.match(r"events\.jsonl, line \d: damaged", broken["problem"])
    assert broken["outcome"] == broken["problem"]
    assert [line["id"] for line in lines if line["id"] != "damaged"] == filled[::-1]


def test_a_recording_that_comes_while_a_page_is_made_is_not_counted(home, filled, monkeypatch):
    views = ProjectLibrary.views

    def later(self, found):
        known = self.entry(filled[0])
        self.know(replace(known, summary=replace(known.summary, id="later")))
        return views(self, found)

    with Asking(Path(home)) as asked:
        before = asked.until("/recordings", lambda page: page["total"] == 4 and page["complete"])
        monkeypatch.setattr(ProjectLibrary, "views", later)
        page = asked("/recordings")
        assert (page["total"], len(page["items"])) == (4, 4)
        assert before["version"] <= page["version"] < asked.library.version


@pytest.mark.thorough
def test_filters_sorts_and_pages(home, filled):
    with Asking(Path(home)) as asked:
        asked.listed(4)
        found = asked.listed(2, "tool:look and error")
        assert [(line["id"], line["found_in"]) for line in found] == [(filled[2], [4]), (filled[1], [2])]
        assert [line["id"] for line in asked.listed(1, "tag:staging")] == [filled[0]]
        assert [line["id"] for line in asked.listed(1, "status:broken")] == ["damaged"]
        assert asked.listed(0, "total_cost > 1000") == []
        assert len(asked.listed(2, 'name:tour and text ~ "you ask"')) == 2
        by_steps = asked("/recordings?sort=steps")["items"]
        assert [line["steps"] for line in by_steps] == [6, 4, 2, 0]
        assert asked("/recordings?sort=-steps&limit=2")["items"] == by_steps[::-1][:2]
        page = asked("/recordings?offset=1&limit=2")
        assert page["items"] == asked("/recordings")["items"][1:3]
        assert page["total"] == 4
        assert "column 1" in asked.refused("/recordings?filter=)", 400)
        assert "beside what is said of steps" in asked.refused("/recordings?filter=anomaly:loop or tool", 400)


@pytest.mark.thorough
def test_a_search_that_takes_too_long_is_ended_and_says_so(home, filled, monkeypatch):
    with Asking(Path(home)) as asked:
        asked.listed(4)
        monkeypatch.setattr("reenact.server.searching._LONGEST", -1.0)
        assert "ended after" in asked.refused('/recordings?filter=text ~ "you.*ask"', 503)
        monkeypatch.undo()
        assert len(asked.listed(2, 'name:tour and text ~ "you  *ask"')) == 2


def test_a_search_that_failed_is_made_again_once_its_failure_was_told(home, filled, monkeypatch):
    text = 'name:tour and text ~ "you.*ask"'
    with Asking(Path(home)) as asked:
        asked.listed(4)
        monkeypatch.setattr("reenact.server.searching._LONGEST", -1.0)
        monkeypatch.setattr("reenact.server.searching._REPEATED", 1e9)
        assert "ended after" in asked.refused(f"/recordings?filter={text}", 503)
        monkeypatch.setattr("reenact.server.searching._LONGEST", 60.0)
        # A page that repeats the request gets the same answer.
        assert "ended after" in asked.refused(f"/recordings?filter={text}", 503)
        monkeypatch.setattr("reenact.server.searching._LONGEST", -1.0)
        monkeypatch.setattr("reenact.server.searching._REPEATED", 0.0)
        other = 'name:tour and text ~ "you  *ask"'
        assert "ended after" in asked.refused(f"/recordings?filter={other}", 503)
        monkeypatch.setattr("reenact.server.searching._LONGEST", 60.0)
        assert len(asked.listed(2, other)) == 2


@pytest.mark.thorough
def test_each_facet_gives_the_filter_that_finds_as_many(home, filled):
    with Asking(Path(home)) as asked:
        asked.listed(4)
        asked.until("/recordings", looked)
        facets = asked("/recordings/facets")
        counted = {
            name: {one["value"]: one["count"] for one in facets[name]}
            for name in ("agent", "status", "model", "tag")
        }
        assert counted == {
            "agent": {"tour": 2, 'the "other"': 1},
            "status": {"ok": 3, "broken": 1},
            "model": {"gpt-4o": 3},
            "tag": {"staging": 1},
        }
        for name in ("agent", "status", "model", "tag", "anomaly", "cost"):
            assert facets[name], name
            for one in facets[name]:
                found = asked.until(f"/recordings?filter={one['filter']}", lambda page: page["complete"])
                assert found["total"] == one["count"], one
        few = asked("/recordings/facets?filter=tag:staging")
        assert few["agent"] == [{"value": "tour", "count": 1, "filter": 'agent == "tour"'}]


@pytest.mark.thorough
def test_trends_count_every_recording_once(home, filled):
    with Asking(Path(home)) as asked:
        lines = asked.listed(4)
        for by in ("hour", "day"):
            buckets = asked(f"/recordings/trends?by={by}")["buckets"]
            assert sum(bucket["recordings"] for bucket in buckets) == 4
            assert sum(bucket["tokens"] for bucket in buckets) == sum(
                line["tokens"]["input"] + line["tokens"]["output"] for line in lines
            )
            assert all(bucket["p50"] <= bucket["p95"] for bucket in buckets)


@pytest.mark.thorough
def test_what_comes_changes_and_goes_is_seen(home, filled):
    store = LocalStore(home)
    with Asking(Path(home)) as asked:
        asked.listed(4)
        asked.listed(2, "tool:look and error")
        version = asked("/recordings")["version"]
        new = recorded(home, "late", "Oz")
        assert asked.listed(5)[0]["id"] == new
        assert asked.listed(3, "tool:look and error")[0]["id"] == new
        assert asked("/recordings")["version"] > version
        # One whose folder comes a while before its events.
        data = (store.folder(new) / EVENTS).read_bytes()
        shutil.rmtree(store.folder(new))
        store.folder("later").mkdir()
        asked.listed(4)
        (store.folder("later") / EVENTS).write_bytes(data)
        asked.listed(5)
        shutil.rmtree(store.folder("later"))
        asked.listed(4)
        asked.listed(2, "tool:look and error")
        # Deleted by the server: gone at once, from the files as well.
        asked(f"/recordings/{filled[1]}", method="DELETE")
        assert filled[1] not in [line["id"] for line in asked("/recordings")["items"]]
        assert not store.folder(filled[1]).exists()
        assert "no recording" in asked.refused(f"/recordings/{filled[1]}", 404)


@pytest.mark.thorough
def test_a_recording_is_labelled_and_found_by_its_label_and_note(home, filled):
    with Asking(Path(home)) as asked:
        asked.listed(4)
        given = {"labels": ["bad"], "note": "Oz is no place"}
        whole = asked(f"/recordings/{filled[0]}/labels", method="PUT", json=given)
        assert (whole["labels"], whole["note"]) == (["bad"], "Oz is no place")
        assert whole["tags"][-1] == "bad"
        assert asked.listed(1, "tag:bad")[0]["id"] == filled[0]
        assert asked.listed(1, 'note ~ "no place"')[0]["note"] == "Oz is no place"
        assert "bad" in [one["value"] for one in asked("/recordings/facets")["tag"]]
        asked(f"/recordings/{filled[0]}/labels", method="PUT", json={"labels": [], "note": ""})
        asked.listed(0, "tag:bad")
        assert asked(f"/recordings/{filled[0]}")["note"] is None
        refused = asked.refused(f"/recordings/{filled[0]}/labels", 400, "PUT", json={"labels": ["two words"]})
        assert "one word without spaces" in refused
        assert "no recording" in asked.refused("/recordings/nothere/labels", 404, "PUT", json=given)


@pytest.mark.thorough
def test_what_rules_have_found_is_remembered(home, filled, monkeypatch):
    with Asking(Path(home)) as asked:
        found = {line["id"]: line["anomalies"] for line in asked.until("/recordings", looked)["items"]}
        assert asked(f"/recordings/{filled[2]}/anomalies")["items"]
        assert len(asked(f"/recordings/{filled[2]}/anomalies")["items"]) == found[filled[2]]
    shutil.copytree(LocalStore(home).folder(filled[0]), LocalStore(home).folder("copied"))
    monkeypatch.setattr(Examiner, "_look", lambda *_: None)  # nothing is examined again
    with Asking(Path(home)) as asked:
        again = asked.until(
            "/recordings?filter=status:ok",
            lambda page: (
                page["total"] == 4
                and sum(line["anomalies"] is not None for line in page["items"]) == len(filled)
            ),
        )
        told = {line["id"]: line["anomalies"] for line in again["items"]}
        assert {id: told[id] for id in filled} == {id: found[id] for id in filled}
        assert told["copied"] is None


def test_one_recording_says_what_it_is(home, filled):
    with Asking(Path(home)) as asked:
        whole = asked(f"/recordings/{filled[0]}")
        assert whole["steps"] == 4
        assert whole["tags"] == ["staging"]
        assert [process["name"] for process in whole["processes"]] == ["main"]
        assert whole["header"]["id"] == filled[0]
        assert "salt" not in whole["header"]
        assert re.match(r"events\.jsonl, line \d: damaged", asked.refused("/recordings/damaged", 422))


def test_a_recording_that_has_just_ended_has_its_outcome_before_the_list_has(home, filled, monkeypatch):
    path = LocalStore(home).folder(filled[0]) / EVENTS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    with Asking(Path(home)) as asked:
        asked.until("/recordings?filter=status:unsealed", lambda page: page["total"] == 1)
        monkeypatch.setattr(Keeper, "_look", lambda *_: None)
        with path.open("ab") as file:
            file.write(lines[-1])
        whole = asked(f"/recordings/{filled[0]}")
        assert (whole["status"], whole["live"]) == ("ok", False)


def test_a_recording_that_was_listed_before_its_first_line_is_no_broken_one(home, filled):
    store = LocalStore(home)
    data = (store.folder(filled[0]) / EVENTS).read_bytes()
    with Asking(Path(home)) as asked:
        store.folder("early").mkdir()
        (store.folder("early") / EVENTS).write_bytes(b"")
        asked.listed(5)
        (store.folder("early") / EVENTS).write_bytes(data)
        whole = asked("/recordings/early")
        assert (whole["status"], whole["steps"]) == ("ok", 4)


@pytest.mark.thorough
@pytest.mark.parametrize("id", ["%2e%2e", "a%2fb", "a b", "x" * 65, "CON:", "..%5c.."])
def test_an_id_that_is_none_opens_nothing(home, id):
    recorded(home, "one", "Rome")
    with Asking(Path(home)) as asked:
        for path in ("", "/steps", "/lanes", "/events", "/export", "/live"):
            answer = asked.client.get(f"/api/v1/recordings/{id}{path}")
            assert answer.status_code in (404, 405, 422), (path, answer.text)


@pytest.mark.thorough
def test_a_recording_goes_out_as_a_file_and_comes_in_again(home, filled, tmp_path):
    with Asking(Path(home)) as asked:
        lent = asked(f"/recordings/{filled[0]}/export")
        data = asked.client.get(lent["url"]).content
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert json.loads(archive.read("manifest.json"))["id"] == filled[0]
            assert b"Rome" in archive.read("page.html")
        assert asked.client.get(lent["url"][:-1] + "x").status_code == 403
        assert "already" in asked.refused("/recordings/import", 409, "POST", content=data)
    with Asking(tmp_path / "other") as asked:
        assert asked("/recordings")["items"] == []
        assert asked("/recordings/import", 201, "POST", content=data)["id"] == filled[0]
        assert asked.listed(1)[0]["name"] == "tour"
        assert "damaged" in asked.refused("/recordings/import", 422, "POST", content=b"PK nonsense")
        assert not list((tmp_path / "other").glob("incoming-*"))


@pytest.mark.thorough
def test_two_runs_are_compared_word_by_word(home):
    one, other = recorded(home, "a", "Rome"), recorded(home, "b", "Bonn")
    with Asking(Path(home)) as asked:
        found = asked(f"/diff?a={one}&b={other}")
        assert not found["same"]
        assert found["parting"]["a"] == 1
        words = [one["words"] for pair in found["pairs"] for one in pair["differences"] if one.get("words")]
        assert any(["-", "Rome"] in marks and ["+", "Bonn"] in marks for marks in words), words
        assert asked(f"/diff?a={one}&b={one}")["same"]
        assert "no recording" in asked.refused(f"/diff?a={one}&b=nope", 404)


@pytest.mark.thorough
def test_a_damaged_index_is_made_anew(home, filled):
    with Asking(Path(home)) as asked:
        asked.until("/recordings", looked)
    for name in ("index.sqlite", "findings.sqlite"):
        assert (Path(home) / name).stat().st_size > 0
        (Path(home) / name).write_bytes(b"nonsense" * 2000)
    with Asking(Path(home)) as asked:
        asked.until("/recordings", looked)
        assert len(asked.listed(2, "tool:look and error")) == 2


def test_a_file_that_unpacks_to_more_than_there_may_be_is_refused_without_a_path(tmp_path):
    packed = io.BytesIO()
    lines = bytes(3_000_000)
    member = {"size": len(lines), "sha256": hashlib.sha256(lines).hexdigest()}
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("events.jsonl", lines)
        file.writestr(
            "manifest.json", json.dumps({"reenact": 1, "id": "a", "members": {"events.jsonl": member}})
        )
    with Asking(tmp_path / "home", limits=IntakeLimits(recording=1_000_000)) as asked:
        said = asked.refused("/recordings/import", 413, "POST", content=packed.getvalue())
        assert said == "the file unpacks to more than 1000000 bytes, its limit here"
        assert not list((tmp_path / "home").glob("incoming-*"))
    with Asking(tmp_path / "other") as asked:
        said = asked.refused("/recordings/import", 400, "POST", content=packed.getvalue())
        assert str(tmp_path) not in said


def test_imported_recordings_count_for_the_quota_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = []
    for number in range(3):
        with reenact.record(home=tmp_path / "source") as recording:
            look(str(number))
        files.append(export(LocalStore(tmp_path / "source"), recording.id, tmp_path / f"{number}.reenact"))
    with Asking(tmp_path / "home", limits=IntakeLimits(recordings=2)) as asked:
        said = [asked.client.post("/api/v1/recordings/import", content=file.read_bytes()) for file in files]
    assert [answer.status_code for answer in said] == [201, 201, 507]


def test_an_import_stops_as_soon_as_the_disk_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr("reenact.server.routes.recording_files._LOOK", 1000)
    came = []

    def body():
        for number in range(100):
            came.append(number)
            if number == 5:
                monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=5))
            yield bytes(1000)

    with Asking(tmp_path / "home") as asked:
        assert "no room" in asked.refused("/recordings/import", 507, "POST", content=body())
        assert not list((tmp_path / "home").glob("incoming-*"))
