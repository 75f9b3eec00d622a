"""What answers give away by their words: made-up data, and work that was announced or claimed but not done."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reenact.analyze.anomalies.case import Case, short
from reenact.analyze.anomalies.registry import Found, rule

_ASSUMES = re.compile(
    r"""\b(?:(?:let'?s|let\ us|we(?:'ll|\ will|\ can)?|i(?:'ll|\ will|\ can)?|to)\ (?:now\ )?(?:assume|suppose|pretend|simulate|mock|approximate)
    | assum(?:e|ing|ed|ption)\b
    | hypothetical(?:ly)? | placeholder | dummy | made-?up | fictional | simulated? | mock(?:ed)?\ (?:data|up|values?)
    | (?:example|sample|illustrative)\ (?:data|values?|numbers?|figures?|results?)
    | for\ (?:the\ sake\ of|demonstration|illustration) | (?:general|prior|common)\ knowledge | i\ recall | from\ memory
    | your_api_key | path[/_]to[/_] | replace\ .{0,20}with\ (?:the\ )?(?:actual|your|real)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_REJECTS = re.compile(
    r"""\b(?:not\ (?:yet\ )?(?:been\ )?(?:found|provided|retrieved|obtained|identified|satisfied|successful|available|correct)
    | did\ not\ (?:provide|return|yield|find|contain|bring|execute|produce) | didn'?t\ (?:provide|return|find|work)
    | (?:no|without)\ (?:progress|success|result|relevant|useful) | incorrect | wrong | mistake | unable\ to | failed\ to
    | still\ need | there\ (?:seems\ to\ be|was|is)\ an?\ (?:issue|error|problem)
    | there\ is\ no\ code | no\ code\ block)""",
    re.IGNORECASE | re.VERBOSE,
)
_DONE = re.compile(
    r"\b(?:(?:i|we)(?:'ve| have)? (?:already |just |now |also )?(?:verified|confirmed|checked|reviewed|searched|looked up"
    r"|visited|browsed|accessed|examined|analy[sz]ed|retrieved|obtained|extracted|tested|cross-checked|watched|read)"
    r"|(?:has|have) been (?:verified|confirmed|checked|cross-checked|validated)"
    r"|(?:after|upon) (?:reviewing|checking|verifying|analy[sz]ing|examining|searching)"
    r"|based on (?:my|the|our) (?:search|review|analysis|verification|research|available))",
    re.IGNORECASE,
)


@rule("assumption", severity="warning")
def assumption(case: Case) -> Iterator[Found]:
    """An answer that goes on with assumed, simulated or placeholder data."""
    for said in case.answers:
        if match := _ASSUMES.search(said.text):
            around = said.text[max(0, match.start() - 60) : match.end() + 80]
            yield Found(said.step, f"the answer works with '{short(match[0], 40)}'", short(around))


@rule("claimed-check", severity="warning")
def claimed_check(case: Case) -> Iterator[Found]:
    """An answer that says it looked something up or verified it, with no tool used since anybody spoke before."""
    used = {use.step for use in case.uses}
    before = 0
    for said in case.answers:
        if (match := _DONE.search(said.text)) and not any(before < step < said.step for step in used):
            around = said.text[max(0, match.start() - 40) : match.end() + 80]
            yield Found(said.step, f"the answer says '{match[0]}', but nothing was looked up for it", short(around))
        before = said.step


@rule("rejected", severity="info", on=True)
def rejected(case: Case) -> Iterator[Found]:
    """What an agent brought, and the next one says is not what was wanted. The step is the first one's."""
    said = case.said
    for one, next_ in zip(said, said[1:], strict=False):
        if one.agent != next_.agent and (match := _REJECTS.search(next_.text)):
            around = next_.text[max(0, match.start() - 60) : match.end() + 80]
            yield Found(one.step, f"the answer of step {next_.step} is not content with it", short(around), (next_.step,))
