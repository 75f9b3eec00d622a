"""Make one small change to a page, as a redesign would, and report the elements acted on.

`mutate.js` makes the change in an isolated world of the page. Only that world knows the intended element: neither the
page nor the code that searches for it can see the mark.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from uuid import uuid4

from playwright.async_api import CDPSession, ElementHandle, Error, Frame, Page

KINDS = {
    "rename": "ids and classes have other names",
    "wrap": "the element stands in further boxes",
    "move": "the element stands elsewhere",
    "relabel": "the element is called otherwise",
    "attributes": "test ids, names and ids are gone",
    "late": "the element comes half a second later",
    "overlay": "a cookie banner covers the page",
    "variant": "the element has become another kind that looks the same",
    "decoy": "another element much like it stands beside it, and names have changed",
    "redesign": "several of these at once",
    "gone": "the element is not there any more, and one much like it is",
}
"""The kinds of changes.

A person would still recognise the element after each of them, except `gone`.
"""

MISLEADING = {
    "lost": "its record is gone",
    "ahead": "another record stands before its own",
    "other": "another record stands in the place of its own",
    "longer": "one with a longer name stands before it",
    "instead": "one with a longer name stands in its place",
    "given": "another element has its id",
}
"""The smallest changes that lead a selector to another element, in the order of trial."""

_WORLD = "reenact-harden"
_BINDING = "reenactHit"
PATH = """el => {
  const path = [];
  for (let node = el; node !== document.documentElement;) {
    const parent = node.parentNode;
    path.unshift([...parent.children].indexOf(node));
    if (parent instanceof ShadowRoot) { path.unshift("shadow"); node = parent.host; } else node = parent;
  }
  return path;
}"""
"""JavaScript that returns an element's path as numbers: the same in every world of the page."""

_TAKE = """((mark) => {
  const last = document.lastChild;
  if (last?.nodeType !== 8 || last.data !== mark) return false;
  last.remove();
  return true;
})(%s)"""

_IS_MEANT = """path => {
  const el = path.reduce((node, step) => step === "shadow" ? node.shadowRoot : node?.children[step],
    document.documentElement);
  const meant = globalThis.hardening.target;
  return !!el && !!meant && (el === meant || meant.contains(el));
}"""


@dataclass(frozen=True, slots=True)
class ObservedEvent:
    """One event on the page that an action caused.

    Attributes:
        type: `click`, `input` or `change`.
        hit: True if its target is the intended element.
        ours: True if its target is the layer that the mutation added.
        trusted: True if the browser made it, False if a script did.
        what: Its target, in words.
    """

    type: str
    hit: bool
    ours: bool
    trusted: bool
    what: str


class MutablePage:
    """A page whose elements can be changed, and that reports the elements acted on.

    Args:
        page: Playwright's page, in Chromium.

    Attributes:
        frame: The frame of the intended element.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._session: CDPSession | None = None
        self._hits: list[ObservedEvent] = []
        self._world: int | None = None
        self.frame: Frame | None = None

    async def mutate(
        self, element: ElementHandle, kind: str, seed: int, *, framed: bool = False
    ) -> str | None:
        """Change the page around an element; from now on `hits` reports the elements acted on.

        Args:
            element: The intended one; in the main frame unless `framed`.
            kind: One of `KINDS` or `MISLEADING`, or `none`.
            seed: The same seed makes the same change of the same page.
            framed: True if the element may be in another frame; `hits` then reports only the events of that frame.

        Returns:
            The change in words; None, without a change, if the kind does not apply to this element.
        """
        self.frame = await element.owner_frame()
        if self.frame != self._page.main_frame and not framed:
            return None
        path = await element.evaluate(PATH)
        session = await self._attached()
        world = await self._world_of(session, element)
        if world is None:
            return None
        answer = await session.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": _code(),
                "arguments": [{"value": {"path": path, "kind": kind, "seed": seed}}],
                "executionContextId": world,
                "returnByValue": True,
            },
        )
        if "exceptionDetails" in answer:
            raise Error(answer["exceptionDetails"].get("exception", {}).get("description", "the page failed"))
        self._world = world
        done = answer["result"]["value"]["done"]
        return None if done is None else str(done)

    async def _world_of(self, session: CDPSession, element: ElementHandle) -> int | None:
        """Return a world of the element's frame; None if the frame has a process of its own."""
        todo = [(await session.send("Page.getFrameTree"))["frameTree"]]
        mark = uuid4().hex
        if self.frame != self._page.main_frame:
            await element.evaluate("(el, mark) => el.ownerDocument.append(new Comment(mark))", mark)
        while todo:
            tree = todo.pop()
            todo += tree.get("childFrames", ())
            made = await session.send(
                "Page.createIsolatedWorld", {"frameId": tree["frame"]["id"], "worldName": _WORLD}
            )
            world = int(made["executionContextId"])
            if self.frame == self._page.main_frame or await self._has(session, world, mark):
                return world
        return None

    async def _has(self, session: CDPSession, world: int, mark: str) -> bool:
        """Return True if a world's document ends with the mark; remove the mark."""
        asked = {"expression": _TAKE % json.dumps(mark), "contextId": world, "returnByValue": True}
        answer = await session.send("Runtime.evaluate", asked)
        return bool(answer["result"].get("value"))

    @property
    def seen(self) -> list[ObservedEvent]:
        """The events reported so far."""
        return list(self._hits)

    async def is_meant(self, path: list[Any]) -> bool:
        """Return True if the element at a path (`PATH`) is the intended one."""
        session = await self._attached()
        answer = await session.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": _IS_MEANT,
                "arguments": [{"value": path}],
                "executionContextId": self._world,
                "returnByValue": True,
            },
        )
        return bool(answer["result"].get("value"))

    async def hits(self) -> list[ObservedEvent]:
        """Return the events since the last change, in order."""
        if self._session is not None:
            # The page's earlier reports arrive before this answer.
            await self._session.send("Page.getFrameTree")
        return self.seen

    async def close(self) -> None:
        """Stop watching. The page stays as it is."""
        if self._session is not None:
            session, self._session = self._session, None
            await session.detach()

    async def _attached(self) -> CDPSession:
        if self._session is None:
            self._session = session = await self._page.context.new_cdp_session(self._page)
            session.on("Runtime.bindingCalled", self._on_report)
            await session.send("Runtime.enable")
            await session.send("Runtime.addBinding", {"name": _BINDING, "executionContextName": _WORLD})
        return self._session

    def _on_report(self, event: dict[str, Any]) -> None:
        if event["name"] == _BINDING:
            self._hits.append(ObservedEvent(**json.loads(event["payload"])))


@cache
def _code() -> str:
    return files("reenact.browser.heal.harden").joinpath("mutate.js").read_text(encoding="utf-8").strip()


def right(hits: list[ObservedEvent]) -> bool:
    """Return True if the intended element was acted on."""
    return any(one.hit for one in hits if not one.ours)


def wrong(hits: list[ObservedEvent]) -> ObservedEvent | None:
    """Return the event on a wrong element, or None."""
    others = [one for one in hits if not one.hit and not one.ours]
    # After the right element was acted on, a page's own scripts may fire events elsewhere.
    return next((one for one in others if one.trusted or not right(hits)), None)
