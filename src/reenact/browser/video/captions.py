"""Chapters, one for each action, and captions as WebVTT."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from reenact.browser.video.timeline import ActionTimes

_AT_LEAST = 700
"""Least milliseconds of a caption, unless the next one begins earlier."""

_AT_MOST = 6000


@dataclass(frozen=True, slots=True)
class Chapter:
    """One action in the video.

    Attributes:
        ms: Its begin, in milliseconds of the video.
        until: The begin of the next.
        title: Its number and description.
        call: The number of its effect in the recording, or None.
    """

    ms: int
    until: int
    title: str
    call: int | None = None


def chapters(marks: Sequence[ActionTimes], duration: int) -> list[Chapter]:
    """Return one chapter for each action, and one for the time before the first action."""
    starts = [mark.shown for mark in marks]
    # Two that begin at the same millisecond would give an empty chapter, which players refuse.
    for place in range(1, len(starts)):
        starts[place] = max(starts[place], starts[place - 1] + 1)
    found = []
    if starts and starts[0] > 0:
        found.append(Chapter(0, min(starts[0], duration), "Start"))
    ends = [*starts[1:], duration][: len(starts)]
    for mark, ms, until in zip(marks, starts, ends, strict=True):
        if ms < duration:
            title = f"{mark.action.number}. {mark.action.words}"
            found.append(Chapter(ms, max(min(until, duration), ms + 1), title, mark.action.call))
    return found


def webvtt(marks: Sequence[ActionTimes], duration: int) -> str:
    """Return the captions: each action from its start, and its failure from its end."""
    cues: list[tuple[int, int, str]] = []
    for place, mark in enumerate(marks):
        begin = mark.shown
        free = marks[place + 1].shown if place + 1 < len(marks) else duration
        ended = begin if mark.ended is None else mark.ended
        words = f"{mark.action.number}. {mark.action.words}"
        if mark.action.actor != "script":
            words = f"{words} ({mark.action.actor})"
        if mark.action.success is False:
            cues.append((begin, min(ended, free), words))
            cues.append((ended, min(ended + _AT_MOST, free), f"{words}\nFailed: {mark.action.message}"))
        else:
            cues.append((begin, min(max(ended, begin + _AT_LEAST), begin + _AT_MOST, free), words))
    blocks = [
        f"{_time(begin)} --> {_time(end)}\n{html.escape(_lines(said), quote=False)}"
        for begin, end, said in cues
        if end > begin
    ]
    return "\n\n".join(["WEBVTT", *blocks]) + "\n"


def _lines(said: str) -> str:
    """Remove empty lines and control characters.

    After an empty line, the text could begin another cue.
    """
    lines = ("".join(c if c.isprintable() else " " for c in line).strip() for line in said.splitlines())
    return "\n".join(line for line in lines if line)


def _time(ms: int) -> str:
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}.{ms % 1000:03}"
