"""Compute the frames of the video: the active tab's picture, the mark, and the pointer.

All times here are the video's, in milliseconds on a grid. The frames are a stream: only the current state is in memory.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter
from typing import Literal

from reenact.browser.camera.footage import Footage, FootageEntry
from reenact.browser.video import labels
from reenact.browser.video.facts import Card, SessionFacts, VideoAction
from reenact.browser.video.pace import BEFORE
from reenact.browser.video.tabs import SEEN, Box, PaintedPage, VisibleTabs, ordered, size_of

GRID = 25
"""Milliseconds of the grid of frames, so that simultaneous changes are drawn once."""

GLIDE = 400
"""Milliseconds that the pointer takes to its next place."""

_STEP = 50
"""Milliseconds between two frames of a glide."""

_AFTER = 150
"""Milliseconds that an element stays marked after its action."""

_FAILED = 1200
"""Milliseconds that an element stays marked after a failed action."""

_LEAST = 100
"""Least milliseconds of a mark, so that a quick action is visible."""

_LATE = 75
"""Milliseconds by which an action may be shown late if several came at once."""

_CARD = 1000
"""Least milliseconds of a card, which would be too short in shortened idle time."""

_CARD_MOST = 2000
"""Most milliseconds of a card, but for a crash: the pauses at actions would prolong it."""

_PRESSED = 250
"""Milliseconds that a press of the pointer is visible."""

_BEAT = 1000
"""Most milliseconds without a frame, so that the clock advances and a seek lands nearby."""

_CARDS = 4
"""Number of cards visible at once."""

Colour = Literal["script", "agent", "heal", "failed"]


@dataclass(frozen=True, slots=True)
class Ring:
    """The mark on an action's element."""

    box: Box
    colour: Colour


@dataclass(frozen=True, slots=True)
class Pointer:
    """The pointer: its place in CSS pixels, and its button."""

    x: float
    y: float
    pressed: bool = False
    colour: Colour = "script"


@dataclass(frozen=True, slots=True)
class Caption:
    """The contents of the bar below the page."""

    step: str = ""
    actor: str = ""
    colour: Colour = "script"
    words: str = ""
    url: str = ""
    message: str = ""
    done: bool = False
    tab: str = ""


@dataclass(frozen=True, slots=True)
class Shot:
    """One frame of the video, to be drawn; it begins at `ms`."""

    ms: int
    picture: PaintedPage | None
    ring: Ring | None
    pointer: Pointer | None
    cards: tuple[tuple[str, str, str], ...]
    caption: Caption
    clock: str
    speed: int


@dataclass(frozen=True, slots=True)
class ActionTimes:
    """The times of an action in the video, in milliseconds.

    Attributes:
        action: The action.
        shown: The start of its caption and its ring.
        glide: The start of the pointer's move to it.
        acts: The moment of the action.
        unmarked: The end of the ring.
        ended: The moment its outcome is shown, or None.
    """

    action: VideoAction
    shown: int
    glide: int
    acts: int
    unmarked: int
    ended: int | None


class VideoTimeline:
    """A session's frames in the order of the video.

    Args:
        footage: The session.
        story: The session's facts from `facts.read`.
        smooth: True to move the pointer smoothly and to advance the clock; False to show changes only.

    Attributes:
        marks: The times of each action.
        duration: Milliseconds of the video.
    """

    def __init__(self, footage: Footage, story: SessionFacts, *, smooth: bool = True) -> None:
        self._footage = footage
        self._story = story
        self._smooth = smooth
        self.marks = _marks(story)
        self._shown = [mark.shown for mark in self.marks]
        self._cards = sorted(((*_times_of(story, card), card) for card in story.cards), key=itemgetter(0))
        self._dealt = [began for began, _, _ in self._cards]
        self.duration = max(_grid(story.pace.knots[-1][0]), GRID)

    def shots(self) -> Iterator[Shot]:
        """Yield the frames; each holds until the next, and the last one until `duration`."""
        stage = VisibleTabs(size_of(self._footage.head["viewport"]))
        last: Shot | None = None
        for ms, changed in self._moments(stage):
            if not changed:
                continue
            shot = self._shot(ms, stage)
            if last is None or replace(last, ms=ms) != shot:
                yield shot
                last = shot

    def _moments(self, stage: VisibleTabs) -> Iterator[tuple[int, bool]]:
        """Yield the moments to draw, after all lines of each moment were read."""
        now, dirty = 0, True
        pace = self._story.pace
        lines = islice(self._footage.entries(*SEEN), self._story.lines)
        entries = ((_grid(pace.video(entry.t)), entry) for entry in ordered(lines))
        cues: Iterator[tuple[int, FootageEntry | None]] = ((at, None) for at in self._cues())
        for at, entry in heapq.merge(entries, cues, key=itemgetter(0)):
            ms = min(max(at, now), self.duration - GRID)
            if ms > now:
                yield now, dirty
                yield from self._beats(now, ms)
                now, dirty = ms, False
            dirty = (stage.take(entry) if entry is not None else True) or dirty
        yield now, dirty
        yield from self._beats(now, self.duration)

    def _beats(self, since: int, until: int) -> Iterator[tuple[int, bool]]:
        if self._smooth:
            yield from ((ms, True) for ms in range(since + _BEAT, until - GRID, _BEAT))

    def _cues(self) -> list[int]:
        """Return the moments of changes that have no line of their own."""
        cues = []
        for mark in self.marks:
            cues += [mark.shown, mark.acts, mark.unmarked]
            if mark.action.point:
                cues.append(mark.acts + _PRESSED)
                if self._smooth:
                    cues += range(mark.glide, mark.acts, _STEP)
            if mark.ended is not None:
                cues.append(mark.ended)
        for began, ended, _ in self._cards:
            cues += [began, ended]
        return sorted(cues)

    def _shot(self, ms: int, stage: VisibleTabs) -> Shot:
        pace = self._story.pace
        place = bisect_right(self._shown, ms) - 1
        mark = self.marks[place] if place >= 0 else None
        speed = pace.speed(ms / 1000)
        return Shot(
            ms,
            stage.picture,
            _ring(mark, ms),
            self._pointer(place, ms),
            self._on_table(ms),
            _caption(mark, ms, stage),
            labels.clock(pace.session(ms / 1000) - self._story.begin),
            round(speed) if speed >= 1.5 else 1,
        )

    def _on_table(self, at: int) -> tuple[tuple[str, str, str], ...]:
        newest = bisect_right(self._dealt, at)
        return tuple(
            (card.kind, card.title, card.text)
            for _, ended, card in self._cards[max(newest - _CARDS, 0) : newest]
            if at < ended
        )

    def _pointer(self, place: int, at: int) -> Pointer | None:
        mark = self.marks[place] if place >= 0 else None
        before = self._before(place)
        if mark is None or mark.action.point is None:
            return before
        x, y = mark.action.point
        dragged = mark.action.holds if at >= mark.acts else place > 0 and self.marks[place - 1].action.holds
        pressed = dragged or mark.acts <= at < mark.acts + _PRESSED
        colour = _colour(mark, at)
        if at >= mark.acts or before is None:
            return Pointer(x, y, pressed, colour)
        share = (at - mark.glide) / (mark.acts - mark.glide) if mark.acts > mark.glide else 1.0
        share = min(max(share, 0.0), 1.0)
        eased = share * share * (3 - 2 * share)
        return Pointer(before.x + (x - before.x) * eased, before.y + (y - before.y) * eased, pressed, colour)

    def _before(self, place: int) -> Pointer | None:
        """Return the place where the actions before that one left the pointer."""
        for number in range(place - 1, max(place - 200, -1), -1):
            action = self.marks[number].action
            if action.point is not None:
                return Pointer(*action.point, colour=action.actor)
        return None


