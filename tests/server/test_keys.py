"""Keys are told once, kept as hashes, and of no use from the moment that they are taken back."""

from __future__ import annotations

import pytest

from reenact.errors import UsageError
from reenact.server.keys import FILE, Keys


@pytest.fixture
def keys(tmp_path):
    keys = Keys(tmp_path / "home")
    yield keys
    keys.close()


def test_a_key_is_found_by_itself_alone_and_nowhere_on_the_disk(keys, tmp_path):
    key, text = keys.make(role="write", project="shop", name="ci")
    assert keys.find(text) == key
    for wrong in ("", text[:-1], text + "a", text.upper(), key.prefix, "\ud800"):
        assert keys.find(wrong) is None
    file = tmp_path / "home" / FILE
    assert file.stat().st_mode & 0o777 == 0o600
    assert text.startswith(key.prefix)
    assert text.removeprefix(key.prefix).encode() not in file.read_bytes()


def test_another_process_sees_at_once_what_is_made_and_taken_back(keys, tmp_path):
    key, text = keys.make(role="read")
    beside = Keys(tmp_path / "home")
    assert beside.find(text) == key
    assert keys.remove(key.id)
    assert beside.find(text) is None
    assert not keys.remove(key.id)
    beside.close()


def test_a_project_sees_its_own_keys_alone(keys):
    ours, theirs = (keys.make(role="read", project=name)[0] for name in ("ours", "theirs"))
    assert [key.id for key in keys.all("ours")] == [ours.id]
    assert not keys.remove(theirs.id, "ours")
    assert len(keys.all()) == 2


def test_when_a_key_was_used_is_noted(keys):
    _, text = keys.make(role="read")
    assert keys.all()[0].used is None
    keys.find(text)
    assert keys.all()[0].used is not None


def test_looking_makes_no_file(keys, tmp_path):
    assert keys.all() == []
    assert keys.find("x") is None
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "A", "a b", "-a", "a" * 64, "ä", "a\n"])
def test_a_project_is_named_so_that_it_can_be_a_folder(keys, name):
    with pytest.raises(UsageError, match="is not a valid project name"):
        keys.make(role="read", project=name)


def test_a_file_that_is_none_of_ours_is_named(keys, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / FILE).write_text("no database" * 100)
    with pytest.raises(UsageError, match=r"keys\.sqlite: file is not a database"):
        keys.find("x")


# -- over HTTP ---------------------------------------------------------------------------------------------------


async def test_an_admin_makes_sees_and_takes_back_keys_of_its_project(served):
    app, client = served()
    client.headers["Authorization"] = f"Bearer {app.state.keys.make(role='admin', project='shop')[1]}"
    other, _ = app.state.keys.make(role="admin")
    made = (await client.post("/api/v1/keys", json={"name": "ci", "role": "write"})).json()
    assert made["key"].startswith(made["prefix"])
    asked = {"Authorization": f"Bearer {made['key']}"}
    assert (await client.get("/api/v1/me", headers=asked)).json() == {"project": "shop", "role": "write"}
    listed = (await client.get("/api/v1/keys")).json()["items"]
    assert [(key["name"], key["used"] is not None) for key in listed] == [("", True), ("ci", True)]
    assert "key" not in listed[1]
    assert (await client.delete(f"/api/v1/keys/{made['id']}")).status_code == 204
    assert (await client.get("/api/v1/me", headers=asked)).status_code == 401
    assert (await client.delete(f"/api/v1/keys/{other.id}")).status_code == 404


async def test_a_browser_shows_a_key_once_and_its_cookie_is_good_until_the_key_is_taken_back(served):
    app, client = served()
    assert (await client.post("/api/v1/login", json={"key": "x"})).status_code == 401
    key, text = app.state.keys.make(role="read")
    shown = await client.post("/api/v1/login", json={"key": text})
    cookie = shown.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert text not in cookie
    assert (await client.get("/api/v1/me")).json()["role"] == "read"
    app.state.keys.remove(key.id)
    assert (await client.get("/api/v1/me")).status_code == 401


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sent",
    [
        {"Origin": "https://agents.example.com"},
        {"X-Forwarded-Proto": "https"},
        {"Forwarded": "for=1.2.3.4;proto=https"},
    ],
)
async def test_the_cookie_goes_over_tls_alone_where_the_browser_speaks_tls(served, sent):
    app, client = served(hosts=("agents.example.com",))
    _, text = app.state.keys.make(role="read")
    host = {"Host": "agents.example.com"}
    for path in ("login", "logout"):
        asked = {"json": {"key": text}} if path == "login" else {}
        plain = await client.post(f"/api/v1/{path}", headers=host, **asked)
        assert "Secure" not in plain.headers["set-cookie"]
        behind = await client.post(f"/api/v1/{path}", headers=host | sent, **asked)
        assert "Secure" in behind.headers["set-cookie"]


async def test_a_cookie_that_was_changed_or_has_expired_is_nobodys(served, monkeypatch):
    app, client = served()
    _, text = app.state.keys.make(role="read")
    other, _ = app.state.keys.make(role="admin")
    await client.post("/api/v1/login", json={"key": text})
    ((name, value),) = client.cookies.items()
    id, expires, signature = value.split(".")
    forged = [
        f"{other.id}.{expires}.{signature}",
        f"{id}.{int(expires) + 1}.{signature}",
        f"{id}.{expires}",
        "a.b.c",
    ]
    client.cookies.clear()
    for value in forged:
        assert (await client.get("/api/v1/me", headers={"Cookie": f"{name}={value}"})).status_code == 401
    good = {"Cookie": f"{name}={id}.{expires}.{signature}"}
    assert (await client.get("/api/v1/me", headers=good)).status_code == 200
    monkeypatch.setattr("reenact.browser.session.signatures.time.time", lambda: int(expires))
    assert (await client.get("/api/v1/me", headers=good)).status_code == 401


async def test_who_leaves_is_forgotten(served):
    app, client = served()
    await client.post("/api/v1/login", json={"key": app.state.keys.make(role="read")[1]})
    await client.post("/api/v1/logout")
    assert (await client.get("/api/v1/me")).status_code == 401
