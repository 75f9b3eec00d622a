"""The processes that a fork's parent has started, and their files in the fork.

Before the step of a fork, a tool that has started a Python program is answered without running. So its process, which
ended before the step, need not run again: its file is copied into the fork. One that was started outside of a tool runs
again, and replays its file. A process that still ran at the step does not allow a fork there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import orjson

from reenact.core.files.trees import has_files
from reenact.core.model.event import Tree
from reenact.core.model.log import CallRecord, Log
from reenact.core.query.recorded_run import RecordedRun, Step
from reenact.core.record.header import marked
from reenact.core.record.own import signing
from reenact.core.store import chain, shared
from reenact.core.store.local import argument_of
from reenact.core.store.writer import Writer
from reenact.core.trust.identity import MARK, Identity
from reenact.errors import UsageError
from reenact.run.plan import key


def around(log: Log, call: CallRecord) -> set[int]:
    """Return the calls around a call, which have to run for it to be made."""
    return {each.number for each in enclosing(log, call.within)}


def enclosing(log: Log, within: int | None) -> Iterator[CallRecord]:
    """Yield the calls around a place, the innermost first."""
    while within is not None and within in log.calls:
        yield log.calls[within]
        within = log.calls[within].within


def check(recording: RecordedRun, step: Step, live: Iterable[str] = (), *, command: bool = False) -> None:
    """Raise UsageError if a recording of several processes cannot be forked at a step.

    Args:
        recording: The recording.
        step: The step.
        live: The calls that run for real before it.
        command: The fork is one of a whole program, which has a disk of its own.
    """
    main = recording.logs[0]
    if step.log is not main:
        own = [each.number for each in recording.steps if each.log is main]
        before = max((number for number in own if number < step.number), default=min(own, default=0))
        hint = f"; its own step before it is {before}" if before else ""
        raise UsageError(
            f"step {step.number} was asked by {step.log.process}, a process that the program had started, and a fork "
            f"begins in the program itself{hint}"
        )
    opened = {*main.calls} if live else around(main, step.call)
    again = ""
    if live:
        again = "would have to run again, which --live does not allow"
    elif not command and has_files(recording):
        named = f"{argument_of(recording)} --at {step.number}"
        again = f"would run again on your own files; fork it with `reenact fork {named}`"
    for log in recording.logs[1:]:
        flaw = _flaw(main, log, step.call, opened, again)
        if not flaw and not Path(recording.path, _file_of(log)).is_file():
            flaw = "has a file of another name; the recording is damaged"
        if flaw:
            raise UsageError(
                f"recording {recording.id} cannot be forked at step {step.number}: the process {log.process} {flaw}"
            )


def _flaw(main: Log, log: Log, call: CallRecord, opened: set[int], again: str) -> str:
    """Return the reason that a process does not allow a fork at a call, or an empty text.

    Args:
        main: The program.
        log: The process that it has started.
        call: The call of the step.
        opened: The calls that run again.
        again: The reason that no process can run again, or empty.
    """
    spawned = _spawned(main, log)
    if not log.opened:
        return "has no header"
    if spawned is None:
        return "was started beside the program, and a fork is one of a single program"
    if float(spawned["t"]) >= call.began:
        return ""
    if _ended(log) > call.began:
        return "still ran then, and what it did afterwards cannot be repeated"
    tools = [each for each in enclosing(main, spawned["in"]) if each.kind == "tool"]
    if any(tool.outcome is not None and tool.number not in opened for tool in tools):
        return ""
    if log.sealed is None:
        return "was started before it outside of a tool, and its end is not recorded"
    return again and f"was started before it outside of a tool, and {again}"


def _spawned(main: Log, log: Log) -> Mapping[str, Tree] | None:
    """Return the program's event that started a process, or None."""
    return next((line for path, line in main.spawned.items() if belongs(log, path)), None)


def _ended(log: Log) -> float:
    """Return the time of a process's end, or of its last event if its end is not recorded."""
    ending: Mapping[str, Tree] = log.sealed or {}
    return float(log.opened.get("offset", 0.0)) + float(ending.get("t", log.last))


def check_whole(recording: RecordedRun) -> None:
    """Raise UsageError if a recording of several processes cannot be resumed.

    A process that a tool has started need not run again: the tool is answered, or made again as a whole. Any other
    process replays its file, if it had ended before the last answer that the program had received.
    """
    main = recording.logs[0]
    live = max(main.times, default=0.0)
    for log in recording.logs[1:]:
        spawned = _spawned(main, log)
        if not log.opened:
            raise UsageError(
                f"recording {recording.id} cannot be resumed: a process that it had started had only just begun, "
                "and which one is not recorded"
            )
        if spawned is None:
            flaw = "was started beside the program, and only a single program is resumed"
        elif not (tools := [each for each in enclosing(main, spawned["in"]) if each.kind == "tool"]):
            if log.sealed is not None and _ended(log) <= live:
                continue
            flaw = "was started outside of a tool, and ran on behind the last recorded answer"
        elif tools[-1].outcome is not None and log.sealed is None:
            flaw = f"still ran when {tools[-1].label} had returned, and how it ended is not recorded"
        else:
            continue
        raise UsageError(f"recording {recording.id} cannot be resumed: the process {log.process} {flaw}")


def belongs(log: Log, path: str) -> bool:
    """Return True if a process was started under a path, or by a process that was."""
    return log.process == path or log.process.startswith((f"{path}~", f"{path}/"))


def _file_of(log: Log) -> str:
    return f"events.{key(log.process)}.jsonl"


def copy(log: Log, source: Path, target: Path, id: str, identity: Identity | None) -> None:
    """Write the file of a process of the parent into the fork's folder, as one of the fork.

    Raises OSError, or CorruptRecording.
    """
    name = _file_of(log)
    if (target / name).exists():
        return
    data = shared.read(source / name)
    shared.fetch(data, [source, *shared.ancestors(source)], target)
    header, *lines = [chain.bare(line) for line in data.split(b"\n")[:-1]]
    begun = {name: value for name, value in orjson.loads(header).items() if name != MARK} | {"id": id}
    first = orjson.dumps(begun)
    writer = Writer(target / name)
    writer.append(first if identity is None else marked(first, identity))
    for line in lines:
        if line.startswith(b'{"event":"sealed"'):
            ending = {name: value for name, value in orjson.loads(line).items() if name != "signed"}
            writer.seal(orjson.dumps(ending), None if identity is None else signing(identity))
        else:
            writer.append(line)
    writer.close()
