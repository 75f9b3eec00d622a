"""Nobody gets at what is another's, whatever route they try: the whole list of routes is walked.

The list is the application's own, so that a new route is walked without being added here.
"""

from __future__ import annotations

import hashlib
import re

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

import reenact
from reenact.server.app import application
from reenact.server.jobs import Jobs
from reenact.server.settings import Settings
from tests.hostile.walking import Asker, operations
from tests.server.test_routes import PUBLIC

SECRET = "canary-7f3a91"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A server with a recording of project `ours`: its application, and a few names that are ours."""
    home = tmp_path_factory.mktemp("home")
    with reenact.record(f"run {SECRET}", tags=[SECRET], home=home / "projects" / "ours") as recording:
        reenact.tool(lambda text: text + SECRET, name=f"tool {SECRET}")(SECRET)
    app = application(Settings(home, ("localhost",)))
    keys = {
        (p, r): app.state.keys.make(role=r, project=p)
        for p in ("ours", "theirs")
        for r in ("read", "write", "admin")
    }
    yield app, recording.id, keys
    assert isinstance(app.state.jobs, Jobs)
    app.state.jobs.close()
    app.state.keys.close()


def digest_of(folder):
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "sqlite" not in path.name:
            digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


def send(ask, what, operation, id):
    query = dict.fromkeys(operation.query, "")
    query = {name: id for name in query if name in {"a", "b", "script", "filter", "id"}}
    more = {"params": query} if query else {}
    if operation.method in {"POST", "PUT"}:
        more["json"] = {
            "recording": id,
            "recordings": [id],
            "id": id,
            "ids": [id],
            "kind": "report",
            "ref": id,
        }
    return ask(what, operation.method, operation.at(id), **more)


def test_without_a_key_no_route_answers_but_those_that_are_public(place):
    app, id, _ = place
    for sent in (
        {},
        {"Authorization": "Bearer rnt_00000000_x"},
        {"Authorization": "Basic eDp5"},
        {"Cookie": "reenact=a.9.b"},
    ):
        ask = Asker(app)
        for operation in operations(app):
            if operation.path not in PUBLIC:
                ask.client.headers.update(sent)
                answer = send(ask, "without a key", operation, id)
                assert answer.status_code in {401, 403}, (operation, answer.status_code)
                assert SECRET not in answer.text
        assert ask.asked > 80
        assert not ask.problems


NOT_CALLED = {"/api/v1/openapi.json", "/protocol/{id}/{key}", "console"}
"""What is no operation: the document, the WebSocket of a session's browser, and the pages of the console."""


def others(router, prefix=""):
    """The paths of an application that are no operations."""
    for route in router.routes:
        if (inner := getattr(route, "original_router", None)) is not None:
            yield from others(inner, prefix + route.include_context.prefix)
        elif not isinstance(route, APIRoute):
            yield prefix + getattr(route, "path", "console")


@pytest.mark.thorough
def test_every_operation_of_the_document_and_every_route_is_walked(place):
    app, _, _ = place
    walked = {(one.method, one.path.replace("{path:path}", "{path}")) for one in operations(app)}
    document = app.openapi()["paths"]
    told = {(method.upper(), path) for path, methods in document.items() for method in methods}
    assert told <= walked
    assert set(others(app)) == NOT_CALLED


@pytest.mark.parametrize("headers", [{}, {"Origin": "https://evil.example"}, {"Host": "evil.example"}])
def test_no_websocket_opens_for_a_forged_address(place, headers):
    app, id, keys = place
    client = TestClient(app, base_url="http://localhost")
    key = keys["ours", "admin"][1]
    for session in (id, "x", "..", "%2e%2e%2fx", "a" * 5000, "%00", "%ff"):
        for secret in ("x", key, "%00", "a" * 5000):
            headers = {**headers, "Authorization": f"Bearer {key}"}
            with (
                pytest.raises(WebSocketDisconnect),
                client.websocket_connect(f"/protocol/{session}/{secret}", headers=headers),
            ):
                pass
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/v1/recordings", headers=headers):
        pass


