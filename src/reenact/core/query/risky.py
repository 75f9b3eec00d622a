"""The risky effects: a snapshot of the tracked state is taken before each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.core.query.filter import Filter

EVERY = 5
"""The default number of steps between snapshots."""

_KNOWN_BEFORE = {"kind", "label", "model", "scope", "step", "text"}
"""The filter fields, besides `args.`, that are known before an effect goes out."""


def risky_filter(text: str) -> Filter | None:
    """Return the filter of risky effects; None for an empty text.

    Raises FilterError, or UsageError if it asks for a field that is known only after the answer.
    """
    if not text.strip():
        return None
    # The filter language, which few recordings need.
    from reenact.core.query.filter import Filter  # noqa: PLC0415
    from reenact.core.query.grammar import terms  # noqa: PLC0415

    found = Filter(text)
    for term in terms(found.node):
        if term.field not in _KNOWN_BEFORE and term.field.partition(".")[0] != "args":
            raise UsageError(
                f"risky={text!r} asks for {term.field!r}, which is not known before the effect goes out; "
                f"it may ask for {', '.join(sorted(_KNOWN_BEFORE))} and args.…"
            )
    return found
