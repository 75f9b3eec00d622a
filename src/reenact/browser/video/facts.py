"""Read a session once before drawing it: its actions, its cards, and its pace.

The memory used grows with the actions, not with the pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from reenact.browser.camera.footage import Footage, FootageEntry
from reenact.browser.video import labels
from reenact.browser.video.pace import BEFORE, FAILED, Kind, Pace
from reenact.browser.video.tabs import SEEN, Box, VisibleTabs, box_of, number_of, ordered, size_of

REST = 1.0
"""Seconds that the last picture is shown."""

_CARD = 2.0
"""Seconds that a dialog, a download or a file chooser is shown, even if the session goes on."""

Actor = Literal["script", "agent", "heal"]


@dataclass(slots=True)
class VideoAction:
    """One action of a session; times are in seconds since the recording began.

    Attributes:
        number: The number of the recording's step; without the recording's events, counted from 1.
        call: The number of its effect in the recording.
        actor: The actor.
        words: Its short description.
        box: Its element, if it has one.
        point: The position to which the pointer moves.
        settled: The moment from which on the page is the one that it was done on.
        began: The moment before it was done.
        left: The moment of its move to another page or tab, or None.
        ended: The moment it was done; None if the recording ends before.
        success: True if it was done, or None.
        message: The reason of its failure.
        holds: True if it leaves the pointer pressed, for the next action to move.
    """

    number: int
    call: int | None
    actor: Actor
    words: str
    box: Box | None
    point: tuple[float, float] | None
    settled: float
    began: float
    left: float | None = None
    ended: float | None = None
    success: bool | None = None
    message: str = ""
    holds: bool = False


@dataclass(slots=True)
class Card:
    """An event without pixels: a dialog, a download, a file chooser, a crash."""

    kind: str
    title: str
    text: str
    began: float
    ended: float


@dataclass(slots=True)
class SessionFacts:
    """All facts that are known before the first frame is drawn.

    Attributes:
        begin: The session's first moment, in seconds since the recording began.
        start: The moment of the first picture.
        end: Its last moment.
        size: Width and height of the page: those of the window, or less if it was filmed smaller.
        lines: The number of lines read; lines written later do not count.
        actions: The actions, in order.
        cards: The cards, in order.
        pace: The map of its time to the video's.
    """

    begin: float
    start: float
    end: float
    size: tuple[int, int]
    lines: int
    actions: list[VideoAction]
    cards: list[Card]
    pace: Pace


def read(
    footage: Footage, kind: Kind = "real", *, mask: bool = True, numbers: Mapping[object, int] | None = None
) -> SessionFacts:
    """Read a session's facts. The session may still be running, or have been cut off.

    Args:
        footage: The session.
        kind: The pace of the video.
        mask: True to cover secrets.
        numbers: The number of each step by that of its effect; without it, actions are counted.
    """
    stage = VisibleTabs(size_of(footage.head["viewport"]))
    reading = _FactsReader(kind, mask, footage.head.t, stage, numbers or {})
    for entry in ordered(footage.entries(*SEEN)):
        reading.take(entry)
    return reading.story(footage.head)


@dataclass(slots=True)
class _UnderWay:
    """The state of an unfinished action."""

    action: VideoAction
    fields: Mapping[str, Any]
    selector: object
    hidden: bool

    def say(self, selectors: object = None) -> None:
        """Describe it in words, from the facts known so far."""
        thing = labels.element(selectors, self.selector)
        self.action.words = labels.action(self.fields, thing, hidden=self.hidden)


@dataclass(slots=True)
class _FactsReader:
    kind: Kind
    mask: bool
    begin: float
    stage: VisibleTabs
    numbers: Mapping[object, int] = field(default_factory=dict)
    pace: Pace | None = None
    actions: list[VideoAction] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    lines: int = 0
    settled: float = 0.0
    last: float = 0.0
    largest: tuple[float, float] = (0, 0)
    _under_way: dict[object, _UnderWay] = field(default_factory=dict)

    def take(self, entry: FootageEntry) -> None:
        changed = self.stage.take(entry)
        self.lines += 1
        self.last = max(self.last, entry.t)
        if self.stage.picture is not None and self.pace is None:
            # The video begins with the first picture, or with an action before it.
            self._begin(entry.t)
        if entry.event in {"frame", "anchor"}:
            self._painted(entry)
        elif entry.event == "before":
            self._before(entry)
        elif entry.event == "after":
            self._after(entry)
        elif entry.event == "tab":
            self._tab(entry)
        else:
            self._card(entry)
        if changed and self.pace is not None:
            self.pace.happened(entry.t)

    def story(self, head: FootageEntry) -> SessionFacts:
        last = max(self.last, self.begin)
        pace = self.pace or self._begin(last)
        pace.end(last, rest=REST)
        for card in self.cards:
            card.ended = min(card.ended, pace.knots[-1][1])
        start = pace.knots[0][1]
        return SessionFacts(
            self.begin, start, last, self._size(head), self.lines, self.actions, self.cards, pace
        )

    def _size(self, head: FootageEntry) -> tuple[int, int]:
        size = size_of(head["viewport"])
        # Pictures of a large window were scaled down when taken, and enlarging them would show no more.
        if not size[0] or 0 < self.largest[0] < size[0]:
            size = self.largest
        return (round(size[0]), round(size[1])) if size[0] else (1280, 720)

    def _begin(self, t: float) -> Pace:
        self.pace = Pace(self.kind, t)
        self.settled = t
        return self.pace

    def _painted(self, entry: FootageEntry) -> None:
        self._hide()
        picture, size = self.stage.picture, size_of([entry["width"], entry["height"]])
        if entry.event == "frame" and picture is not None and size > self.largest:
            wide, high = self.stage.viewport
            if not wide or (picture.width, picture.height) == (wide, high):
                self.largest = size
        for card in reversed(self.cards[-3:]):
            if card.kind == "crash" and card.ended > entry.t:
                card.ended = entry.t

    def _before(self, entry: FootageEntry) -> None:
        pace = self.pace or self._begin(entry.t)
        target = entry["target"] if isinstance(entry["target"], Mapping) else {}
        fields = entry["action"] if isinstance(entry["action"], Mapping) else {}
        box = box_of(target.get("box"))
        actor: Actor = entry["actor"] if entry["actor"] in {"agent", "heal"} else "script"
        point = _point(target.get("point"), box)
        number = self.numbers.get(entry["call"], len(self.actions) + 1)
        action = VideoAction(number, entry["call"], actor, "", box, point, self.settled, entry.t)
        self.actions.append(action)
        hidden = self.mask and bool(target.get("secret"))
        self._under_way[entry["call"]] = under_way = _UnderWay(action, fields, target.get("selector"), hidden)
        under_way.say()
        self._hide()
        pace.hold(entry.t, BEFORE)

    def _after(self, entry: FootageEntry) -> None:
        self._hide()
        self.settled = max(self.settled, entry.t)
        under_way = self._under_way.pop(entry["call"], None)
        if under_way is None:
            return
        under_way.say(entry["selectors"])
        action = under_way.action
        action.ended, action.success = entry.t, bool(entry["success"])
        action.holds = (
            action.success and under_way.fields.get("type") == "drag" and not under_way.fields.get("by")
        )
        if not action.success:
            action.message = labels.plain(entry["message"] or "failed")
            if self.pace is not None:
                self.pace.hold(entry.t, FAILED)

    def _tab(self, entry: FootageEntry) -> None:
        if entry["what"] in {"navigated", "active", "closed"}:
            self.settled = max(self.settled, entry.t)
            for under_way in self._under_way.values():
                under_way.action.left = under_way.action.left or entry.t

    def _card(self, entry: FootageEntry) -> None:
        made = card(entry)
        if made is None:
            return
        same = [
            one for one in self.cards[-5:] if one.kind == made.kind == "download" and one.title == made.title
        ]
        for one in same:
            one.ended = min(one.ended, made.began)
        self.cards.append(made)
        if self.pace is None:
            self._begin(entry.t)

    def _hide(self) -> None:
        """Remove the filled value from an action's words if its field is covered."""
        if not self.mask:
            return
        masks = self.stage.picture.masks if self.stage.picture else ()
        for under_way in self._under_way.values():
            box = under_way.action.box
            if not under_way.hidden and box and any(_overlap(box, one) for one in masks):
                under_way.hidden = True
                under_way.say()


