"""Observe a page: its accessibility tree as text, and an id for each element to act on.

The tree is Playwright's snapshot for models. Ids are given in the order of the page: B1 for elements to click, I1 for
elements to fill, tick or choose from, L1 for links. Elements without a role that react to clicks (by their cursor, or a
listener on them or around their row) are listed, too. Of a page of many thousands of elements only those in and near
the viewport are read, and the others counted.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from playwright.async_api import Error, Frame, Locator, Page
from playwright.async_api import TimeoutError as TooLate

from reenact.browser.page.element import Element
from reenact.browser.page.fitting import actions_of
from reenact.browser.page.inspection import inspect
from reenact.browser.page.isolated_world import chained, frame_chain, is_mute, of_page, of_refs, origin
from reenact.browser.page.selectors import LARGE, parse
from reenact.errors import UsageError

LINES = 1500
"""Most lines of the text by default."""
_BRIEF = 1500
"""Milliseconds for a snapshot of a page with a frame that does not answer."""
HIDDEN = "•••"
"""The text instead of a secret value."""

_INPUTS = {"textbox", "searchbox", "combobox", "listbox", "spinbutton", "slider", "checkbox", "radio", "switch",
           "menuitemcheckbox", "menuitemradio"}  # fmt: skip
_FIELDS = {"input", "textarea", "select"}
_BUTTONS = {"button", "tab", "menuitem", "option", "treeitem", "gridcell"}
_LINE = re.compile(
    r'^(?P<indent> *)- (?P<role>[\w/-]+)(?: (?P<name>"(?:[^"\\]|\\.)*"))?(?P<marks>(?: \[[^\]]*\])*)(?P<rest>:.*)?$'
)
_MARK = re.compile(r"\[([\w-]+)(?:=([^\]]*))?\]")

_latest: WeakKeyDictionary[Page, int] = WeakKeyDictionary()


class StaleElement(UsageError):
    """An id that belongs to an older observation, or to none."""


@dataclass(frozen=True, slots=True)
class PageSnapshot:
    """The content of a page at one moment.

    Attributes:
        url: The page's address.
        title: Its title.
        text: The tree; `[id=B1]` marks an element to act on.
        elements: Those elements, in the order of the page.
        more: The number of elements that the text left out, 0 on ordinary pages.
        number: The number of this observation of the page: only the ids of the last one are valid.
    """

    url: str
    title: str
    text: str
    elements: tuple[Element, ...]
    more: int
    number: int

    def __getitem__(self, id: str) -> Element:
        for element in self.elements:
            if element.id == id:
                return element
        raise StaleElement(f"there is no element {id} in the last observation; it has {_span(self.elements)}")


async def look(
    page: Page, *, secret: Sequence[str] = (), boxes: bool = False, lines: int = LINES
) -> PageSnapshot:
    """Observe a page.

    Args:
        page: The page.
        secret: CSS selectors of further elements that must not be shown.
        boxes: True to include each element's place in the text.
        lines: The most lines of the text.

    Raises Playwright's Error if the page is closed or has crashed.
    """
    number = _latest.get(page, 0) + 1
    _latest[page] = number
    hidden = [one.removeprefix("css=") for one in secret]
    for attempt in range(3):
        try:
            states = await of_page(page, "state")
            count = sum(state["count"] for _, state in states)
            if count > LARGE:
                parts = await _outline(page, hidden, min(lines, 400))
            else:
                parts = await _snapshot_or_outline(page, hidden, lines)
            break
        except Error:
            if attempt == 2 or page.is_closed():
                raise
            await asyncio.sleep(0.05)  # it loaded another page meanwhile
    title = next((state["title"] for frame, state in states if frame == page.main_frame), "")
    text = "\n".join(parts.write(boxes=boxes))
    return PageSnapshot(page.url, title, text, tuple(parts.elements()), parts.more, number)


async def locate(page: Page, sight: PageSnapshot, id: str) -> Locator:
    """Return the locator of an observed element.

    Raises:
        StaleElement: The id names no element, belongs to an older observation, or its element is gone.
    """
    if _latest.get(page) != sight.number:
        raise StaleElement(
            f"{id} is of an older observation of this page; observe again, and use the new ids"
        )
    element = sight[id]
    if element.ref:
        locator = page.get_by_ref(element.ref)
    else:
        (selector,) = parse(chained(element.frames, element.path or ""))
        locator = selector.within(page)
    try:
        count = await locator.count()
    except Error:
        count = 0
    if count != 1:
        raise StaleElement(f"{id} ({element}) is no longer on the page; observe again, and use the new ids")
    return locator


async def recognise(
    page: Page, recorded: Sequence[Mapping[str, Any]], *, secret: Sequence[str] = ()
) -> PageSnapshot:
    """Observe a page; give its elements the ids of recorded elements of the same role and name."""
    seen = await look(page, secret=secret)
    here: dict[tuple[str, str], list[Element]] = {}
    for element in seen.elements:
        here.setdefault((element.role, element.name), []).append(element)
    known = []
    for one in recorded:
        same = here.get((one["role"], one["name"]))
        if same:
            known.append(replace(same.pop(0), id=one["id"]))
    return replace(seen, elements=tuple(known))


def _span(elements: Sequence[Element]) -> str:
    groups: dict[str, int] = {}
    for element in elements:
        groups[element.id[0]] = groups.get(element.id[0], 0) + 1
    words = [f"{letter}1" if last == 1 else f"{letter}1 to {letter}{last}" for letter, last in groups.items()]
    return ", ".join(words) or "none: nothing on the page can be acted on"


# ------------------------------------------------------------------------------------------------ the text's lines


@dataclass(slots=True)
class _Line:
    """A line of the text, and its element if it is one to act on."""

    level: int
    role: str
    name: str = ""
    marks: dict[str, str] = field(default_factory=dict)
    rest: str = ""
    element: Element | None = None
    box: Sequence[float] | None = None

    def text(self, *, boxes: bool) -> str:
        words = [f"{'  ' * self.level}- {self.role}"]
        if self.name:
            words.append(json.dumps(self.name, ensure_ascii=False))
        words += [f"[{mark}={value}]" if value else f"[{mark}]" for mark, value in self.marks.items()]
        if self.element is not None:
            words.append(f"[id={self.element.id}]")
        if boxes and self.box is not None:
            words.append("[box=" + ",".join(f"{number:.0f}" for number in self.box) + "]")
        return " ".join(words) + self.rest


@dataclass(slots=True)
class _SnapshotParts:
    lines: list[_Line]
    more: int = 0
    secrets: tuple[str, ...] = ()

    def elements(self) -> Iterator[Element]:
        return (line.element for line in self.lines if line.element is not None)

    def write(self, *, boxes: bool) -> Iterator[str]:
        for line in self.lines:
            text = line.text(boxes=boxes)
            for said in self.secrets:
                text = text.replace(said, HIDDEN)
            yield text
        if self.more:
            yield f"- … {self.more:,} more elements are not shown: scroll, or scrape the page"


class _Ids:
    """Gives each element its id."""

    def __init__(self) -> None:
        self.last: dict[str, int] = {}

    def give(self, role: str, tag: str) -> str:
        letter = "L" if role == "link" else "I" if role in _INPUTS or tag in _FIELDS else "B"
        if role == "button":
            letter = "B"
        self.last[letter] = self.last.get(letter, 0) + 1
        return f"{letter}{self.last[letter]}"


@dataclass(frozen=True, slots=True)
class _FramePlace:
    """A frame: the selectors that lead to it, and the origin of its content."""

    frames: tuple[str, ...]
    origin: tuple[float, float]

    def box(self, box: Sequence[float]) -> tuple[float, float, float, float]:
        x, y, width, height = box
        return (round(x + self.origin[0], 1), round(y + self.origin[1], 1), width, height)


async def _place(frame: Frame) -> _FramePlace:
    if frame.parent_frame is None:
        return _FramePlace((), (0.0, 0.0))
    chain, start = await asyncio.gather(frame_chain(frame), origin(frame))
    return _FramePlace(tuple(chain), start)


async def _snapshot_or_outline(page: Page, secret: Sequence[str], most: int) -> _SnapshotParts:
    try:
        return await _snapshot(page, secret, most)
    except TooLate:
        return await _outline(page, secret, min(most, 400))


async def _snapshot(page: Page, secret: Sequence[str], most: int) -> _SnapshotParts:
    """Return the lines of Playwright's snapshot, with the page's facts about each reference."""
    listening = await inspect(page)
    # Playwright waits this long for a frame that does not answer, and then leaves it out.
    snapshot = await page.aria_snapshot(
        mode="ai", boxes=True, timeout=_BRIEF if await is_mute(page) else None
    )
    lines = [_read(line) for line in snapshot.splitlines() if line.strip()]
    refs = [line.marks["ref"] for line in lines if "ref" in line.marks]
    answers = await of_refs(page, {"refs": refs, "selectors": list(secret)}, listening)
    places = dict(
        zip(
            (frame for frame, _ in answers),
            await asyncio.gather(*(_place(f) for f, _ in answers)),
            strict=True,
        )
    )
    told = {
        ref: (facts, places[frame]) for frame, answer in answers for ref, facts in answer["found"].items()
    }
    ids = _Ids()
    more = max(0, len(lines) - most)
    kept = lines[:most]
    under: int | None = None
    shown: list[_Line] = []
    for line in kept:
        if under is not None and line.level > under:
            continue  # the content of a secret field
        under = None
        facts, place = told.get(line.marks.get("ref", ""), (None, None))
        if facts is not None and place is not None:
            if facts["secret"]:
                under, line.rest = line.level, f": {HIDDEN}" if facts.get("filled", True) else ""
            _complete(line, facts, place, ids)
        for mark in ("ref", "cursor", "box", "active"):
            line.marks.pop(mark, None)
        shown.append(line)
    besides = [
        _besides(path, facts, places[frame], ids)
        for frame, answer in answers
        for path, facts in answer["more"]
    ]
    if besides:
        shown += [_Line(0, "text", rest=": also to click, though the page gives it no role"), *besides]
    more += sum(answer["left"] for _, answer in answers)
    secrets = tuple(said for _, answer in answers for said in answer["said"] if len(said) > 3)
    return _SnapshotParts(shown, more, secrets)


def _read(line: str) -> _Line:
    """Parse one line of a snapshot: `- role "name" [mark] [mark=value]: text`.

    Its key may be quoted as in YAML.
    """
    body = line.lstrip(" ")
    indent = line[: len(line) - len(body)]
    if body.startswith("- '"):
        end = re.match(r"- '((?:[^']|'')*)'(.*)$", body)
        if end:
            line = f"{indent}- {end[1].replace(chr(39) * 2, chr(39))}{end[2]}"
    match = _LINE.match(line)
    if match is None:
        return _Line(len(indent) // 2, body.removeprefix("- "))
    marks = {key: value or "" for key, value in _MARK.findall(match["marks"] or "")}
    box = [float(one) for one in marks["box"].split(",")] if "box" in marks else None
    name = json.loads(match["name"], strict=False) if match["name"] else ""
    return _Line(len(match["indent"]) // 2, match["role"], name, marks, match["rest"] or "", None, box)


def _complete(line: _Line, facts: dict[str, Any], place: _FramePlace, ids: _Ids) -> None:
    line.box = place.box(facts["box"])
    if line.role == "generic" and facts["invites"]:
        line.role = facts["role"]  # a summary, a text to edit: Playwright has no role for them
    acts = line.role in _INPUTS | _BUTTONS or line.role == "link" or facts["invites"]
    if not acts and "cursor" not in line.marks:
        return
    shown = "" if facts["tag"] in _FIELDS else line.rest.removeprefix(":").strip().strip('"')
    named = line.name or shown or facts["shown"] or (facts["called"] if line.role == "generic" else "")
    line.element = Element(
        id=ids.give(line.role, facts["tag"]),
        role=facts["tag"] if line.role == "generic" else line.role,
        name="" if facts["secret"] and not line.name else _clean(named),
        states={
            key: value for key, value in line.marks.items() if key not in {"ref", "cursor", "box", "active"}
        },
        ref=line.marks["ref"],
        actions=actions_of(line.role, facts),
        **_common(facts, place),
    )


def _clean(name: str) -> str:
    return name if len(name) <= 120 else name[:119] + "…"


def _common(facts: dict[str, Any], place: _FramePlace) -> dict[str, Any]:
    value = facts.get("value")
    if facts["secret"]:
        value = HIDDEN if facts.get("filled") else ""
    return {
        "value": value,
        "box": place.box(facts["box"]),
        "frames": place.frames,
        "tag": facts["tag"],
        "attributes": facts["attributes"],
        "options": tuple(facts.get("options") or ()),
        "secret": facts["secret"],
    }


def _besides(path: str, facts: dict[str, Any], place: _FramePlace, ids: _Ids, level: int = 0) -> _Line:
    role = facts["tag"] if facts["role"] == "generic" else facts["role"]
    name = "" if facts["secret"] else facts["name"]
    common = _common(facts, place)
    element = Element(
        id=ids.give(facts["role"], facts["tag"]),
        role=role,
        name=name,
        states={},
        path=path,
        actions=actions_of(facts["role"], facts),
        **common,
    )
    line = _Line(level, role, name, element=element, box=element.box)
    if element.value:
        line.rest = f": {element.value}"
    return line


async def _outline(page: Page, secret: Sequence[str], most: int) -> _SnapshotParts:
    """Return a large page, in and near the viewport, read without Playwright.

    Playwright's snapshot of ten thousand rows takes seconds.
    """
    answers = await of_page(page, "outline", {"selectors": list(secret), "most": most})
    ids = _Ids()
    parts = _SnapshotParts([])
    for frame, answer in answers:
        place = await _place(frame)
        parts.more += answer["beyond"]
        for level, role, name, path, facts in answer["lines"]:
            if path is not None:
                parts.lines.append(_besides(path, {**facts, "role": role, "name": name}, place, ids, level))
                continue
            said = facts["text"]
            hidden = facts["secret"]
            rest = f": {HIDDEN}" if hidden else f": {said}" if said and said != name else ""
            parts.lines.append(
                _Line(level, role, "" if hidden else name, rest=rest, box=place.box(facts["box"]))
            )
    return parts
