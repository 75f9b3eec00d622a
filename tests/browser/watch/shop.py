"""Recordings of a session in a small shop, written as a session and its camera write them, at moments of our choosing.

The first run accepts what covers the page and pays; the second does not, and fails.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
from PIL import Image

import reenact
from reenact.core.boundary import current
from reenact.core.store.chain import chained
from tests.browser.sketching import jpeg

SIZE = (640, 360)
COLOURS = {"shop": (200, 60, 60), "item": (60, 160, 60), "checkout": (60, 60, 200), "thanks": (220, 200, 60)}
SECRET = (20, 40, 200, 30)


def picture(name, mark=None):
    """A page of one colour; where the mark is, black and white stripes."""
    image = Image.new("RGB", SIZE, COLOURS[name])
    if mark:
        x, y, width, height = mark
        for column in range(x, x + width):
            colour = (0, 0, 0) if column // 10 % 2 else (255, 255, 255)
            image.paste(colour, (column, y, column + 1, y + height))
    return jpeg(image)


def moment(name, url):
    """A page of the shop as a camera keeps it: a heading, a field with a hidden value, and two buttons."""
    nodes = [
        [-1, "#document", {}],
        [0, "html", {"lang": "en", "style": "font: 20px 'DejaVu Sans'"}],
        [1, "head", {}],
        [1, "body", {}],
        [3, "h1", {}],
        [4, "#text", name.title()],
        [3, "label", {}],
        [6, "#text", "Password "],
        [6, "input", {"id": "password", "type": "password"}],
    ]
    for id, text in (("accept", "Accept all"), ("pay", "Pay")):
        nodes += [[3, "p", {}], [len(nodes), "button", {"id": id}], [len(nodes) + 1, "#text", text]]
    return {"url": url, "title": name, "viewport": [*SIZE], "whole": True, "nodes": nodes, "parts": []}


class Shop:
    """A session's file and effects, one action a second; with `dom`, the page itself is kept before each."""

    def __init__(self, recording, number=1, *, dom=False):
        self.dom = dom
        self.file = recording._recorder.sidecar(f"session.{number}.jsonl")
        self.t = 0.0
        self.requests = 0
        self.moments: dict[int, float] = {}
        self.chat = [{"role": "user", "content": "Buy the brass lamp."}]
        self.file.write(
            "session", t=0.0, format=1, id=f"{recording.id}.{number}", started="2026-11-21T12:00:00+00:00",
            viewport=list(SIZE), browser="chromium", headless=True,
        )  # fmt: skip
        for what in ("opened", "active"):
            self.file.write("tab", t=0.0, tab=0, what=what, url="about:blank", title="", opener=None)

    def think(self, text):
        """Ask a model that says this."""
        answer = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
        asked = reenact.effect("model", "gpt-4o", model="gpt-4o", messages=list(self.chat))

        def live():
            self.moments[current().call] = self.t
            return answer

        self.chat += [asked.perform(live)["choices"][0]["message"], {"role": "user", "content": "Go on."}]

    def act(self, page, *, actor="agent", box=None, failed="", why=None, mask=None, tab=0, name="", **action):
        """Do an action that leads to a page of the shop."""
        kind = action.pop("type")
        effect = reenact.effect("browser", kind, **action)
        done = {"type": kind, **action}

        def live():
            seen = {"page": page, "tab": tab, "mask": mask}
            return self._acted(
                current().call, done, **seen, actor=actor, box=box, failed=failed, why=why, name=name
            )

        return effect.perform(live)

    def _acted(self, call, action, *, page, tab, mask, actor, box, failed, why, name):
        t, self.t = self.t, self.t + 1.0
        self.moments[call] = t + 0.2
        write, url = self.file.write, f"https://shop.test/{page}"
        target = box and {"box": list(box), "point": [box[0] + box[2] / 2, box[1] + box[3] / 2], "frame": []}
        write("before", t=t + 0.2, call=call, tab=tab, actor=actor, action=action, url=url, target=target)
        if self.dom:
            blob = self.file.blob(gzip.compress(orjson.dumps(moment(page, url)), mtime=0))
            write("dom", t=t + 0.2, tab=tab, call=call, why="before", blob=blob, parts=[])
        self.request(t + 0.3, url, body=f"<h1>{page}</h1>", tab=tab)
        blob = self.file.blob(picture(page, mask))
        masks = [list(mask)] if mask else []
        write("frame", t=t + 0.4, tab=tab, blob=blob, width=SIZE[0], height=SIZE[1], masks=masks)
        write("console", t=t + 0.5, tab=tab, level="log", text=f"{page} is shown", url=url, row=3)
        write("tree", t=t + 0.6, tab=tab, blob=self.file.text(f"- heading {page}"), call=call)
        told = {"success": not failed, "message": failed, "url": url, "title": page.title()}
        selectors = {"css": action.get("selector")}
        write("after", t=t + 0.7, call=call, tab=tab, why=why, selectors=selectors, **told)
        found = {"role": "button", "name": name} if name else None
        moments = {"started_at": str(t), "ended_at": str(t + 0.7)}
        return {
            "action": action,
            "actor": actor,
            "why": why,
            "fingerprint": found,
            **told,
            **moments,
            "data": None,
        }

    def request(self, t, url, *, body="", status=200, failed="", tab=0):
        """A request, and what came of it a tenth of a second later."""
        self.requests += 1
        asked = {
            "method": "GET",
            "url": url,
            "resource": "document",
            "headers": {"accept": "*/*"},
            "post": None,
        }
        self.file.write("request", t=t, id=self.requests, tab=tab, **asked)
        if failed:
            self.file.write("failed", t=t + 0.1, id=self.requests, text=failed)
            return
        blob = self.file.blob(body.encode() if isinstance(body, str) else body)
        head = {"content-type": "text/html"}
        self.file.write(
            "response",
            t=t + 0.1,
            id=self.requests,
            status=status,
            headers=head,
            body=blob,
            size=len(body),
            ms=100.0,
        )

    def close(self):
        self.file.write("end", t=self.t)
        self.file.close()