def _grid(seconds: float) -> int:
    """Return a moment of the video in milliseconds on the grid, at most half a step off."""
    return round(seconds * 1000 / GRID) * GRID


def _marks(story: SessionFacts) -> list[ActionTimes]:
    marks: list[ActionTimes] = []
    pace = story.pace
    for action in story.actions:
        acts = _grid(pace.video(action.began, after=True))
        if pace.kind == "compact":
            shown = _grid(pace.video(action.began))
        else:
            # No time is inserted: the pointer moves during earlier frames of the same page.
            same = min(_grid(pace.video(action.settled)), acts)
            shown = max(acts - round(BEFORE * 1000), same, _free(marks, acts))
        if marks:
            shown = max(shown, min(marks[-1].shown + GRID, acts + _LATE))
            acts = max(acts, shown)
        ended = None if action.ended is None else max(_grid(pace.video(action.ended)), acts)
        until = _unmarked(story, action, acts, ended)
        marks.append(ActionTimes(action, shown, max(shown, acts - GLIDE), acts, until, ended))
    return marks


def _free(marks: list[ActionTimes], acts: int) -> int:
    """Return the end of the previous action's display, with time to read its outcome."""
    if not marks:
        return 0
    last = marks[-1]
    ended = last.acts if last.ended is None else last.ended
    read = ended + (_FAILED if last.action.success is False else _AFTER)
    return min(max(ended, min(read, acts - _LEAST)), acts)


def _unmarked(story: SessionFacts, action: VideoAction, acts: int, ended: int | None) -> int:
    """Return the end of a ring: the end of its element's page, or soon after the action."""
    if ended is None:
        until = _grid(story.pace.knots[-1][0])
    else:
        until = ended + (_FAILED if action.success is False else _AFTER)
    if action.left is not None:
        until = min(until, _grid(story.pace.video(action.left)))
    return max(until, acts + _LEAST)


def _times_of(story: SessionFacts, card: Card) -> tuple[int, int]:
    began, ended, last = (_grid(story.pace.video(t)) for t in (card.began, card.ended, float("inf")))
    if card.kind != "crash":
        ended = min(ended, began + _CARD_MOST)
    return began, max(ended, min(began + _CARD, last))


def _ring(mark: ActionTimes | None, at: int) -> Ring | None:
    if mark is None or mark.action.box is None or not mark.shown <= at < mark.unmarked:
        return None
    return Ring(mark.action.box, _colour(mark, at))


def _colour(mark: ActionTimes, at: int) -> Colour:
    failed = mark.action.success is False and mark.ended is not None and at >= mark.ended
    return "failed" if failed else mark.action.actor


def _caption(mark: ActionTimes | None, at: int, stage: VisibleTabs) -> Caption:
    opened = stage.open
    tab = ""
    if len(opened) > 1:
        place = opened.index(stage.shown) + 1 if stage.shown in opened else "?"
        tab = f"tab {place}/{len(opened)}"
    url = labels.plain(stage.url)
    if mark is None:
        return Caption(url=url, tab=tab)
    done = mark.ended is not None and at >= mark.ended
    action = mark.action
    return Caption(
        step=str(action.number),
        actor=action.actor,
        colour=_colour(mark, at),
        words=action.words,
        url=url,
        message=action.message if done else "",
        done=done,
        tab=tab,
    )
