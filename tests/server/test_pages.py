"""The console's pages: what was built is served, and nothing beside it."""

from __future__ import annotations

import pytest


@pytest.fixture
def console(tmp_path):
    folder = tmp_path / "console"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Reenact</title>")
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "assets" / "index-a1b2.js").write_text("go()")
    (tmp_path / "secret.js").write_text("secret")
    return folder


@pytest.mark.sampled
@pytest.mark.parametrize(
    "path", ["/", "/r/abc", "/r/abc/7", "/compare/a/b", "/debug/x", "/jobs/y", "/heals", "/login"]
)
async def test_each_address_of_the_console_is_its_one_page_which_is_asked_for_anew(served, console, path):
    _, client = served(console=console)
    answer = await client.get(path, headers={"Accept": "text/html,*/*;q=0.8"})
    assert (answer.status_code, "<title>Reenact" in answer.text) == (200, True)
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.thorough
async def test_what_is_named_by_its_content_is_kept_for_ever(served, console):
    _, client = served(console=console)
    answer = await client.get("/assets/index-a1b2.js")
    assert (answer.text, answer.headers["cache-control"]) == ("go()", "public, max-age=31536000, immutable")
    assert "javascript" in answer.headers["content-type"]
    assert (await client.get("/favicon.svg")).headers["content-type"] == "image/svg+xml"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path",
    [
        "/assets/no.js",
        "/assets/%2e%2e/%2e%2e/secret.js",
        "/assets/..%2f..%2fsecret.js",
        "/no.txt",
    ],
)
async def test_what_was_not_built_is_not_there(served, console, path):
    _, client = served(console=console)
    answer = await client.get(path)
    assert (answer.status_code, "secret" in answer.text) == (404, False)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path", ["/api", "/api/v1/no", "/api/v2/me", "/files", "/sessions/x/no", "/agents/x/no"]
)
async def test_what_is_asked_of_the_api_is_never_answered_with_the_page(served, console, path):
    _, client = served(console=console)
    answer = await client.get(path, headers={"Accept": "text/html"})
    assert answer.status_code in {401, 404}
    assert answer.headers["content-type"] == "application/json"
    assert (await client.post("/r/abc")).status_code in {404, 405}


@pytest.mark.thorough
async def test_a_console_that_was_not_built_says_how(served, tmp_path):
    _, client = served(console=tmp_path / "none")
    answer = await client.get("/")
    assert (answer.status_code, "`make console`" in answer.text) == (503, True)


@pytest.mark.thorough
async def test_the_document_of_the_api_is_a_page_without_a_script(served):
    app, client = served()
    answer = await client.get("/api/v1/docs")
    assert "script" not in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    document = app.openapi()
    assert document["paths"]
    assert [path for path in document["paths"] if f"<code>{path}</code>" not in answer.text] == []
