"""One small change of a page, as a redesign would make it, and who was acted on afterwards.

The change is made by `mutate.js` in a world of its own within the page: which element is the one that a person would
call the same is remembered there alone, where neither the page nor whoever looks for the element can see it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from playwright.async_api import CDPSession, ElementHandle, Error, Page

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
"""What is changed. After all but `gone` a person would say: it is still the same element."""

SAME = tuple(kind for kind in KINDS if kind != "gone")
"""Those after which there is something to find."""

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
"""Where an element stands, as numbers: the same in every world of the page."""

_IS_MEANT = """path => {
  const el = path.reduce((node, step) => step === "shadow" ? node.shadowRoot : node?.children[step],
    document.documentElement);
  const meant = globalThis.hardening.target;
  return !!el && !!meant && (el === meant || meant.contains(el));
}"""


@dataclass(frozen=True, slots=True)
class Hit:
    """One event on the page that somebody's action caused.

    Attributes:
        type: `click`, `input` or `change`.
        hit: Whether it met the element that is meant.
        ours: Whether it met what the mutation itself laid over the page.
        trusted: Whether the browser made it, and no script.
        what: What it met, in words.
    """

    type: str
    hit: bool
    ours: bool
    trusted: bool
    what: str


class Stage:
    """A page whose elements can be changed, and that tells what was acted on.

    Args:
        page: Playwright's page, in Chromium.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._session: CDPSession | None = None
        self._hits: list[Hit] = []
        self._world: int | None = None

    async def mutate(self, element: ElementHandle, kind: str, seed: int) -> str | None:
        """Change the page around an element; from now on `hits` tells what is acted on.

        Args:
            element: The one that is meant; in the main frame.
            kind: One of `KINDS`, or `none`.
            seed: The same seed makes the same change of the same page.

        Returns:
            What was done, in words; None where this change means nothing for this element: nothing was done then.
        """
        if await element.owner_frame() != self._page.main_frame:
            return None
        path = await element.evaluate(PATH)
        session = await self._attached()
        tree = await session.send("Page.getFrameTree")
        world = await session.send(
            "Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"], "worldName": _WORLD}
        )
        answer = await session.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": _code(),
                "arguments": [{"value": {"path": path, "kind": kind, "seed": seed}}],
                "executionContextId": world["executionContextId"],
                "returnByValue": True,
            },
        )
        if "exceptionDetails" in answer:
            raise Error(answer["exceptionDetails"].get("exception", {}).get("description", "the page failed"))
        self._world = world["executionContextId"]
        done = answer["result"]["value"]["done"]
        return None if done is None else str(done)

    @property
    def seen(self) -> list[Hit]:
        """What has been told so far."""
        return list(self._hits)

    async def is_meant(self, path: list[Any]) -> bool:
        """Whether the element at a path (`PATH`) is the one that is meant."""
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

    async def hits(self) -> list[Hit]:
        """What was acted on since the last change, in order."""
        if self._session is not None:
            # What the page has told before this answer has come in before it, too.
            await self._session.send("Page.getFrameTree")
        return self.seen

    async def forget(self) -> None:
        """From here on, as if nothing had been acted on."""
        await self.hits()
        self._hits.clear()

    async def close(self) -> None:
        """Look no more. The page stays as it is."""
        if self._session is not None:
            session, self._session = self._session, None
            await session.detach()

    async def _attached(self) -> CDPSession:
        if self._session is None:
            self._session = session = await self._page.context.new_cdp_session(self._page)
            session.on("Runtime.bindingCalled", self._told)
            await session.send("Runtime.enable")
            await session.send("Runtime.addBinding", {"name": _BINDING, "executionContextName": _WORLD})
        return self._session

    def _told(self, event: dict[str, Any]) -> None:
        if event["name"] == _BINDING:
            self._hits.append(Hit(**json.loads(event["payload"])))


@cache
def _code() -> str:
    return files("reenact.browser.heal.harden").joinpath("mutate.js").read_text(encoding="utf-8").strip()


def right(hits: list[Hit]) -> bool:
    """Whether the element that is meant was acted on."""
    return any(one.hit for one in hits if not one.ours)


def wrong(hits: list[Hit]) -> Hit | None:
    """What was acted on that is not the one that is meant, if anything was."""
    others = [one for one in hits if not one.hit and not one.ours]
    # A page's own scripts may fire events elsewhere, once the right one was met.
    return next((one for one in others if one.trusted or not right(hits)), None)
