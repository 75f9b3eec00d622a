"""Pair the steps of two sessions, and find the point where they diverge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reenact.analysis.diff import Diff, Difference, Pair, Parting
from reenact.analysis.views.text import cut, visible
from reenact.browser.watch.film import FilmStep
from reenact.core.model.plain import compact
from reenact.errors import ABSENT

_MOST = 40
_LONGEST = 3000
_SHOWN = tuple(
    f"output.{name}" for name in ("action", "why", "error", "selectors", "fingerprint", "box", "actor", "tab")
)


def pairs(found: Diff, sides: Sequence[Sequence[FilmStep]]) -> dict[str, Any]:
    """Pair the rows of two sides; a step without a row in the page is left out.

    Args:
        found: The comparison of the two recordings.
        sides: The rows of each.
    """
    places = [{row.n: place for place, row in enumerate(rows) if row.n} for rows in sides]
    joined: list[dict[str, Any]] = []
    parting: int | None = None
    begun = False
    for pair in found.pairs:
        a, b = (places[side].get(step.number) if step else None for side, step in enumerate((pair.a, pair.b)))
        begun = begun or (found.parting is not None and pair is found.parting.pair)
        if a is None and b is None:
            continue
        if begun and parting is None:
            # If the diverging step has no row in the page, the next row stands for it.
            parting = len(joined)
        joined.append({"a": a, "b": b, "kind": pair.kind.value, "differences": _differences(pair)})
    return {
        "pairs": joined,
        "parting": parting,
        "why": visible(found.parting.why) if found.parting is not None else "",
        "steps": _numbers(found.parting),
        "ending": [_row(item) for item in found.ending],
    }


def _numbers(parting: Parting | None) -> list[int | None]:
    steps = (parting.a, parting.b) if parting is not None else (None, None)
    return [step.number if step is not None else None for step in steps]


def _differences(pair: Pair) -> list[list[str | None]]:
    told = [_row(item) for item in _worth(pair.differences)]
    return told[:_MOST]


def _worth(differences: Iterable[Difference]) -> Iterable[Difference]:
    """Return the differences that the page does not show elsewhere in the step."""
    return (item for item in differences if not item.path.startswith(_SHOWN))


def _row(item: Difference) -> list[str | None]:
    """Return a difference's path and the value of each side, None where it is absent."""
    a, b = (None if side is ABSENT else visible(cut(compact(side), _LONGEST)) for side in (item.a, item.b))
    path = visible(item.path.removeprefix("output."))
    return [f"{path} ({item.who})" if item.who else path, a, b]
