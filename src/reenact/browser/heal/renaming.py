"""Choose an element that has been renamed; each choice needs more than likeness."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reenact.browser.heal.evidence import marks_of, named, reworded_field, words_in
from reenact.browser.heal.identity import ElementChoice, kind, refused
from reenact.browser.page.target import TargetIdentity
from reenact.browser.page.wording import OTHER, grave


def renamed(wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> ElementChoice:
    """Choose the element that differs only in its name, which has the same verb.

    That is no proof: its requests must be compared with those of good runs before they are sent.
    """
    mine = TargetIdentity.of(wanted)
    fit = [one["fingerprint"] for one in found if kind(wanted, one["fingerprint"], "click")]
    if not mine.name or any(named(wanted, candidate) in {"same", "near"} for candidate in fit):
        return ElementChoice(None, 0.0, 0.0, "one of its name is there")
    for place, one in enumerate(found):
        candidate = one["fingerprint"]
        its = TargetIdentity.of(candidate)
        same = all(wanted.get(part) == candidate.get(part) for part in _UNMOVED)
        verbs = grave(mine.name) & grave(its.name)
        if not same or not verbs or grave(its.name) - verbs or refused(wanted, candidate):
            continue
        if words_in(candidate) & OTHER - words_in(wanted) or re.findall(r"\d+", its.name) != re.findall(
            r"\d+", mine.name
        ):
            continue
        return ElementChoice(place, float(one["score"]), 1.0, "only its name is another, with the same verb")
    return ElementChoice(None, 0.0, 0.0, "nothing there is the same but for its name")


def worded_otherwise(
    wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], action: str
) -> ElementChoice:
    """Choose the only field of the form, if its name is only reworded."""
    fit = [place for place, one in enumerate(found) if kind(wanted, one["fingerprint"], action)]
    there = [place for place in fit if reworded_field(wanted, found[place]["fingerprint"])]
    if len(there) != 1 or any(
        named(wanted, found[place]["fingerprint"]) in {"same", "near"} for place in fit
    ):
        return ElementChoice(None, 0.0, 0.0, "no field is the only one, with a name that says the same")
    candidate = found[there[0]]["fingerprint"]
    if objection := refused(wanted, candidate):
        return ElementChoice(None, 0.0, 0.0, objection)
    score = float(found[there[0]]["score"])
    return ElementChoice(there[0], score, 1.0, "the only field of its form, and its name says the same")


def leading(wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], led: str) -> ElementChoice:
    """Choose the only link, of any name, that leads where the step led in a good run."""
    href, leads = marks_of(wanted).get("href"), wanted.get("leads")
    if wanted.get("role") != "link" or not leads or href != led:
        return ElementChoice(None, 0.0, 0.0, "it was no link that named its address")
    there = [place for place, one in enumerate(found) if one["fingerprint"].get("leads") == leads]
    if len(there) != 1:
        return ElementChoice(None, 0.0, 0.0, f"{len(there) or 'no'} links lead to {href}")
    candidate = found[there[0]]["fingerprint"]
    if objection := refused(wanted, candidate):
        return ElementChoice(None, 0.0, 0.0, objection)
    return ElementChoice(there[0], float(found[there[0]]["score"]), 1.0, f"the only link to {href}")


_UNMOVED = ("tag", "role", "path", "frames", "classes", "siblings", "heading", "region", "near")
