"""Videos come from the object store where it signs addresses, everything else from the server; no address is forged."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import obstore
import pytest
from fastapi.testclient import TestClient

import reenact
from reenact.core.store.local import LocalStore
from reenact.errors import StoreAway
from reenact.server.app import application
from reenact.server.keys import Keys
from reenact.server.settings import Settings
from reenact.team.objects import ObjectBlobs
from reenact.team.ship.exchange import TeamExchange
from reenact.team.store import TeamStore

LARGE = bytes(range(256)) * 300


@reenact.tool
def look(order):
    return {"order": order, "picture": LARGE}


@pytest.fixture
def there(place, s3, tmp_path):
    """A team's store on S3, with a recording in it."""
    place = replace(place, objects=f"s3://team/{tmp_path.name}")
    with reenact.record("one", home=tmp_path / "laptop") as run:
        look("A-1")
    home = LocalStore(tmp_path / "laptop")
    with TeamStore(place) as team:
        exchange = TeamExchange(home, team)
        exchange.push([run.id])
        exchange.close()
    (blob,) = home.folder(run.id).glob("blobs/*/*")
    return place, run.id, blob.name


@pytest.fixture
def client(there, tmp_path):
    place, id, _ = there
    app = application(Settings(home=tmp_path / "server", hosts=("testserver",), team=place))
    key = Keys(tmp_path / "server").make(role="admin", name="any")[1]
    headers = {"Authorization": f"Bearer {key}"}
    with TestClient(app, headers=headers, follow_redirects=False) as client:
        until = time.monotonic() + 120
        while client.get(f"/api/v1/recordings/{id}").status_code != 200:
            assert time.monotonic() < until
            time.sleep(0.1)
        yield client


def stores(answer, s3):
    """The address of the store that an answer leads on to."""
    assert answer.status_code == 307, answer.text
    address = answer.headers["location"]
    assert address.startswith(s3["AWS_ENDPOINT_URL"])
    return address


def test_a_blob_that_was_changed_in_the_store_is_never_handed_out(client, there, s3):
    place, id, digest = there
    store = ObjectBlobs(place.objects, "default")
    obstore.put(store._store, store._path(f"sha256:{digest}"), b"<script>another picture</script>")
    answer = client.get(f"/api/v1/recordings/{id}/blobs/{digest}")
    assert (answer.status_code, answer.content) == (200, LARGE)
    (copy,) = (client.app.state.settings.home / "recordings" / id).glob("blobs/*/*")
    copy.write_bytes(b"<script>another picture</script>")
    answer = client.get(f"/api/v1/recordings/{id}/blobs/{digest}")
    assert answer.status_code == 422
    assert b"script" not in answer.content


def lent(client, folder, name, data=LARGE):
    """Our address of a file in the server's home."""
    (folder / name).write_bytes(data)
    return client.app.state.links.lend(name, folder / name, 60)[0]


def test_videos_come_from_the_store_for_as_long_as_our_address_is_good(client, there, s3, tmp_path):
    url = lent(client, tmp_path / "server", "session 1.mp4")
    part = httpx.get(stores(client.get(url), s3), headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.content, part.headers["content-type"]) == (206, LARGE[10:20], "video/mp4")
    assert len(client.head(url).read()) == 0
    # As long as ours, and no longer.
    assert 0 < int(re.search(r"X-Amz-Expires=(\d+)", stores(client.get(url), s3))[1]) <= 60
    # The page that plays it may: its policy names the store, for videos and for nothing else.
    policy = client.get("/").headers["content-security-policy"]
    assert f"media-src {s3['AWS_ENDPOINT_URL']} 'self'" in policy
    assert policy.count(s3["AWS_ENDPOINT_URL"]) == 1


@pytest.mark.thorough
def test_what_is_opened_imported_or_run_comes_from_the_server_itself(client, there, tmp_path):
    _, id, _ = there
    export = client.get(client.get(f"/api/v1/recordings/{id}/export").json()["url"])
    assert (export.status_code, export.content[:2]) == (200, b"PK")
    assert f"one-{id}.reenact" in export.headers["content-disposition"]
    for name in (
        "report.html",
        "session 1.vtt",
        "test_kept.py",
        "script.patch",
        "result.json",
        "log.txt",
        "x",
    ):
        answer = client.get(lent(client, tmp_path / "server", name, b"x"))
        assert (answer.status_code, answer.content) == (200, b"x"), name