def card(entry: FootageEntry) -> Card | None:
    """Return the card for an event that no pixels show, or None for any other line."""
    match entry.event:
        case "dialog":
            answer = entry["answer"]
            said = "" if answer is None else f" → {labels.plain(answer, 40)}"
            title = f"{labels.plain(entry['kind'] or 'dialog', 20)}{said}"
            return Card("dialog", title, labels.plain(entry["text"] or ""), entry.t, entry.t + _CARD)
        case "download":
            size = number_of(entry["size"], 0)
            text = ", ".join(
                part for part in (str(entry["state"] or ""), labels.size(size) if size else "") if part
            )
            name = labels.plain(entry["name"] or entry["url"] or "", 60)
            return Card("download", name, labels.plain(text), entry.t, entry.t + _CARD)
        case "chooser":
            text = "several files" if entry["multiple"] else "one file"
            return Card("chooser", "File chooser", f"asks for {text}", entry.t, entry.t + _CARD)
        case "crash":
            what = "browser" if entry["what"] == "browser" else "page"
            return Card("crash", f"The {what} crashed", "", entry.t, float("inf"))
        case _:
            return None


def _point(value: Any, box: Box | None) -> tuple[float, float] | None:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(one, int | float) for one in value):
        return (float(value[0]), float(value[1]))
    return (box[0] + box[2] / 2, box[1] + box[3] / 2) if box else None


def _overlap(one: Box, other: Box) -> bool:
    return (
        one[0] < other[0] + other[2] and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3] and other[1] < one[1] + one[3]
    )  # fmt: skip
