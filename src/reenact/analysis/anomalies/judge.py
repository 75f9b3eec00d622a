"""Ask a language model to judge a run. Its findings have the rule name `judge`."""

from __future__ import annotations

import importlib
from typing import Any

from reenact.analysis.anomalies.anomaly import Anomaly
from reenact.analysis.anomalies.case import short
from reenact.core.dataclass import dataclass
from reenact.core.model.plain import compact
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import UsageError

NAME = "judge"
WEIGHT = 0.15
"""The approximate rate at which the best published judges name the right step."""

_STEP = 1500
_WHOLE = 60_000

_ASK = """You are shown the recording of a run of an LLM agent (or of several), step by step. Find the decisive step: \
the first one without which the run would not have gone wrong. Look for the first wrong claim, wrong tool call, wrong \
code or ignored error, not for its later consequences. Say in one plain sentence what is wrong there, and quote the \
words that show it. If nothing is wrong with the run, answer with step 0."""


@dataclass
class Opinion:
    """The judge's opinion: the decisive step (0: none), the reason, and the words as evidence."""

    step: int
    reason: str
    quote: str = ""


def asked(model: Any, recording: RecordedRun) -> list[Anomaly]:
    """Ask a model of Pydantic AI (or one by its name) about a recording.

    Raises:
        UsageError: Pydantic AI is not installed, there is no such model, or it does not answer as asked.
    """
    try:
        pydantic_ai = importlib.import_module("pydantic_ai")
    except ImportError:
        raise UsageError("a judge needs Pydantic AI: pip install pydantic-ai-slim") from None
    facts = RecordingFacts(recording)
    try:
        agent = pydantic_ai.Agent(model, output_type=Opinion, instructions=_ASK, retries=2)
        opinion: Opinion = agent.run_sync(told(facts)).output
    except Exception as error:
        name = model if isinstance(model, str) else getattr(model, "model_name", type(model).__name__)
        raise UsageError(
            f"the judge {name} could not be asked: {type(error).__name__}: {short(str(error))}"
        ) from None
    if opinion.step == 0:
        return []
    there = 1 <= opinion.step <= len(facts.steps)
    sentence = (
        opinion.reason if there else f"{opinion.reason} (it names step {opinion.step}, which there is not)"
    )
    return [
        Anomaly(
            NAME,
            "warning",
            opinion.step if there else None,
            short(sentence, 400),
            short(opinion.quote, 300),
            weight=WEIGHT if there else 0.0,
        )
    ]


def told(facts: RecordingFacts) -> str:
    """Return the run as text for the judge: the question, and the new part of each step, cut."""
    each = max(200, min(_STEP, _WHOLE // max(len(facts.steps), 1)))
    lines = []
    if facts.recording.status == "error":
        lines.append("The run is known to have failed.")
    for step in facts:
        lines.append(
            f"--- step {step.step.number}: {step.call.label}, by {step.call.scope.rpartition('/')[2]}"
        )
        lines += _lines(step, each)
    text = "\n".join(lines)
    return text if len(text) <= 2 * _WHOLE else f"{text[:_WHOLE]}\n[…]\n{text[-_WHOLE:]}"


def _lines(step: StepFacts, each: int) -> list[str]:
    turn = step.turn
    if turn is None:
        given = f"arguments: {short(compact(step.args), each)}"
        return [
            given,
            f"failed: {step.error}" if step.error else f"result: {short(compact(step.output), each)}",
        ]
    # The prompts of a chat's first call; other messages are in their own steps.
    new = [f"{one.role}: {short(one.text, each)}" for one in turn.new if one.role in ("system", "user")]
    lines = new if step.step.number == 1 or len(new) == 1 else []
    answer = turn.call.answer
    if answer is None:
        return [*lines, f"failed: {turn.call.problem or step.error or 'no answer'}"]
    asks = [f"asks for {call.name}({short(compact(call.args), each)})" for call in answer.calls]
    return [*lines, *([f"answer: {short(answer.text, each)}"] if answer.text else []), *asks]
