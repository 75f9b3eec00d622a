"""Choose the selectors that a patch writes: they state all that the old one states."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reenact.browser.heal.heal_record import HealRecord
from reenact.browser.heal.source import UnchangeableSelector
from reenact.browser.page.selector_words import texts_of
from reenact.browser.page.wording import says

_WORDS = ("role", "playwright", "text", "record")
_STRUCTURE = ("test_id", "css")
_BY_PLACE = re.compile(r":nth-|>|^(css=)?[\w-]+$")
"""A CSS selector that names only a position: the next change of the page breaks it."""


@dataclass(frozen=True)
class PatchTrial:
    """The result of trying a patch's selectors.

    Attributes:
        fit: By kind, the selectors that found the step's element or nothing; some are narrower than the offered ones.
        told: The pages and variants of the trial, in words; or the reason that there was none.
        refused: The reason that none fits, or empty.
    """

    fit: Mapping[str, str]
    told: str
    refused: str = ""


def learned(heal: HealRecord, trial: PatchTrial | None = None) -> str | dict[str, str]:
    """Return the selector to write for a heal: one of `offers` that passed its trial.

    Raises UnchangeableSelector if there is none.
    """
    fit = offers(heal) if trial is None else trial.fit
    if trial is not None and trial.refused:
        raise UnchangeableSelector(f"not changed: {trial.refused}")
    return fit[""] if "" in fit else replacement(fit)


def offers(heal: HealRecord) -> dict[str, str]:
    """Return the learned selectors that state everything that the old one states, by kind.

    The kind of a lone selector is "". If the old selector contains a text (`li:has-text('Invoice 18') >> text=Delete`),
    or the element belongs to a record, each new selector contains it, too. Raises UnchangeableSelector if none does.
    """
    assert heal.new is not None
    offered = {"": heal.new} if isinstance(heal.new, str) else heal.new
    words, context = texts_of(heal.old)
    record = (heal.after.get("fingerprint") or {}).get("record") or {}
    key = str(record.get("key") or "")
    bound = [*context, *([key] if key and not any(says(key, one) for one in context) else [])]
    if not words and not bound:
        return _chosen(offered)
    fit = {}
    for kind, text in offered.items():
        by_words = kind in _WORDS or bool(texts_of(text)[0])
        if not by_words:
            # A developer's name for the element says more than a position, and less than a text of the script.
            if not words and not context and kind in _STRUCTURE and not _BY_PLACE.search(text):
                fit[kind] = text
            continue
        scoped = _scoped(text, [one for one in bound if not says(text, one)], str(record.get("tag") or ""))
        if scoped is not None:
            fit[kind] = scoped
    if named := _by_record(heal.after.get("fingerprint") or {}, [*context, *([words] if words else [])]):
        fit["record"] = named
    if not fit:
        said = ", ".join(repr(one) for one in (*context, *([words] if words else []))) or repr(key)
        raise UnchangeableSelector(f"no learned selector says {said}, as the old one does")
    return _chosen(fit)


def _by_record(fingerprint: Mapping[str, Any], stated: Sequence[str]) -> str:
    """Return a selector by record, role and name, if these contain all stated texts; else ""."""
    record, role, name = (
        fingerprint.get("record") or {},
        fingerprint.get("role"),
        str(fingerprint.get("name") or ""),
    )
    key, tag = str(record.get("key") or ""), record.get("tag")
    if not (key and tag and name and role) or fingerprint.get("frames") or role == "generic":
        return ""
    if not all(says(key, one) or says(name, one) for one in stated):
        return ""
    return f"{tag}:has-text({_css_text(key)}) >> role={role}[name={_css_text(name)}]"


def _chosen(offered: Mapping[str, Any]) -> dict[str, str]:
    """Return those of several selectors that a patch would write."""
    if "" in offered:
        return {"": offered[""]}
    return {kind: text for kind, text in offered.items() if isinstance(text, str) and text}


def _scoped(text: str, missing: Sequence[str], tag: str) -> str | None:
    """Return a selector within the record that contains the missing texts, or None."""
    if not missing:
        return text
    if not tag or text.startswith(("frame=", "get_by", "page.", "locator(")):
        return None
    texts = "".join(f":has-text({_css_text(one)})" for one in missing)
    return f"{tag}{texts} >> {text.replace('~', 'text=', 1) if text.startswith('~') else text}"


def _css_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def replacement(new: str | Mapping[str, Any]) -> str | dict[str, str]:
    """Return the selector to write into a script.

    Of the durable selectors it takes one by words or role, and one by a developer's name (test id, CSS); if both exist,
    both in a dict. If an element has neither, it takes the first selector.
    """
    if isinstance(new, str):
        return new
    texts = {kind: text for kind, text in new.items() if isinstance(text, str) and text}
    words = next((kind for kind in _WORDS if kind in texts), None)
    structure = next(
        (
            kind
            for kind in _STRUCTURE
            if kind in texts and not (kind == "css" and _BY_PLACE.search(texts[kind]))
        ),
        None,
    )
    chosen = [kind for kind in (structure, words) if kind is not None] or list(texts)[:1]
    if not chosen:
        raise UnchangeableSelector("nothing is known by which to find its element again")
    if len(chosen) == 1:
        text = texts[chosen[0]]
        return _bare(text) if _bare(text).startswith(("#", "[", ".")) else text
    return {
        "role" if kind == "record" else kind: _bare(texts[kind]) if kind == "css" else texts[kind]
        for kind in chosen
    }


def _bare(text: str) -> str:
    return text.removeprefix("css=")
