"""Make the replayer of one process of a recording, with its rules for secrets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact.core.boundary import Run
from reenact.core.boundary.turnstile.replaying_turns import ReplayingTurnstile
from reenact.core.model.automaton import LONGEST
from reenact.core.model.event import TYPED, Tree
from reenact.core.model.header import program_of, salt_of
from reenact.core.model.log import Log
from reenact.core.patterns import lazy
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.redact import DEFAULT_RULES, Redactor, SecretRules
from reenact.core.replay.replayer import Replayer
from reenact.core.store.local import load
from reenact.errors import CorruptRecording
from reenact.run.guard_plan import GuardPlan
from reenact.run.plan import ACTS, MIX
from reenact.run.recorded import RECORDED

if TYPE_CHECKING:
    from reenact.core.replay.mixing import Mix

OPTIONS = ("live", "ignore", "policy", "inserted", "tools", MIX, ACTS)
"""The plan's options for the replayer; the rest is for the process as a whole."""


def replayer_of(
    recording: RecordedRun, log: Log, options: Mapping[str, Any], turnstile: ReplayingTurnstile | None = None
) -> Replayer:
    """Return the replayer of one process of a recording.

    It decides about calls that run for real, unless a fork (with a `turnstile` of its own) does.
    """
    steps = recording.numbers(log)
    header = recording.header
    redactor = redactor_of(header, rules_of(header))
    known = {name: options[name] for name in OPTIONS if name in options and name not in (MIX, ACTS)}
    if options.get(MIX):
        from reenact.core.replay.mixing import Mixing  # noqa: PLC0415 - few replays have a second recording

        known["tools"] = ("answer",)
        replayer: Replayer = Mixing(
            log, redactor, steps=steps, mix=_mix(recording, log, options[MIX]), **known
        )
    else:
        here = str(header.get("id", "")) in RECORDED
        replayer = Replayer(log, redactor, steps=steps, turnstile=turnstile, here=here, **known)
    if turnstile is None:
        acts = options.get(ACTS) or {}
        words, terminal = tuple(acts.get("words", ())), str(acts.get("terminal", ""))
        folder, command = str(acts.get("folder", "")), bool(acts.get("command"))
        plan = GuardPlan(recording.path, words, terminal, folder=folder, command=command)
        if log is recording.logs[0]:
            plan.check_functions()
        replayer.guard(plan.guard(recording))
    return replayer


def redactor_of(header: Mapping[str, Tree], rules: SecretRules) -> Redactor:
    """Return a redactor with these rules, and with the recording's tokens for secrets."""
    salt, typed = salt_of(header), rules_number(header) >= TYPED
    return Redactor(rules, salt=salt, environ=dict(os.environ), typed=typed)


_MOST_RULES = {"names": (1000, 200), "headers": (1000, 200), "patterns": (64, LONGEST)}
"""The maximum number of texts in a header's rules, and their maximum length in characters."""


def _mix(recording: RecordedRun, log: Log, words: Mapping[str, Any]) -> Mix:
    """Return the parts that one process takes from another recording, by the plan."""
    from reenact.core.replay.mixing import Mix  # noqa: PLC0415 - as above

    other = load(Path(words["other"]))
    same = next((each for each in other.logs if each.process == log.process), None)
    if same is None:
        return Mix(Log((), no_blobs), exact=words["exact"])
    pairs = [(recording.step(int(one)), other.step(two)) for one, two in words["swap"].items()]
    swap = {one.call.number: two.call.number for one, two in pairs if one.log is log and two.log is same}
    reads = {(path, source) for path, source in words["reads"]}
    return Mix(same, swap, reads, words["exact"])


def rules_of(header: Mapping[str, Tree], patterns: Sequence[str] = ()) -> SecretRules:
    """Return a recording's rules for secrets, as far as its header has them."""
    known = header.get("secrets") or {}
    names, headers, theirs = (_listed(known, field) for field in ("names", "headers", "patterns"))
    patterns = tuple(dict.fromkeys((*DEFAULT_RULES.patterns, *theirs, *patterns)))
    return SecretRules(
        names=DEFAULT_RULES.names | set(names),
        headers=DEFAULT_RULES.headers | set(headers),
        patterns=patterns,
        values=DEFAULT_RULES.values,
    )


def _listed(known: Tree, field: str) -> list[str]:
    """Return one field of a header's rules, within limits: the header may be foreign.

    Raises:
        CorruptRecording: It is no list of texts, or has more or longer ones than a recorder writes.
    """
    found = known.get(field, []) if isinstance(known, dict) else None
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise CorruptRecording(f"the recording's header has no list of texts under secrets.{field}")
    most, longest = _MOST_RULES[field]
    if len(found) > most or any(len(text) > longest for text in found):
        raise CorruptRecording(
            f"the recording's header is too long under secrets.{field}: {most} texts of {longest} characters at most"
        )
    return found


def no_blobs(address: str) -> bytes:
    """Raise CorruptRecording: a log without a file has no blobs."""
    raise CorruptRecording(f"blob {address[:19]}… belongs to no recorded process")


def tell_of(run: Run, header: Mapping[str, Tree]) -> None:
    """Set a run's matching rules and Python version to those of its recording."""
    run.rules = rules_number(header)
    version = _VERSION.match(str(program_of(header).get("python", "")))
    run.python = (int(version[1]), int(version[2])) if version is not None else None


_VERSION = lazy(r"(\d{1,3})\.(\d{1,3})\b")


def rules_number(header: Mapping[str, Tree]) -> int:
    """Return the number of a recording's matching rules, by its header."""
    number = header.get("rules")
    return number if isinstance(number, int) else 1
