"""Actions: risky ones without a check before, tools not offered, invalid arguments."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

from reenact.analysis.anomalies.case import Case, Said, Use, short
from reenact.analysis.anomalies.registry import RuleFinding, rule
from reenact.analysis.anomalies.risk import RISKY, risky
from reenact.core.extras import needing
from reenact.core.messages.spelling import spelled_call
from reenact.core.model.plain import compact, plain

_AGREES = re.compile(
    r"\b(?:yes|yeah|yep|sure|ok|okay|correct|right|confirm(?:ed)?|agree|go ahead|proceed|please do|sounds good|do it"
    r"|that works|fine|perfect|great|absolutely|definitely|let's)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(?<![\w.])[\w.]{1,64}+@[\w.]++|[A-Za-z0-9][\w-]*+")
_LONG = 6


@rule("unchecked-action", severity="error")
def unchecked_action(case: Case, *, tools: tuple[str, ...] = RISKY) -> Iterator[RuleFinding]:
    """A risky action on something that no earlier call had looked at."""
    seen: set[str] = set()
    for use in case.uses:
        if risky(use, tools) and not use.failed:
            wanted = {
                key: one
                for key, one in _values(compact(use.args)).items()
                if len(one) > 2 and any(letter.isdigit() for letter in one)
            }
            if wanted and seen.isdisjoint(wanted):
                yield RuleFinding(
                    use.step,
                    f"{use.name} acts on {', '.join(sorted(wanted.values())[:3])}, which no earlier call had read",
                    short(use.spelled),
                )
        if not use.failed:
            seen.update(_values(compact(use.args)), _values(use.text))


@rule("unconfirmed-action", severity="warning")
def unconfirmed_action(case: Case, *, tools: tuple[str, ...] = RISKY) -> Iterator[RuleFinding]:
    """A risky action that the person's last words did not agree to, if a person takes part."""
    for use in case.uses:
        if not risky(use, tools) or use.asked is None:
            continue
        words = _heard(case, use)
        if words is not None and not _AGREES.search(words):
            yield RuleFinding(use.step, f"{use.name} was called without the user's agreement", short(words))


def _heard(case: Case, use: Use) -> str | None:
    """The person's last words before a call, in a conversation of more than one such message."""
    said = case.at(use.asked)
    if said is None:
        return None
    told = [message.text for message in said.call.messages if message.role == "user"]
    return told[-1] if len(told) > 1 else None


def _values(text: str) -> dict[str, str]:
    """Return the addresses, the long words and those with a digit, by their lower case."""
    return {
        value.lower(): value
        for value in _VALUE.findall(text)
        if len(value) >= _LONG or "@" in value or any(letter.isdigit() for letter in value)
    }


@rule("risky-action", severity="info")
def risky_action(case: Case, *, tools: tuple[str, ...] = RISKY) -> Iterator[RuleFinding]:
    """A call that changes something. It may be right, but a lasting change is worth a look."""
    acts = [use for use in case.uses if risky(use, tools) and not use.failed]
    if acts:
        yield RuleFinding(
            acts[0].step,
            f"{acts[0].name} changes something"
            if len(acts) == 1
            else f"{len(acts)} calls change something: {short(', '.join(use.name for use in acts), 80)}",
            short(acts[0].spelled),
            tuple(use.step for use in acts[1:]),
        )


@rule("unknown-tool", severity="error")
def unknown_tool(case: Case) -> Iterator[RuleFinding]:
    """A model asks for a tool that it was not offered."""
    for said in case.said:
        offered = set(said.call.tools)
        for call in said.answer.calls if said.answer is not None and offered else ():
            if call.name and call.name not in offered and not _hosted(said, call.name):
                yield RuleFinding(
                    said.step,
                    f"the model asks for '{call.name}', which was not offered to it",
                    f"offered: {', '.join(sorted(offered)[:8])}",
                )


def _hosted(said: Said, name: str) -> bool:
    """Return True for a provider's own tool, offered by type (`web_search_20250305`)."""
    return any(
        name in one or one.partition("_20")[0] in name
        for one in said.call.tools
        if one not in said.call.schemas
    )


@rule("bad-arguments", severity="error")
def bad_arguments(case: Case) -> Iterator[RuleFinding]:
    """Arguments that fail the schema of the tool that they are for."""
    for said in case.said:
        for call in said.answer.calls if said.answer is not None else ():
            schema = said.call.schemas.get(call.name)
            if schema is None:
                continue
            args = call.args if call.args not in (None, "") else {}
            if problem := fault(plain(args), schema):
                yield RuleFinding(
                    said.step,
                    f"the arguments of {call.name} do not fit its schema: {problem}",
                    short(spelled_call(call.name, plain(args))),
                )


def fault(args: Any, schema: dict[str, Any]) -> str:
    """Return the fault of arguments in one sentence, or empty. An invalid schema finds none."""
    # Imported here, as it takes a tenth of a second, and is needed only for tools with schemas.
    with needing("analysis", "the rule bad-arguments"):
        jsonschema = importlib.import_module("jsonschema")
    try:
        validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)(
            schema
        )
        error = jsonschema.exceptions.best_match(validator.iter_errors(args))
    except Exception:
        return ""
    if error is None:
        return ""
    place = ".".join(str(part) for part in error.absolute_path)
    return short(f"{place}: {error.message}" if place else str(error.message))
