"""Words in answers: made-up data, and work that was announced or claimed but not done."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from reenact.analysis.anomalies.case import Case, Said, short
from reenact.analysis.anomalies.known import stated
from reenact.analysis.anomalies.registry import RuleFinding, rule

_ASSUMES = re.compile(
    r"""\b(?:(?:let'?s|let\ us|we(?:'ll|\ will|\ can)?|i(?:'ll|\ will|\ can)?|to)\ (?:now\ )?
        (?:assume|suppose|pretend|simulate|mock|approximate)
    | assum(?:e|ing|ed|ption)\b
    | hypothetical(?:ly)? | placeholder | dummy | made-?up | fictional | simulated?
    | mock(?:ed)?\ (?:data|up|values?) | (?:example|sample|illustrative)\ (?:data|values?|numbers?|figures?|results?)
    | for\ (?:the\ sake\ of|demonstration|illustration)
    | (?:general|prior|common)\ knowledge | i\ recall | from\ memory
    | your_api_key | path[/_]to[/_] | replace\ .{0,20}with\ (?:the\ )?(?:actual|your|real)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_STALLED = re.compile(
    r"""\b(?:we|i)(?:'re|\ are|'m|\ am|\ seem\ to\ be)\ (?:now\ )?
        (?:stuck|stalled|repeating|going\ (?:in|round\ in)\ circles|in\ a\ loop)
    | "is_in_loop":\s*\{[^}]{0,500}"answer":\s*true | "is_progress_being_made":\s*\{[^}]{0,500}"answer":\s*false
    | \A\s*stalled""",
    re.IGNORECASE | re.VERBOSE,
)
_DONE = re.compile(
    r"\b(?:(?:i|we)(?:'ve| have)? (?:already |just |now |also )?(?:verified|confirmed|checked|reviewed|searched"
    r"|looked up|visited|browsed|accessed|examined|analy[sz]ed|retrieved|obtained|extracted|tested|cross-checked"
    r"|watched|read)|(?:has|have) been (?:verified|confirmed|checked|cross-checked|validated)"
    r"|(?:after|upon) (?:reviewing|checking|verifying|analy[sz]ing|examining|searching)"
    r"|based on (?:my|the|our) (?:search|review|analysis|verification|research|available))",
    re.IGNORECASE,
)


@rule("assumption", severity="warning", weight=0.3)
def assumption(case: Case) -> Iterator[RuleFinding]:
    """An answer that goes on with assumed, simulated or placeholder data."""
    for said in case.answers:
        if match := _ASSUMES.search(said.text):
            around = said.text[max(0, match.start() - 60) : match.end() + 80]
            yield RuleFinding(said.step, f"the answer uses '{short(match[0], 40)}'", short(around))


@rule("claimed-check", severity="warning", on=False, weight=0.1)
def claimed_check(case: Case) -> Iterator[RuleFinding]:
    """An answer that claims a look-up or a check for which no tool was used.

    Among several agents, no tool since the one before spoke; otherwise none at all.
    """
    used = sorted({use.step for use in case.uses})
    if case.several and not used:
        # Agents whose tools were not recorded: their look-ups are unknown.
        return
    before = 0
    for said in case.answers:
        if (match := _DONE.search(said.text)) and not _between(used, before, said.step):
            around = said.text[max(0, match.start() - 40) : match.end() + 80]
            yield RuleFinding(
                said.step, f"the answer says '{match[0]}', but no tool had looked it up", short(around)
            )
        before = said.step if case.several else 0


def _between(steps: list[int], first: int, last: int) -> bool:
    """Return whether one of some steps, in order, is after the first and before the last."""
    place = bisect_right(steps, first)
    return place < len(steps) and steps[place] < last


@rule("stalled", severity="warning", weight=0.15)
def stalled(case: Case) -> Iterator[RuleFinding]:
    """An agent says that the work goes in circles. The step is what it says so of."""
    last: Said | None = None
    for said in case.said:
        if (match := _STALLED.search(said.text)) and last is not None:
            yield RuleFinding(
                last.step, f"step {said.step} reports no progress", short(match[0]), (said.step,)
            )
        if said.agent != case.leader or not case.leader:
            last = said


@rule("unfounded", severity="info", weight=0.35)
def unfounded(case: Case, *, least: int = 80) -> Iterator[RuleFinding]:
    """Among several agents, the first answer that asserts something while no tool had been used."""
    if not case.several:
        # One agent with one person: it greets, and asks back.
        return
    first = min((use.step for use in case.uses if not use.failed and use.text), default=1 << 60)
    for said in case.answers:
        if said.step > first:
            return
        if (
            said.to_tools
            or said.agent == case.leader
            or len(said.text) < least
            or said.text.rstrip(" *_`\n")[-1:] == "?"
        ):
            continue
        yield RuleFinding(said.step, "this is said before any tool was used", short(said.text))
        return


@rule("origin", severity="info", weight=0.25)
def origin(case: Case) -> Iterator[RuleFinding]:
    """Among several agents, the origin of the final answer.

    It is the first step with the same statements, or else the last result before it.
    """
    spoken = [said for said in case.answers if not _bare(said.text)]
    final = spoken[-1] if spoken else None
    if final is None or not case.several:
        return
    stating = stated(final.text)
    claims = {
        *stating.ids,
        *(text for text, _ in stating.amounts),
        *stating.names,
        *_QUOTED.findall(final.text),
    }
    task = " ".join(message.text for message in case.said[0].turn.new)
    claims = {claim for claim in claims if claim not in task}
    votes: dict[int, list[str]] = {}
    for claim in sorted(claims):
        first = next((said.step for said in spoken if claim in said.text), None)
        use = next((use for use in case.uses if claim in use.text), None)
        if use is not None and (first is None or use.step < first):
            first = use.asked or use.step
        if first is not None:
            votes.setdefault(first, []).append(claim)
    if votes:
        step = max(votes, key=lambda one: (len(votes[one]), -one))
        yield RuleFinding(
            step,
            "what the last answer states comes from here: said in this step, or found by a tool that it called",
            short(", ".join(votes[step])),
        )
        return
    brought = [said for said in spoken if said.agent != case.leader]
    if brought:
        yield RuleFinding(
            brought[-1].step, "the end rests on this, the last that was brought", short(brought[-1].text)
        )


_QUOTED = re.compile(r"\*\*([^*\n]{2,60})\*\*")


def _bare(text: str) -> bool:
    """Words that only end a conversation."""
    return len(text.strip()) < 40 and not any(letter.isdigit() for letter in text)
