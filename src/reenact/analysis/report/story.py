"""The page of a recording for newcomers: the question, the result, the events, the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reenact.analysis.pages.blocks import (
    Block,
    CodeBlock,
    Fold,
    Note,
    Section,
    Speech,
    StaticPage,
    StepLine,
    Styled,
    Words,
    code,
    facts,
    table,
    text,
    versus,
)
from reenact.analysis.views import browsed
from reenact.analysis.views.steps import gist
from reenact.analysis.views.text import cut, many, marks, moment, money, seconds
from reenact.analysis.views.values import pretty
from reenact.core.messages import Message
from reenact.core.messages.spelling import spelled
from reenact.core.model.header import program_of
from reenact.core.model.plain import error_line, plain
from reenact.core.query.conversation import Turn
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.summary import summarise
from reenact.core.store import shared
from reenact.core.trust import Provenance

MOST = 400
"""The maximum number of steps on a page."""


def page(
    recording: RecordedRun,
    more: Sequence[Section] = (),
    commands: Sequence[tuple[str, str]] = (),
    *,
    standing: Provenance | None = None,
) -> StaticPage:
    """Return the page of a recording.

    Args:
        recording: The recording.
        more: Further sections, between the timeline and the environment.
        commands: Purpose and text of further commands.
        standing: Its origin, as seen by the home that writes the page.
    """
    about = RecordingFacts(recording)
    sections = [_asked(about), _came(about), _timeline(about), *more, _environment(recording)]
    if commands:
        sections.append(Section("Commands", (facts(*commands),)))
    title = recording.agent or f"recording {recording.id}"
    shown = tuple(section for section in sections if section.blocks)
    return StaticPage(title, _lead(about, standing), shown, kind="Report of a recording")


def _lead(about: RecordingFacts, standing: Provenance | None) -> Words:
    recording, line = about.recording, summarise(about, path=about.recording.path)
    said = shared.origin(recording.header)
    parts = [many(len(about.steps), "step")]
    words = standing.words if standing is not None else ()
    parts += [word for word in words if word != recording.status]
    parts += [f"{line.failed} failed"] if line.failed else []
    parts += [f"{said.how or 'child'} of {said.id} at step {said.step}"] if said is not None else []
    parts += [seconds(line.duration), moment(line.started)]
    parts += [", ".join(line.models)] if line.models else []
    tokens = line.input_tokens + line.output_tokens
    parts += [f"{tokens:,} tokens"] if tokens else []
    parts += [money(line.cost)] if line.cost else []
    parts += [marks((*recording.tags, *recording.labels.words), recording.labels.note)]
    more = " · ".join(("", *filter(None, parts)))
    status = Styled(recording.status, "good" if recording.status == "ok" else "bad")
    return (Styled(recording.id, "code"), " · ", status, more)


# -- what was asked, what came out ---------------------------------------------------------------------------


def _asked(about: RecordingFacts) -> Section:
    program = program_of(about.recording.header)
    argv = [str(word) for word in program.get("argv") or ()]
    blocks: list[Block] = []
    turn = next((turn for step in about if (turn := step.turn) is not None), None)
    if turn is not None:
        blocks += [_message(message) for message in turn.call.messages if message.role == "user"]
        rules = [_message(message) for message in turn.call.messages if message.role == "system"]
        blocks += [Fold("instructions", tuple(rules))] if rules else []
    if argv:
        blocks.append(facts(("command", " ".join([Path(argv[0]).name, *argv[1:]]))))
    return Section("Question", tuple(blocks))


def _came(about: RecordingFacts) -> Section:
    sealed = about.recording.logs[0].sealed
    if sealed is None:
        return Section("Result", (Note("the run was cut off: the recording has no end"),))
    blocks: list[Block] = []
    if "output" in sealed:
        blocks.append(code(pretty(plain(sealed["output"]))))
    written = sealed.get("stdout")
    if isinstance(written, dict) and written.get("text"):
        blocks += [text("It wrote:"), code(str(written["text"]))]
    if sealed.get("error"):
        blocks.append(Note(f"it ended with {error_line(sealed['error'])}"))
    rows = [("status", str(sealed.get("status") or "")), ("exit status", str(sealed.get("exit", "")))]
    blocks.append(facts(*(row for row in rows if row[1] not in ("", "None"))))
    last = next((turn for step in reversed(about.steps) if (turn := step.turn) is not None), None)
    if (
        not any(isinstance(block, CodeBlock) for block in blocks)
        and last is not None
        and last.call.answer is not None
    ):
        blocks.insert(0, _message(last.call.answer))
    return Section("Result", tuple(blocks))


# -- what happened -------------------------------------------------------------------------------------------


def _timeline(about: RecordingFacts) -> Section:
    blocks: list[Block] = []
    chosen, left_out = _chosen(about)
    for facts_ in about.steps:
        if facts_.step.number in left_out:
            blocks.append(text(f"… {many(left_out[facts_.step.number], 'step')} left out …"))
        if facts_.step.number in chosen:
            blocks.append(_step(facts_, about))
    blocks += [Note(each) for each in about.recording.notes]
    return Section("What happened", tuple(blocks))


def _chosen(about: RecordingFacts) -> tuple[set[int], dict[int, int]]:
    """Return the steps to show (first, last, failed), and the numbers of those left out."""
    count = len(about.steps)
    numbers = set(range(1, count + 1))
    if count > MOST:
        numbers = {*range(1, MOST // 3 + 1), *range(count - MOST // 3, count + 1)}
        failed = [step.step.number for step in about if step.error and step.step.number not in numbers]
        numbers |= set(failed[: MOST // 3])
    gaps: dict[int, int] = {}
    for number in range(1, count + 1):
        if number not in numbers:
            first = number if number - 1 in numbers or number == 1 else next(reversed(gaps))
            gaps[first] = gaps.get(first, 0) + 1
    return numbers, gaps


def _step(about: StepFacts, recording: RecordingFacts) -> Block:
    call, turn = about.call, about.turn
    inside = _of_model(turn) if turn is not None else _of_effect(about)
    if about.error:
        inside.append(Note(about.error))
    duration = seconds(call.duration) if call.duration is not None else "never answered"
    name = call.name.rstrip(":") + (" (edited answer)" if call.edited else "")
    name += f" ({call.policy} answer)" if call.policy else ""
    within = recording.within(about)
    inside.append(facts(("where", call.address), ("inside of step", str(within or ""))))
    return StepLine(
        str(about.step.number),
        f"{call.began:.2f} s",
        call.kind,
        name,
        _headline(about),
        duration,
        call.status not in ("ok", ""),
        tuple(inside),
    )


def _headline(about: StepFacts) -> str:
    if about.turn is None and about.call.kind == "http" and isinstance(about.output, dict):
        return about.error or f"{about.output.get('status')}"
    return gist(about)


def _of_model(turn: Turn) -> list[Block]:
    blocks: list[Block] = [text(f"{many(turn.known, 'message')} as before, and:")] if turn.known else []
    blocks += [_message(message) for message in turn.new]
    if turn.call.answer is not None:
        blocks.append(_message(turn.call.answer))
    if turn.call.problem:
        blocks.append(Note(turn.call.problem))
    usage = turn.call.usage
    blocks.append(facts(("tokens", f"{usage.input} in, {usage.output} out" if usage is not None else "")))
    return blocks


def _of_effect(about: StepFacts) -> list[Block]:
    blocks: list[Block] = []
    if about.args:
        blocks.append(versus(*((name, pretty(value)) for name, value in about.args.items())))
    done = browsed.told(about.output) if about.call.kind in browsed.KINDS else []
    if done:
        blocks.append(facts(*(row for row in done if "\n" not in row[1])))
        blocks += [versus(row) for row in done if "\n" in row[1]]
    elif about.output is not None:
        blocks.append(versus(("answer", pretty(about.output))))
    return blocks


def _message(message: Message) -> Block:
    parts = [message.text] if message.text else []
    parts += map(spelled, message.calls)
    role = f"{message.role} {message.name}".strip()
    return Speech(role, cut("\n".join(parts)))


# -- where ---------------------------------------------------------------------------------------------------


def _environment(recording: RecordedRun) -> Section:
    program: dict[str, Any] = dict(program_of(recording.header))
    git = program.get("git") or {}
    revision = str(git.get("revision") or "")
    rows = facts(
        ("Python", str(program.get("python") or "")),
        ("platform", str(program.get("platform") or "")),
        (
            "revision",
            f"{revision}{' with uncommitted changes' if git.get('dirty') else ''}" if revision else "",
        ),
        ("recorded", moment(recording.started)),
        ("processes", str(len(recording.logs)) if len(recording.logs) > 1 else ""),
        ("format", str(recording.header.get("format") or "")),
    )
    sealed = recording.logs[0].sealed or {}
    packages = sealed.get("packages") if isinstance(sealed.get("packages"), dict) else program.get("packages")
    blocks: list[Block] = [rows]
    if packages:
        listed = sorted((str(name), str(version)) for name, version in packages.items())
        when = "as imported" if "packages" in sealed else "as installed"
        head = f"{many(len(listed), 'package')}, {when}"
        blocks.append(Fold(head, (table(("package", "version"), listed),)))
    return Section("Environment", tuple(blocks))
