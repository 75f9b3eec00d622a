"""An element under a new name is pressed only if what it sends is what the step sent in a good run."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from reenact import Client


def hatch(name, path="/boats/4/scrap", body="{boat: 4}", mark="ok"):
    return f"""<h2>Boat</h2><div><button type=button id={mark} class=grave>{name}</button></div><p id=said></p><script>
      document.querySelector("button").onclick = () => fetch("{path}", {{method: "POST", body: JSON.stringify({body})}})
        .then((answer) => said.textContent = "gone", () => said.textContent = "failed")</script>"""


@pytest.fixture
def harbour():
    """A server of one page at `/`, which keeps what is sent to it."""

    class Harbour(BaseHTTPRequestHandler):
        page = ""
        received: list[str] = []  # noqa: RUF012 - of one test

        def do_GET(self):
            self.answer(self.page.encode())

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.received.append(self.path)
            self.answer(b"")

        def answer(self, body):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    handler = type("Harbour", (Harbour,), {"received": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    handler.url = f"http://127.0.0.1:{server.server_port}/"
    yield handler
    server.shutdown()
    server.server_close()


@pytest.fixture
def twice(open_session, chromium, harbour, tmp_path):
    """Does a step on a page as it was, then in a block on the page as it is; returns the block and its result."""

    def done(before, after, selector="#ok"):
        step = {"type": "click", "selector": selector, "timeout": 4000}
        options = {"home": tmp_path, "name": "held", "cdp_url": chromium}
        with open_session(**options) as session:
            harbour.page = before
            session.execute(type="goto", url=harbour.url)
            assert session.execute(step).success
        assert harbour.received == ["/boats/4/scrap"]
        harbour.received.clear()
        with open_session(**options) as session:
            harbour.page = after
            session.execute(type="goto", url=harbour.url)
            with Client().AgentFallback(session, task="scrap the boat", heal="auto") as block:
                result = session.execute(step)
        return block, result

    return done


@pytest.mark.thorough
def test_a_renamed_element_that_sends_the_same_is_let_go(twice, harbour):
    block, result = twice(hatch("Delete"), hatch("Yes, delete it"))
    assert block.success, result.message
    assert harbour.received == ["/boats/4/scrap"]
    assert block.heals[-1].verified_by.startswith("consequence")


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    "after",
    [hatch("Delete boats", "/boats/delete"), hatch("Delete boat", body="{boat: 5}")],
    ids=["to another address", "with another body"],
)
def test_what_a_renamed_element_sends_is_dropped_if_it_is_another_request(twice, harbour, after):
    block, _ = twice(hatch("Delete"), after)
    assert not block.success
    assert harbour.received == []
    assert "the request was dropped" in block.error


@pytest.mark.thorough
def test_the_same_element_under_another_id_may_not_send_another_request(twice, harbour):
    block, _ = twice(hatch("Delete"), hatch("Delete", "/account/delete", mark="b9"))
    assert not block.success
    assert harbour.received == []


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("name", ["Delete all", "Keep", "Delete 2", "Delete and close"])
def test_an_element_of_another_verb_or_with_more_words_is_not_tried(twice, harbour, name):
    block, result = twice(hatch("Delete"), hatch(name))
    assert not block.success
    assert not result.delivered
    assert harbour.received == []
