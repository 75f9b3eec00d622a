"""Generate steps that have no memory, only words: the element that they name is there, or only one of a longer name.

The words are made from syllables, as those of `families.py`; a listener of the page's own is the judge.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from benchmarks.families import NOTE, TIMEOUT, Case, Draw, word, words

Step = dict[str, object]


def _step(selector: str) -> Step:
    return {"type": "click", "selector": selector, "timeout": TIMEOUT}


def _control(draw: Draw, k: str, inner: str, more: str = "") -> str:
    tag = draw.choice([
        "<button type=button data-k={k} {more}>{inner}</button>",
        "<a href='#' data-k={k} {more}>{inner}</a>",
        "<div role=button tabindex=0 data-k={k} {more}>{inner}</div>",
    ])  # fmt: skip
    return tag.format(k=k, inner=inner, more=more) + " "


def _named(draw: Draw, name: str) -> Step:
    """A step by a name, in one of the notations that match a part of a text."""
    quoted = json.dumps(name)
    return _step(
        draw.choice([f"text={name}", f"~{name}", f":is(button, a, [role=button]):has-text({quoted})"])
    )


def longer(draw: Draw) -> Case:
    """Only an element of a longer name is there."""
    name, *more = words(draw, draw.choice([2, 3]))
    said = [name, *more] if draw.random() < 0.7 else [*more, name.lower()]
    inner = " ".join(said) if draw.random() < 0.6 else " ".join(f"<span>{one}</span>" for one in said)
    return Case("longer name", "", _control(draw, "x", inner), _named(draw, name), None)


def parted(draw: Draw) -> Case:
    """The name is only a part of another word."""
    name = word(draw)
    other = name + word(draw, 1).lower() if draw.random() < 0.5 else word(draw, 1) + name.lower()
    return Case("part of a word", "", _control(draw, "x", other), _named(draw, name), None)


def ornamented(draw: Draw) -> Case:
    """The element is there, with a count, a key, a badge, a sign or a note."""
    name, number = word(draw), draw.randrange(2, 90)
    inner = draw.choice([
        f"{name} ({number})", f"{name} {number}", f"{name} &rarr;", f"&#9733; {name}",
        f"{name} <kbd>Ctrl+{name[0]}</kbd>",
        f"{name} <span class=badge>{number}</span>", f"{name} &middot; {number}.50 &euro;", f"{name}&hellip;",
        f"{name} <span class=sr-only>(opens in a new tab)</span>", name.upper(), f"{name} <svg width=9 height=9></svg>",
    ])  # fmt: skip
    return Case("ornament", "", _control(draw, "meant", inner), _named(draw, name), "meant")


def exact(draw: Draw) -> Case:
    """The element is there, beside others of longer names."""
    name, *more = words(draw, 4)
    made = [_control(draw, f"x{one}", f"{name} {one}") for one in more]
    made.insert(draw.randrange(4), _control(draw, "meant", name))
    return Case("exact name", "", "".join(made), _named(draw, name), "meant")


def record(draw: Draw) -> Case:
    """The record is there, or only others of which the names begin with its name."""
    kind, verb, other = words(draw, 3)
    number = draw.randrange(1, 90)
    key = draw.choice([f"{kind} {number}", kind])
    longer = [f"{key}{digit}" if key != kind else f"{kind}{word(draw, 1).lower()}" for digit in "40"]
    longer.append(f"{key}-{other.lower()}" if draw.random() < 0.5 else f"{key}{number}")
    there = draw.random() < 0.5
    rows = [(one, f"x{place}") for place, one in enumerate(longer)] + [(key, "meant")] * there
    if not there:
        rows = rows[:: draw.choice([1, 2])][: draw.choice([1, 3])]
    draw.shuffle(rows)
    tag = draw.choice(["li", "tr"])
    cell = "td" if tag == "tr" else "span"
    shown = "".join(
        f"<{tag}><{cell}>{one}</{cell}> <{cell}>{_control(draw, k, verb)}</{cell}></{tag}>" for one, k in rows
    )
    page = f"<table>{shown}</table>" if tag == "tr" else f"<ul>{shown}</ul>"
    step = _step(f"{tag}:has-text({json.dumps(key)}) >> text={verb}")
    return Case("record", "", page, step, "meant" if there else None)


def coded(draw: Draw) -> Case:
    """An id or test id has two words: the element shows both, one of them, or another one beside the first."""
    one, two, other = words(draw, 3)
    attribute = draw.choice(["id", "data-testid", "name"])
    value = draw.choice([f"{one}-{two}".lower(), f"{one}_{two}".lower(), one.lower() + two])
    shown = draw.choice([f"{one} {two}", one, f"{one} {other}", f"{one} {other}"])
    meant = None if other in shown else "meant"
    page = _control(draw, "meant", shown, f"{attribute}={value}")
    step = _step(f'[{attribute}="{value}"]')
    return Case("words of code", "", page, step, meant)


def labelled(draw: Draw) -> Case:
    """A label has the words of the selector, and the element shows others beside the first."""
    one, two, other = words(draw, 3)
    attribute = draw.choice(["aria-label", "title"])
    wrong = draw.random() < 0.5
    shown = f"{one} {other}" if wrong else draw.choice(["&times;", one, ""])
    page = _control(draw, "meant", shown or "<svg width=9 height=9></svg>", f"{attribute}='{one} {two}'")
    return Case("label", "", page, _step(f'[{attribute}="{one} {two}"]'), None if wrong else "meant")


FAMILIES: tuple[Callable[[Draw], Case], ...] = (longer, parted, ornamented, exact, record, coded, labelled)


def case_of(seed: int, number: int) -> Case:
    """The case of a number: the same for the same seed."""
    draw = random.Random(f"worded {seed} {number}")
    made = FAMILIES[number % len(FAMILIES)](draw)
    note = "<meta charset=utf-8>" + NOTE.replace("SENDS", "false")
    return Case(made.family, "", note + made.after, made.step, made.meant)