def see(home, data) -> Path:
    """Record a session whose model is asked about a picture, in base64; return its folder."""
    with reenact.record("look at a lamp", home=home) as recording:
        shop = Shop(recording)
        part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        shop.chat = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, part]}]
        shop.act("shop", actor="script", type="goto", url="https://shop.test/shop")
        shop.think("It is a lamp.")
        shop.act("item", type="click", selector="a.brass", name="Brass lamp")
        shop.close()
    timed(Path(recording.path), shop.moments)
    return Path(recording.path)


def buy(home, *, consent=True, dom=False) -> Path:
    """Record a run of the shop; returns its folder."""
    with reenact.record("buy a lamp" if consent else "buy a lamp, again", home=home) as recording:
        shop = Shop(recording, dom=dom)
        shop.act("shop", actor="script", type="goto", url="https://shop.test/shop")
        shop.think("I open the lamp.")
        shop.act("item", box=(10, 10, 90, 30), type="click", selector="a.brass", name="Brass lamp")
        shop.think("I type the password.")
        shop.act("checkout", mask=SECRET, box=SECRET, type="fill", selector="#password", value="•••••")
        if consent:
            shop.think("A dialog covers the page: I accept it.")
            shop.act("checkout", type="click", selector="#accept", name="Accept all")
        shop.think("Now I pay.")
        covered = {"reason": "covered", "matches": 1, "element": {"tag": "button", "name": "Pay"}}
        failed = "" if consent else "the button “Pay” is covered by div#consent"
        pay = {"type": "click", "selector": "#pay", "box": (300, 200, 80, 30), "name": "Pay"}
        shop.act("thanks" if consent else "checkout", failed=failed, why=None if consent else covered, **pay)
        shop.request(shop.t - 0.1, "https://shop.test/pay", status=200 if consent else 402, body="{}")
        shop.close()
        recording.output = "paid" if consent else "not paid"
    timed(Path(recording.path), shop.moments)
    return Path(recording.path)


def timed(folder, moments):
    """Give the calls of a recording their moments: they took a tenth of a second each."""
    events = folder / "events.jsonl"
    lines = [orjson.loads(line) for line in events.read_bytes().splitlines()]
    for line in lines:
        if line.get("call") in moments:
            line["t"] = moments[line["call"]] + (0.0 if line["event"] == "called" else 0.1)
    events.write_bytes(chained(orjson.dumps(line) for line in lines))