@pytest.mark.thorough
def test_a_video_that_was_put_or_changed_in_the_store_by_another_is_replaced_before_the_redirect(
    client, there, s3, tmp_path
):
    place, *_ = there
    store = ObjectBlobs(place.objects, "default")
    url = lent(client, tmp_path / "server", "session 1.mp4")
    path = urlsplit(stores(client.get(url), s3)).path.rpartition("/lent/")[2]
    obstore.put(store._store, f"default/lent/{path}", b"another film")
    assert httpx.get(stores(client.get(url), s3)).content == LARGE
    # Nor does a server believe in one that was there before it.
    client.app.state.lending._brought.clear()
    obstore.put(store._store, f"default/lent/{path}", b"another film")
    assert httpx.get(stores(client.get(url), s3)).content == LARGE
    # As long as nothing changes, nothing is sent again.
    sent = obstore.head(store._store, f"default/lent/{path}")["last_modified"]
    time.sleep(1.1)
    stores(client.get(url), s3)
    assert obstore.head(store._store, f"default/lent/{path}")["last_modified"] == sent


@pytest.mark.thorough
def test_an_address_that_was_changed_or_has_expired_or_another_signed_gives_nothing(there, s3, monkeypatch):
    place, _, digest = there
    address = ObjectBlobs(place.objects, "default").url(f"sha256:{digest}", 300)
    other = ObjectBlobs(place.objects, "default").put(b"another secret").removeprefix("sha256:")
    forged = {
        "without": address.partition("?")[0],
        "another blob": address.replace(f"{digest[:2]}/{digest}", f"{other[:2]}/{other}"),
        "longer": re.sub(r"X-Amz-Expires=\d+", "X-Amz-Expires=86400", address),
        "a later day": re.sub(r"X-Amz-Date=\d{8}", "X-Amz-Date=20400101", address),
        "another signature": address[:-1] + ("0" if address[-1] != "0" else "1"),
        "another's": address.replace("AK%2F", "EVE%2F"),
    }
    for what, one in forged.items():
        assert one != address, what
        answer = httpx.get(one)
        assert answer.status_code == 403, what
        assert b"secret" not in answer.content
        assert LARGE[:100] not in answer.content
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another key")
    assert httpx.get(ObjectBlobs(place.objects, "default").url(f"sha256:{digest}", 60)).status_code == 403
    monkeypatch.undo()
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    short = ObjectBlobs(place.objects, "default").url(f"sha256:{digest}", 1)
    time.sleep(2.1)
    assert httpx.get(short).status_code == 403
    assert httpx.get(address).content == LARGE


@pytest.mark.thorough
def test_while_the_store_is_away_the_server_answers_itself(client, there, s3, tmp_path, monkeypatch):
    _, id, digest = there

    def away(*_):
        raise StoreAway("the object store is away")

    monkeypatch.setattr(ObjectBlobs, "url", away)
    monkeypatch.setattr(ObjectBlobs, "lend", away)
    assert client.get(f"/api/v1/recordings/{id}/blobs/{digest}").content == LARGE
    assert client.get(lent(client, tmp_path / "server", "a.mp4")).content == LARGE


def test_a_folder_signs_nothing_and_what_was_lent_is_forgotten_after_two_days(
    place, s3, tmp_path, monkeypatch
):
    assert ObjectBlobs(place.objects, "default").url(f"sha256:{'0' * 64}", 60) is None
    file = tmp_path / "a.mp4"
    file.write_bytes(LARGE)
    blobs = ObjectBlobs(f"s3://team/{tmp_path.name}", "default")
    first = blobs.lend(file, {"Content-Type": "video/mp4"})
    assert blobs.lend(file, {"Content-Type": "video/mp4"}) == first
    assert blobs.keeps(first)
    monkeypatch.setattr("reenact.team.objects._LENT_FOR", -1.0)
    file.write_bytes(b"other")
    ObjectBlobs(f"s3://team/{tmp_path.name}", "default").lend(file, {"Content-Type": "video/mp4"})
    assert httpx.get(blobs.lent_url(first.path, 60)).status_code == 404
    assert not blobs.keeps(first)
