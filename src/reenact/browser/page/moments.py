"""Read a page's content: elements, texts and styles, without typed and secret text.

`moment.js` reads each frame in an isolated world, for which closed shadow roots are opened. Here the frames are joined
into one list, and the browser's copies of small pictures and of other origins' style sheets are added.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes
from weakref import WeakKeyDictionary

from playwright.async_api import CDPSession, Error, Frame, Page

from reenact.browser.page.hiding import hide_named
from reenact.browser.page.inspection import open_closed
from reenact.browser.page.isolated_world import attached, content, of_page
from reenact.browser.page.selectors import styles

PATIENCE = 2.0
"""Most seconds to read a page; one that takes longer is left out."""

PICTURE, PICTURES = 24_000, 24
"""Most bytes of a kept picture, and most pictures of a page; others become boxes."""

SHEET = 1_500_000
"""Most characters of a style sheet of another origin."""

MEMORY = 200
"""Most answers of the browser that are cached for a tab."""

_fetched: WeakKeyDictionary[CDPSession, dict[str, bytes]] = WeakKeyDictionary()


@dataclass(slots=True)
class ReadPage:
    """A page as it was read.

    Attributes:
        tree: `nodes`, `url`, `title`, `viewport`, `whole`. Nodes name style sheets and pictures by their keys.
        sheets: Texts of new style sheets by key.
        pictures: Small pictures by address.
        said: The content of secret fields and elements, which must be removed from all texts.
        took: Seconds that the page was busy with it.
    """

    tree: dict[str, Any]
    sheets: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    took: float = 0.0


async def read(
    page: Page, secret: Sequence[str] = (), known: Collection[str] = (), *, patience: float = PATIENCE
) -> ReadPage | None:
    """Return the page as it is now; None if it does not answer in time.

    Args:
        page: The tab.
        secret: Selectors of further secret elements.
        known: Keys of style sheets whose texts are not needed again.
        patience: Seconds to wait for its answer.
    """
    inside, outside = styles(secret)
    asked = {"selectors": inside, "outside": bool(outside), "known": list(known)[-500:]}
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(patience):
            if outside:
                await hide_named(page, outside)
            frames = await of_page(page, "moment", asked)
            if any(answer["doubt"] for _, answer in frames):
                await open_closed(page, of_own=True)
                frames = await of_page(page, "moment", {**asked, "opened": True})
            return await _joined(page, dict(frames), known)
    return None


async def _joined(
    page: Page, frames: Mapping[Frame, Mapping[str, Any]], known: Collection[str]
) -> ReadPage | None:
    """Return one list of all frames' nodes, with each frame inside its element."""
    main = frames.get(page.main_frame)
    if main is None:
        return None
    nodes: list[list[Any]] = []
    found = ReadPage({
        "url": main["url"], "title": main["title"], "viewport": main["viewport"],
        "whole": all(answer["whole"] for answer in frames.values()), "nodes": nodes,
    })  # fmt: skip
    said: dict[str, None] = {}
    todo: list[tuple[Frame, int]] = [(page.main_frame, -1)]
    source = _Sources(await attached(page), found, set(known))
    while todo:
        frame, parent = todo.pop()
        answer = frames[frame]
        said |= dict.fromkeys(answer["said"])
        found.sheets |= dict(answer["texts"])
        begin = len(nodes)
        for node in answer["nodes"]:
            node[0] = parent if node[0] < 0 else node[0] + begin
            nodes.append(node)
            facts = node[3] if len(node) > 3 else None
            if not facts:
                continue
            if "frame" in facts:
                number = facts.pop("frame")
                inner = frame.child_frames[number] if number < len(frame.child_frames) else None
                if inner is not None and inner in frames:
                    todo.append((inner, len(nodes) - 1))
            await source.fill(frame, facts)
        if len(nodes) > begin and any(answer["scroll"]):
            facts = nodes[begin][3]
            facts["scroll"] = answer["scroll"]
    found.said = tuple(said)
    found.took = sum(answer["took"] for answer in frames.values()) / 1000
    return found


class _Sources:
    """The browser's copies of the style sheets and pictures that frames name by an address."""

    def __init__(self, sessions: dict[Frame, CDPSession], found: ReadPage, known: set[str]) -> None:
        self._sessions = sessions
        self._found = found
        self._known = known

    async def fill(self, frame: Frame, facts: dict[str, Any]) -> None:
        """Replace addresses by keys."""
        if "sheets" in facts:
            named = [
                [key, media] if key else [await self._sheet(frame, media), ""]
                for key, media in facts["sheets"]
            ]
            facts["sheets"] = [[key, media] if media else [key] for key, media in named if key]
        if "image" in facts and not await self._picture(frame, facts["image"]):
            del facts["image"]

    async def _sheet(self, frame: Frame, url: str) -> str:
        key = f"url {url}"
        if not url:
            return ""
        if key not in self._known and key not in self._found.sheets:
            data = await self._content(frame, url)
            self._found.sheets[key] = (data or b"")[:SHEET].decode("utf-8", "replace")
        return key

    async def _picture(self, frame: Frame, url: str) -> bool:
        kept = self._found.pictures
        if url not in kept and len(kept) < PICTURES:
            data = _inline(url) if url.startswith("data:") else await self._content(frame, url)
            if data is not None and len(data) <= PICTURE:
                kept[url] = data
        return url in kept

    async def _content(self, frame: Frame, url: str) -> bytes | None:
        at: Frame | None = frame
        while at is not None and at not in self._sessions:
            at = at.parent_frame
        if at is None:
            return None
        session = self._sessions[at]
        known = _fetched.setdefault(session, {})
        if url not in known:
            if len(known) > MEMORY:
                known.clear()
            with suppress(Error):
                known[url] = await content(session, at, frame, self._sessions, url)
        return known.get(url)


def _inline(url: str) -> bytes | None:
    """Return the bytes of a `data:` address."""
    kind, _, text = url.partition(",")
    try:
        return base64.b64decode(text, validate=True) if kind.endswith(";base64") else unquote_to_bytes(text)
    except ValueError:
        return None
