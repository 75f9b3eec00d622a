"""Sections of an exported page: timeline, conversation, and changed files."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from reenact.analysis.pages.blocks import (
    Block,
    CodeBlock,
    Fold,
    LaneChart,
    Note,
    PictureBlock,
    Section,
    Speech,
    Style,
    Styled,
    text,
)
from reenact.analysis.views.file_tree import step_differences
from reenact.analysis.views.lanes import Bar, lanes
from reenact.analysis.views.step_pictures import LARGEST, StepPicture, pictures
from reenact.analysis.views.text import cut, many, one_line, seconds
from reenact.analysis.views.transcript import ItemView, Talk
from reenact.core.messages import ToolCall
from reenact.core.messages.spelling import arguments, spelled
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import RecordedRun

LETTERS = 2_000_000
"""The maximum number of characters of a conversation on a page."""

STEPS = 2_000
"""The maximum number of steps of a conversation on a page, and of bars of its timeline."""

PICTURES = 20_000_000
"""The maximum number of bytes of pictures on a page."""

_LANES = 40
_OPEN = 3
"""The number of changed files that are shown unfolded."""
_SIGNS: dict[str, tuple[str, Style]] = {
    "added": ("+", "good"), "changed": ("~", "first"), "removed": ("-", "bad"), "same": ("", "quiet"),
}  # fmt: skip
_LINES: dict[str, Style] = {"+": "added", "-": "removed", "@": "quiet"}
_STYLES: dict[str, Style] = {"model": "first", "tool": "second", "browser": "live", "http": "live"}


def timeline(facts: RecordingFacts) -> Section:
    """Return the steps as bars on lanes, from the first step on."""
    found = lanes(facts, _depths(facts))
    if not found.bars:
        return Section("Timeline", ())
    begin = min(bar[2] for bar in found.bars)
    whole = max(found.duration - begin, 1e-6)
    bars = tuple(
        (
            bar[1],
            (bar[2] - begin) / whole,
            min((bar[3] if bar[3] is not None else whole) / whole, 1.0),
            _style(bar),
            _titled(facts, bar),
        )
        for bar in found.bars[:STEPS]
        if bar[1] < _LANES
    )
    names = tuple(one_line(lane.label, 40) for lane in found.lanes[:_LANES])
    blocks: list[Block] = [LaneChart(names, bars, seconds(whole))]
    if (more := len(found.bars) - len(bars)) > 0:
        blocks.append(text(f"{many(more, 'more step')} on other lanes or later"))
    return Section("Timeline", tuple(blocks))


def files(recording: RecordedRun, ref: str) -> Section:
    """Return the files that the run changed, with changed lines; `ref` is its name in a command."""
    found = step_differences(recording, None)
    blocks: list[Block] = []
    for file in found.files:
        sign, style = _SIGNS[file.change]
        lines: list[str | Styled] = [
            Styled(f"{line}\n", _LINES.get(line[:1], "plain")) for line in file.lines
        ]
        if file.left_out:
            lines.append(f"… {many(file.left_out, 'more line')}")
        head = (Styled(f"{sign} ", style), Styled(one_line(file.path), "code"))
        blocks.append(Fold(head, (CodeBlock(tuple(lines)),), open=len(found.files) <= _OPEN))
    if found.left_out:
        blocks.append(Note(f"{many(found.left_out, 'more file')}; `reenact files {ref}` lists all", "quiet"))
    return Section("Files", tuple(blocks))


def conversation(facts: RecordingFacts, ref: str) -> Section:
    """Return the messages and effects, up to a limit; `ref` is the run's name in a command."""
    talk, depths = Talk(facts), _depths(facts)
    blocks: list[Block] = []
    left, room = LETTERS, PICTURES
    for number in range(1, len(facts.steps) + 1):
        if number > STEPS or left <= 0:
            more = many(len(facts.steps) - number + 1, "more step")
            blocks.append(Note(f"{more} left out; `reenact show {ref}` has them", "quiet"))
            break
        for speech in map(_speech, talk.page(number, number, depths).items):
            left -= len(str(speech.words))
            blocks.append(speech)
        step = facts.steps[number - 1]
        # The film shows what a browser showed.
        for picture in pictures(facts, step) if step.call.kind != "browser" else ():
            if len(picture.data) <= min(LARGEST, room):
                room -= len(picture.data)
                blocks.append(_shown(picture))
    return Section("Conversation", tuple(blocks))


def _shown(picture: StepPicture) -> PictureBlock:
    return PictureBlock(picture.kind, base64.b64encode(picture.data).decode(), f"picture {picture.path}")


def _depths(facts: RecordingFacts) -> list[int]:
    depths: list[int] = []
    for step in facts:
        within = facts.within(step)
        depths.append(depths[within - 1] + 1 if within is not None and within <= len(depths) else 0)
    return depths


def _style(bar: Bar) -> Style:
    return "bad" if bar[5] == "error" else _STYLES.get(bar[4], "plain")


def _titled(facts: RecordingFacts, bar: Bar) -> str:
    took = seconds(bar[3]) if bar[3] is not None else "no answer"
    return f"{bar[0]} {one_line(facts.steps[bar[0] - 1].call.label, 80)}, {took}"


def _speech(item: ItemView) -> Speech:
    if item.part == "done":
        who = f"{item.step}. {item.name or item.kind}"
    elif item.part == "answer":
        who = f"assistant {item.model or ''} · {item.step}"
    else:
        who = f"{item.role} {item.name}".strip()
    return Speech(who, cut("\n".join(filter(None, _lines(item)))))


def _lines(item: ItemView) -> Iterator[str]:
    if item.dropped:
        yield f"{many(item.dropped, 'earlier message')} left out of the prompt"
    if item.thinking:
        yield f"(thinking) {item.thinking}"
    if item.args:
        yield arguments(item.args)
    yield item.text
    for call in item.calls:
        yield spelled(ToolCall(call.name, call.args))
    if item.error:
        yield f"error: {item.error}"