@pytest.mark.thorough
@pytest.mark.parametrize("role", ["read", "admin"])
def test_a_key_of_another_project_gets_nothing_of_ours(place, role):
    app, id, keys = place
    before = digest_of(app.state.settings.home / "projects" / "ours" / "recordings")
    ask = Asker(app, keys["theirs", role][1])
    theirs = [keys["ours", one][0].id for one in ("read", "admin")]
    for operation in operations(app):
        if operation.streams or operation.opens or operation.path in PUBLIC:
            continue
        for named in (id, theirs[1]):
            answer = send(ask, f"a key of another project that may {role}", operation, named)
            assert SECRET not in answer.text, (operation, answer.text[:300])
            if "/recordings/{id}" in operation.path and operation.method == "GET":
                assert answer.status_code in {404, 403, 422}, (operation, answer.status_code)
    assert not ask.problems
    ours = Asker(app, keys["ours", "read"][1])
    assert ours("ours", "GET", f"/api/v1/recordings/{id}").status_code == 200
    assert digest_of(app.state.settings.home / "projects" / "ours" / "recordings") == before
    assert {key.id for key in app.state.keys.all("ours")} >= set(theirs)


def test_a_key_that_may_read_changes_nothing(place):
    app, id, keys = place
    before = digest_of(app.state.settings.home / "projects" / "ours")
    ask = Asker(app, keys["ours", "read"][1])
    for operation in operations(app):
        if operation.role in {"write", "admin"}:
            answer = send(ask, "a key that may read", operation, id)
            assert answer.status_code == 403, (operation, answer.status_code, answer.text[:200])
    assert not ask.problems
    assert digest_of(app.state.settings.home / "projects" / "ours") == before


def test_a_key_that_may_write_is_no_admin(place):
    app, id, keys = place
    ask = Asker(app, keys["ours", "write"][1])
    for operation in operations(app):
        if operation.role == "admin":
            assert send(ask, "a key that may write", operation, id).status_code == 403, operation
    assert not ask.problems


def test_an_address_that_was_altered_is_refused(place, monkeypatch):
    app, id, keys = place
    ask = Asker(app, keys["ours", "read"][1])
    lent = ask("ours", "GET", f"/api/v1/recordings/{id}/export").json()["url"]
    path, expires, signature = re.fullmatch(r"(.*)\?expires=(\d+)&signature=(\w+)", lent).groups()
    stranger = Asker(app)
    assert stranger("as lent", "GET", lent).status_code == 200
    home = "/files"
    altered = [
        f"{path}?expires={int(expires) + 1}&signature={signature}",
        f"{path}?expires=&signature={signature}",
        f"{path}?signature={signature}",
        f"{path}?expires={expires}&signature=",
        f"{path}?expires={expires}&signature={signature[:-1]}",
        f"{path}?expires={expires}&signature={signature.upper()}",
        f"{path}?expires={expires}&signature={'0' * len(signature)}",
        f"{path}?expires={expires}&signature=%C3%A4",
        f"{path}?expires=%D9%A3&signature={signature}",
        f"{path}?expires={'9' * 400}&signature={signature}",
        f"{path}x?expires={expires}&signature={signature}",
        f"{path}/../../signing.key/x?expires={expires}&signature={signature}",
        *(
            f"{home}/{name}?expires={expires}&signature={signature}"
            for name in (
                "signing.key/x", "keys.sqlite/x", "../signing.key/x", "%2e%2e/%2e%2e/etc/passwd/x", "..%2f..%2fetc/passwd/x",
                "projects/ours/../../signing.key/x", "/etc/passwd", "", "%00", "%ff", "a" * 5000,
            )
        ),
    ]  # fmt: skip
    for address in altered:
        answer = stranger("altered", "GET", address)
        # What a client shortens to another path may be the console's page.
        page = answer.status_code == 200 and answer.text.startswith("<!doctype html>")
        assert page or answer.status_code in {400, 403, 404, 422}, (address, answer.status_code)
        assert SECRET not in answer.text
    assert not stranger.problems
    monkeypatch.setattr("reenact.browser.session.signatures.time.time", lambda: int(expires) + 1.0)
    assert stranger("expired", "GET", lent).status_code == 403
