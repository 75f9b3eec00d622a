"""`reenact harden`: a script's steps on changed pages, with no server, and mistakes said in one line."""

from __future__ import annotations

import json
from textwrap import dedent
from urllib.parse import quote

import pytest

from reenact.browser.actions import types as do
from reenact.browser.effects.calls import arun
from reenact.browser.heal.harden.trial import PageChange, attempt
from reenact.cli import main

PAGE = (
    "<title>Tea</title><h1>Tea</h1><form action=/thanks method=post><label for=name>Name</label>"
    "<input id=name name=name><button id=order>Order tea</button></form><button type=button>Close</button>"
)

SCRIPT = """
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from reenact import Client

class Tea(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE if self.path == "/" else b"<h1>Thanks</h1>")

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(303)
        self.send_header("Location", "/thanks")
        self.end_headers()

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Tea)
threading.Thread(target=server.serve_forever, daemon=True).start()
with Client().Session() as session:
    session.execute(type="goto", url=f"http://127.0.0.1:{server.server_port}/")
    session.execute(type="fill", selector="#name", value="Ada")
    session.execute(type="click", selector="#order")
    print(session.status().url)
server.shutdown()
server.server_close()
"""


def scripted(tmp_path, text=SCRIPT):
    path = tmp_path / "tea.py"
    path.write_text(dedent(text).replace("PAGE", repr(PAGE.encode())))
    return path


@pytest.mark.thorough
@pytest.mark.usefixtures("open_session", "home")  # the former skips where there is no browser
def test_a_script_is_hardened_on_its_recorded_pages_while_its_server_is_gone(tmp_path, capsys):
    script = scripted(tmp_path)
    status = main(["harden", str(script), "--mutations", "2", "--seed", "1", "--json"])
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert (found["pages"], found["asked_live"], found["left"]) == ("recorded", 0, [])
    assert [(step["number"], step["action"]) for step in found["steps"]] == [
        (2, "fill #name"),
        (3, "click #order"),
    ]
    assert [len(step["trials"]) for step in found["steps"]] == [2, 2]
    assert not [step["unreached"] for step in found["steps"] if step["unreached"]]
    endings = [trial["ending"] for step in found["steps"] for trial in step["trials"]]
    assert "wrong" not in endings
    assert status == (0 if found["holds"] else 1)
    assert "/thanks" in told.err  # what the script prints


@pytest.mark.thorough
def test_a_label_that_changed_and_an_element_that_is_gone(stage, site):
    goto = do.action_of(type="goto", url=site("echo?html=" + quote(PAGE)))
    click = do.action_of(type="click", selector="#order")
    runner, session = stage.runner, stage.session

    async def tried(*kinds):
        trials = []
        for kind in kinds:
            await arun(session.core.perform(goto))
            trials.append(await attempt(session, click, PageChange(kind, 1)))
        return trials

    none, relabelled, gone = runner.run(tried("none", "relabel", "gone"))
    assert (none.ending, none.acted, none.ms) == ("held", True, None)
    assert (relabelled.ending, relabelled.acted) == ("held", True)
    assert (gone.ending, gone.acted, gone.rung) == ("stopped", False, None)
    assert gone.ms > 0


FLEET = "<h2>Fleet</h2><ul>" + "".join(
    f"<li><b>{name}</b> <button type=button class=scrap>Scrap</button></li>" for name in ("Sloop", "Brig", "Bark")
) + "</ul><button type=button id=f7>Sell</button><p>Harbour</p><a id=cart href='#c'>Cart (3)</a>"  # fmt: skip

CHOICES = """
import urllib.parse
from reenact import Client
with Client().Session() as session:
    session.execute(type="goto", url=URL)
    session.execute(type="click", selector=SELECTOR)
"""


@pytest.mark.sampled(every=10)
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("selector", "kind", "closed"),
    [
        ("li:nth-child(2) .scrap", "lost", {"role": "button", "name": "Scrap", "record": "Brig"}),
        ("#f7", "given", {"role": "button", "name": "Sell"}),
        ("#cart", "given", {"role": "link", "name": "Cart"}),
        ("li:has-text('Brig') >> text=Scrap", "other", {"role": "button", "name": "Scrap", "record": "Brig"}),
    ],
)
def test_the_smallest_change_that_misleads_a_step_is_found_and_closed(  # noqa: PLR0917 - fixtures
    open_session, tmp_path, capsys, site, selector, kind, closed
):
    url = repr(site("echo?html=" + quote(FLEET)))
    script = tmp_path / "fleet.py"
    script.write_text(CHOICES.replace("URL", url).replace("SELECTOR", repr(selector)))
    main(["harden", str(script), "--mutations", "1", "--json"])
    found = json.loads(capsys.readouterr().out)
    worst = found["steps"][0]["worst"]
    assert (worst["kind"], worst["closed_by"]) == (kind, {"expect_target": closed})
    assert worst["met"]
    if kind == "lost":
        assert worst["met"] == 'button Scrap of "Bark"'


def test_a_step_that_fails_in_a_block_is_named(tmp_path, capsys):
    in_block = (
        '    with Client().AgentFallback(session, task="Order tea", heal="auto"):\n'
        '        session.execute(type="click", selector="#nothing", timeout=200)\n'
    )
    click = '    session.execute(type="click", selector="#order")\n'
    fill = '    session.execute(type="fill", selector="#name", value="Ada")\n'
    script = scripted(tmp_path, SCRIPT.replace(click, in_block))
    main(["harden", str(script), "--mutations", "1"])
    assert "left out: a step that failed, line 29: " in capsys.readouterr().out
    script = scripted(tmp_path, SCRIPT.replace(click, in_block).replace(fill, ""))
    assert main(["harden", str(script), "--mutations", "1"]) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert "does not pass as it is, so there is nothing to harden yet: line 28: " in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys; sys.exit(3)", "does not pass as it is: it exits with 3"),
        ("raise RuntimeError('no tea')", "RuntimeError: no tea"),
        ("print('tea')", "nothing to harden"),
    ],
)
def test_a_script_that_cannot_be_hardened_costs_one_line(tmp_path, capsys, text, said):
    assert main(["harden", str(scripted(tmp_path, text))]) == 2
    told = capsys.readouterr().err.strip()
    assert said in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["absent.py"], "absent.py: there is no such script"),
        (["tea.py", "--mutations", "99"], "--mutations 99: 1 to 11"),
    ],
)
def test_bad_arguments_cost_one_line(tmp_path, capsys, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    scripted(tmp_path, "print('tea')")
    assert main(["harden", *words]) == 2
    assert said in capsys.readouterr().err
