"""Errors, seen and hidden."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from reenact.analysis.anomalies.case import Case, Use, short
from reenact.analysis.anomalies.registry import RuleFinding, rule

_ADMITS = re.compile(
    r"\b(?:error|fail|unable|cannot|can't|could ?n[o']t|couldn't|sorry|apologi[sz]e|unfortunately|not found|issue"
    r"|problem|trouble|unavailable|invalid|denied|declined|rejected|timed? ?out|unsuccessful|retry|try again|instead"
    r"|does ?n[o']t|doesn't|did ?n[o']t|didn't|was ?n[o']t|wasn't|insufficient|not (?:enough|available|possible))",
    re.IGNORECASE,
)
_CODE = {"code", "command", "cmd", "script", "message", "source", "input", "python", "bash", "query", "sql"}


@rule("tool-error", severity="warning", weight=0.05)
def tool_error(case: Case) -> Iterator[RuleFinding]:
    """A tool that raised, or whose result says that it failed."""
    for use in case.uses:
        if use.failed:
            yield RuleFinding(use.step, f"{use.name} failed", short(use.result))


@rule("failed-action", severity="error")
def failed_action(case: Case) -> Iterator[RuleFinding]:
    """A browser's action that failed, with the sentence that says why."""
    for step in case.facts:
        if step.call.kind == "browser" and step.error:
            yield RuleFinding(step.step.number, f"{step.call.name} failed: {short(step.error)}", step.error)


@rule("failing-code", severity="warning", weight=0.25)
def failing_code(case: Case) -> Iterator[RuleFinding]:
    """Code or a command of a model that failed when it was run. The step is the model's."""
    for use in case.uses:
        if use.failed and use.asked is not None and _wrote(use):
            yield RuleFinding(
                use.asked,
                f"what the model wrote here failed when {use.name} ran it in step {use.step}",
                short(use.result),
                (use.step,),
            )


@rule("hidden-error", severity="error", weight=0.1)
def hidden_error(case: Case) -> Iterator[RuleFinding]:
    """A tool failed, was not repeated with success, and the next answer does not mention it."""
    answers = [said for said in case.answers if not said.to_tools]
    steps = [said.step for said in answers]
    last_good = {use.name: place for place, use in enumerate(case.uses) if not use.failed}
    for place, use in enumerate(case.uses):
        if not use.failed or last_good.get(use.name, -1) > place:
            continue
        next_one = bisect_right(steps, use.step)
        if next_one < len(answers) and not _ADMITS.search(answers[next_one].text):
            yield RuleFinding(
                answers[next_one].step,
                f"{use.name} failed in step {use.step}, and the answer does not say so",
                short(use.result),
                (use.step,),
            )


@rule("error-words", severity="info", weight=0.2)
def error_words(
    case: Case,
    *,
    words: tuple[str, ...] = ("error", "exception", "traceback", "failed", "failure", "undefined", "NaN"),
) -> Iterator[RuleFinding]:
    """Error words in what the run gave in the end, or in the last answer."""
    final = case.final
    text = case.output or (final.text if final is not None else "")
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)
    if match := pattern.search(text):
        around = text[max(0, match.start() - 60) : match.end() + 60]
        yield RuleFinding(final.step if final else None, f"the output says '{match[0]}'", short(around))


@rule("unanswered", severity="warning")
def unanswered(case: Case) -> Iterator[RuleFinding]:
    """A call that has no answer: the recording stops while it is in flight."""
    for step in case.facts:
        if step.call.status == "in flight":
            yield RuleFinding(
                step.step.number, f"{step.call.label} was never answered", case.recording.status
            )


@rule("refused", severity="error")
def refused(case: Case) -> Iterator[RuleFinding]:
    """A model's API that refused the call, or a model call that raised."""
    for said in case.said:
        error = case.facts.steps[said.step - 1].error
        if said.call.problem or error:
            yield RuleFinding(
                said.step,
                f"the call of {said.call.model or 'the model'} failed",
                short(said.call.problem or error),
            )


@rule("empty-result", severity="info", weight=0.2)
def empty_result(case: Case) -> Iterator[RuleFinding]:
    """A tool succeeded without a result. The step is the model's, if it wrote the code."""
    for use in case.uses:
        if not use.failed and _EMPTY.search(use.text[:400]):
            step = use.asked if _wrote(use) and use.asked is not None else use.step
            yield RuleFinding(
                step, f"{use.name} returned nothing in step {use.step}", short(use.text), (use.step,)
            )


_NOTHING = r"(?:null|none|nan|n/?a|\[\s*\]|\{\s*\}|\"\")"
_EMPTY = re.compile(
    rf"\A\s*{_NOTHING}?\s*\Z|(?:output|results?):\s*{_NOTHING}?\s*\Z|:\s*none\s*\Z"
    r"|\b0 results|\bno (?:results|matches|data|records|code)\b",
    re.IGNORECASE,
)


def _wrote(use: Use) -> bool:
    return isinstance(use.args, dict) and bool(_CODE & set(use.args))
