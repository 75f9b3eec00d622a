"""What stands before every route: nothing hostile reaches one."""

from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from reenact.server import guard
from reenact.server.rates import Rates

PATH = "/api/v1/me"


@pytest.mark.sampled
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8090",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8090",
        "",
        "a b",
        "[::1",
        "localhost:8090:1",
    ],
)
async def test_a_request_to_another_name_is_refused_though_it_came_here(served, host):
    _, client = served(keyless=True)
    answer = await client.get(PATH, headers={"Host": host})
    assert answer.status_code == 421
    assert "--host-name" in answer.json()["detail"]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8090", "127.0.0.1:1", "[::1]:8090", "192.168.1.7:8090"]
)
async def test_its_own_names_and_addresses_are_answered(served, host):
    _, client = served(keyless=True)
    assert (await client.get(PATH, headers={"Host": host})).status_code == 200


async def test_the_names_that_it_was_given_are_its_own(served):
    _, client = served(hosts=("agents.example.com",), keyless=True)
    assert (await client.get(PATH, headers={"Host": "agents.example.com"})).status_code == 200
    assert (await client.get(PATH, headers={"Host": "localhost:8090"})).status_code == 421


@pytest.mark.sampled
@pytest.mark.parametrize(
    "sent",
    [
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "null"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_what_a_page_of_another_origin_sends_is_refused(served, method, sent):
    _, client = served(keyless=True)
    answer = await client.request(method, "/api/v1/keys", headers=sent)
    assert (answer.status_code, answer.json()) == (
        403,
        {"detail": "this was sent by a page of another origin"},
    )
    assert "access-control-allow-origin" not in answer.headers


async def test_a_form_of_another_page_that_leads_here_is_refused_and_a_link_is_followed(served):
    _, client = served(keyless=True)
    sent = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (await client.post("/api/v1/keys", headers=sent)).status_code == 403
    assert (await client.get(PATH, headers=sent)).status_code == 200


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sent",
    [{"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": "http://localhost:8090"}, {}],
)
async def test_its_own_pages_and_programs_are_answered(served, sent):
    _, client = served(keyless=True)
    assert (await client.post("/api/v1/keys", json={}, headers=sent)).status_code == 201


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Forwarded", "X-Forwarded-For", "Via"])
async def test_without_keys_nothing_that_came_by_a_proxy_is_answered(served, name):
    _, keyless = served(keyless=True)
    assert (await keyless.get(PATH, headers={name: "1.2.3.4"})).status_code == 403
    app, client = served()
    _, key = app.state.keys.make(role="read")
    sent = {name: "1.2.3.4", "Authorization": f"Bearer {key}"}
    assert (await client.get(PATH, headers=sent)).status_code == 200


# -- how long it is ----------------------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_a_body_that_says_it_is_too_long_is_not_even_read(served):
    _, client = served(keyless=True)
    read = []

    async def body():
        read.append(1)
        yield b"x"

    answer = await client.post(
        "/api/v1/keys", content=body(), headers={"Content-Length": str(guard.BODY + 1)}
    )
    assert (answer.status_code, read) == (413, [])


async def test_a_body_that_goes_on_without_saying_so_is_cut_off(served):
    _, client = served(keyless=True)
    read = []

    async def body():
        for _ in range(100):
            read.append(1)
            yield b" " * 100_000

    answer = await client.post("/api/v1/keys", content=body())
    assert answer.status_code == 413
    assert answer.json()["detail"] == "the body is too large: at most 1000000 bytes"
    assert len(read) == 11
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.thorough
async def test_an_upload_may_be_longer(served):
    app, client = served(keyless=True)
    path = "/api/v1/recordings/abc/files/events.jsonl"

    async def count(request: Request):
        size = 0
        async for part in request.stream():
            size += len(part)
        return PlainTextResponse(str(size))

    app.router.routes.insert(0, Route(path, count, methods=["PUT"]))
    body = b"x" * (guard.BODY + 1)
    assert (await client.put(path, content=body)).text == str(len(body))
    assert (await client.put(path, content=b"", headers={"Content-Length": "256000001"})).status_code == 413


# -- what is said with every answer ------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path", ["/", "/r/abc", "/login", "/api/v1/me", "/api/v1/health", "/files/x", "/nothing.js", "/api/v1/no"]
)
async def test_every_answer_keeps_what_it_holds_from_acting(served, path):
    _, client = served(keyless=True)
    headers = (await client.get(path)).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert policy.get("script-src", "'self'") == "'self'"
    assert ("sandbox" in policy) == path.startswith(("/api", "/files"))
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"


async def test_a_websocket_is_closed(served):
    app, _ = served(keyless=True)
    sent = []

    async def send(message):
        sent.append(message)

    await app({"type": "websocket", "path": "/", "headers": []}, None, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


# -- who asks ----------------------------------------------------------------------------------------------------


async def test_without_a_key_nothing_is_told_but_that_the_server_is_there(served):
    _, client = served()
    answer = await client.get(PATH)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert (await client.get("/api/v1/health")).status_code == 200
    for wrong in ("Bearer x", "Bearer ", "Basic eDp5", "Bearer rnt_00000000_" + "a" * 43, "Bearer \xff"):
        assert (await client.get(PATH, headers={"Authorization": wrong.encode("latin-1")})).status_code == 401


async def test_a_key_says_whose_project_it_is_and_what_it_may(served):
    app, client = served()
    _, key = app.state.keys.make(role="write", project="shop")
    asked = {"Authorization": f"Bearer {key}"}
    assert (await client.get(PATH, headers=asked)).json() == {"project": "shop", "role": "write"}
    refused = await client.get("/api/v1/keys", headers=asked)
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "this key may write; this needs one that may admin",
    )


async def test_where_no_key_is_asked_for_any_will_do(served):
    app, client = served(keyless=True)
    assert (await client.get(PATH, headers={"Authorization": "Bearer whatever"})).json()["role"] == "admin"
    _, key = app.state.keys.make(role="read", project="shop")
    assert (await client.get(PATH, headers={"Authorization": f"Bearer {key}"})).json()["project"] == "shop"


async def test_keys_that_cannot_be_read_let_nobody_in(served, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "keys.sqlite").write_text("no database" * 100)
    _, client = served()
    answer = await client.get(PATH, headers={"Authorization": "Bearer x"})
    assert answer.status_code == 503
    assert "keys.sqlite" in answer.json()["detail"]


async def test_who_asks_too_often_is_told_when_to_ask_again_and_nobody_else_is(served):
    app, client = served(rate=2)
    ours, theirs = ({"Authorization": f"Bearer {app.state.keys.make(role='read')[1]}"} for _ in range(2))
    answers = [await client.get("/api/v1/me", headers=ours) for _ in range(25)]
    assert answers[0].status_code == 200
    assert (answers[-1].status_code, answers[-1].headers["Retry-After"]) == (429, "1")
    assert "more than 2 requests a second" in answers[-1].json()["detail"]
    assert (await client.get("/api/v1/me", headers=theirs)).status_code == 200
    assert (await client.get("/api/v1/health")).status_code == 200


def test_who_was_quiet_may_ask_again():
    now = [0.0]
    rates = Rates(0.5, clock=lambda: now[0])
    assert [rates.wait("a") for _ in range(21)] == [0] * 20 + [2]
    now[0] = 2.0
    assert (rates.wait("a"), rates.wait("a")) == (0, 2)
