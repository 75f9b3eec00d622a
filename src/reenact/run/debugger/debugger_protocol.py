"""The protocol between the debugger and the program: one line of JSON a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import orjson

from reenact.core.model.divergence import Verdict, verdict_of, verdict_tree
from reenact.core.replay.watch import Edit
from reenact.errors import Departure, Divergence, Mismatch
from reenact.run.debugger.orders import Actual, Departed, Ended, ProgramPlace, Stopped, Until


def line(word: str, **what: Any) -> bytes:
    """Return one message as a line."""
    return orjson.dumps({"say": word, **what}, default=repr, option=orjson.OPT_NON_STR_KEYS) + b"\n"


def parsed(data: bytes) -> dict[str, Any]:
    """Parse the message of a line."""
    tree: dict[str, Any] = orjson.loads(data)
    return tree


# -- to the program ------------------------------------------------------------------------------------------


def go(until: Until, edits: Mapping[int, Edit], opened: frozenset[int]) -> bytes:
    """Tell the program to run on."""
    tree = {**asdict(until), "steps": sorted(until.steps)}
    return line("go", until=tree, edits={n: asdict(edit) for n, edit in edits.items()}, opened=sorted(opened))


def until_of(tree: Mapping[str, Any]) -> Until:
    """Parse the next stops."""
    place = tree["place"]
    return Until(
        ProgramPlace(**place) if place is not None else None,
        tree["next"],
        tree["beyond"],
        frozenset(tree["steps"]),
        tuple(tree["filters"]),
        tuple(tree["states"]),
    )


def edits_of(tree: Mapping[str, Any]) -> dict[int, Edit]:
    """Parse the edited answers, by step."""
    return {
        int(step): Edit(
            edit["value"], None if edit["pieces"] is None else tuple(edit["pieces"]), edit["error"]
        )
        for step, edit in tree.items()
    }


# -- from the program ----------------------------------------------------------------------------------------


def stopped(place: ProgramPlace, places: list[ProgramPlace], actual: Actual, why: str) -> bytes:
    """Report that the program has stopped at a question."""
    return line("stopped", place=_place(place), passed=_places(places), actual=asdict(actual), why=why)


def departed(
    place: ProgramPlace, places: list[ProgramPlace], actual: Actual, divergence: Divergence
) -> bytes:
    """Report that the program leaves its recording."""
    tree = {**asdict(divergence), "kind": divergence.kind.value}
    return line(
        "departed", place=_place(place), passed=_places(places), actual=asdict(actual), divergence=tree
    )


def ended(places: list[ProgramPlace], status: int | None, verdict: Verdict) -> bytes:
    """Report that the program has ended."""
    return line("ended", passed=_places(places), exit=status, verdict=verdict_tree(verdict))


def report_of(tree: Mapping[str, Any]) -> Stopped | Departed | Ended:
    """Parse a report of the program, for the machine."""
    passed = tuple(ProgramPlace(*place) for place in tree["passed"])
    if tree["say"] == "ended":
        return Ended(passed, tree["exit"], verdict_of(tree["verdict"]))
    place = ProgramPlace(*tree["place"])
    known = tree["actual"]
    actual = Actual(known["label"], known["address"], known["args"], tuple(known["stack"]), known["state"])
    if tree["say"] == "stopped":
        return Stopped(place, passed, actual, tree["why"])
    return Departed(_divergence(tree["divergence"]), place, passed, actual)


def _divergence(tree: Mapping[str, Any]) -> Divergence:
    mismatches = tuple(Mismatch(**item) for item in tree["mismatches"])
    return Divergence(
        Departure(tree["kind"]), tree["address"], tree["step"], mismatches, tree["detail"], tree["hint"]
    )


def _place(place: ProgramPlace) -> tuple[int, int]:
    return place.step, place.extra


def _places(places: list[ProgramPlace]) -> list[tuple[int, int]]:
    return [(place.step, place.extra) for place in places]
