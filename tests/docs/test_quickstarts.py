"""Every quickstart works as it is written: its files, its commands, and the output that it shows."""

from __future__ import annotations

import importlib.util
import socket
import textwrap

import pytest

from tests.docs.provider import QuickstartProvider
from tests.docs.walk import ROOT, Walk, blocks

PAGES = sorted((ROOT / "docs" / "quickstart").glob("*.md"))
NEEDED = {"pydantic-ai": "pydantic_ai", "openai-agents": "agents", "langgraph": "langgraph", "sdk": "openai"}

# It sends what a coding agent sends first.
CLAUDE = """\
#!/usr/bin/env python3
import json, os, sys, urllib.request
body = {"model": "claude-sonnet-5", "max_tokens": 100, "messages": [{"role": "user", "content": sys.argv[-1]}]}
headers = {"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
print(json.load(urllib.request.urlopen(request))["content"][0]["text"])
"""


@pytest.fixture
def provider():
    provider = QuickstartProvider()
    yield provider
    provider.stop()


@pytest.fixture
def walk(tmp_path, provider):
    walk = Walk(tmp_path, provider.environ)
    yield walk
    walk.end()


@pytest.mark.parametrize(
    "page",
    [
        # Their commands are the same. Whether a framework's program replays is tried in tests/frameworks.
        pytest.param(page, id=page.stem, marks=() if page.stem == "sdk" else pytest.mark.thorough)
        for page in PAGES
        if page.stem in NEEDED
    ],
)
def test_a_quickstart_of_a_framework_works_as_written(walk, provider, page):
    if importlib.util.find_spec(NEEDED[page.stem]) is None:
        pytest.skip(f"{NEEDED[page.stem]} is not installed")
    walk.page(page.read_text(encoding="utf-8"))
    # The run that was recorded, and none of the replays.
    assert provider.asked == 2


@pytest.mark.thorough
def test_the_quickstart_of_the_proxy_works_as_written(walk, provider):
    claude = walk.folder / "bin" / "claude"
    claude.write_text(textwrap.dedent(CLAUDE), encoding="utf-8")
    claude.chmod(0o755)
    walk.page((ROOT / "docs" / "quickstart" / "proxy.md").read_text(encoding="utf-8"))
    assert provider.asked == 1
    assert "ORD-5521" in (walk.folder / "fix-tests.html").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_the_quickstart_of_a_browser_script_works_as_written(walk):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = (
        (ROOT / "docs" / "quickstart" / "browser.md").read_text(encoding="utf-8").replace("8123", str(port))
    )
    walk.page(text)
    assert (walk.folder / "buy.mp4").read_bytes()[4:8] == b"ftyp"
    assert (walk.folder / "buy.html").stat().st_size > 10_000


@pytest.mark.thorough
def test_the_quickstart_of_an_exported_file_works_as_written(walk, provider):
    (program,) = (
        text
        for _, title, text in blocks((ROOT / "docs" / "quickstart" / "sdk.md").read_text(encoding="utf-8"))
        if title
    )
    failing = program.replace('return "shipped"', 'raise TimeoutError("no answer within 5 s")')
    agent = walk.folder / "agent.py"
    for name, text in (("good", program), ("bug", failing)):
        agent.write_text(text, encoding="utf-8")
        failed = "" if name == "good" else " || true"
        walk.run(f"REENACT_HOME=theirs reenact record -- python agent.py{failed}")
        walk.run(f"REENACT_HOME=theirs reenact export last -o {name}.reenact")
    asked = provider.asked
    page = (ROOT / "docs" / "quickstart" / "exported-file.md").read_text(encoding="utf-8")
    before, mended = page.split("## 6.")
    walk.page(before)
    agent.write_text(program, encoding="utf-8")
    walk.page(mended)
    assert provider.asked == asked


@pytest.mark.thorough
def test_the_tutorial_from_a_red_run_to_a_test_works_as_written(walk, provider):
    walk.page((ROOT / "docs" / "tutorials" / "red-run.md").read_text(encoding="utf-8"))
    assert provider.asked == 0


def test_no_quickstart_is_left_out():
    assert {page.stem for page in PAGES} == {*NEEDED, "browser", "proxy", "exported-file"}
    for page in PAGES:
        assert any(kind == "console" for kind, _, _ in blocks(page.read_text(encoding="utf-8")))
