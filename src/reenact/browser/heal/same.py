"""Which of a page's elements is the one that a step means, as far as that can be told; a wrong one is worse than none.

What decides, in this order: the element is of the right kind; what identifies it agrees (its name, or an id, a test id,
a field's name); nothing contradicts; it is alike enough, and no other one is nearly as alike that could be meant, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reenact.browser.page.consequence import plain
from reenact.browser.page.likeness import alike
from reenact.browser.page.wording import meaning, said_otherwise

CAP = 0.6
"""The score that an element needs."""
MARGIN = 0.12
"""By how much it must be ahead of every other one that could be meant."""
CAP_TWIN = 0.8
"""The score that one of several of the same name needs."""

_TEXTS = ("textbox", "searchbox", "spinbutton", "combobox")
_PRESSED = (
    "button", "link", "menuitem", "tab", "option", "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio",
    "treeitem", "summary",
)  # fmt: skip
_ROLES = {
    "fill": _TEXTS,
    "fallback_fill": _TEXTS,
    "check": ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "option"),
    "select_dropdown_option": ("combobox", "listbox"),
}
_GRAVE = frozenset({
    "delete", "remove", "erase", "destroy", "discard", "cancel", "reset", "clear", "unsubscribe", "deactivate",
    "terminate", "wipe", "drop", "revoke", "uninstall", "logout", "pay", "buy", "purchase", "order", "checkout",
    "transfer", "send", "submit", "publish", "confirm", "block", "ban", "report",
    "löschen", "entfernen", "abbrechen", "verwerfen", "kaufen", "bezahlen", "senden", "abmelden", "kündigen",
    "supprimer", "effacer", "annuler", "retirer", "acheter", "payer", "envoyer",
    "eliminar", "borrar", "cancelar", "quitar", "comprar", "pagar", "enviar",
    "elimina", "cancella", "annulla", "rimuovi", "acquista", "paga", "invia", "verwijderen", "annuleren", "kopen",
})  # fmt: skip
"""Words of what is not to be pressed in the place of something else."""
_OTHER = frozenset({
    "draft", "copy", "as", "new", "another", "later", "template", "all", "and", "next", "not", "without", "dont", "no",
    "un", "confirm", "repeat", "again", "retype", "verify", "old", "current", "previous", "other", "second",
    "alternative",
})  # fmt: skip
"""Words that make of a name the name of something else: `Save`, and `Save as draft`."""
_MARKS = ("test_id", "id", "field", "href")

_BESIDE = 10
"""By how many pixels the last one of several equal ones may stand elsewhere."""

_PIXELS = 3
"""By how much an element may stand elsewhere and still be in its place."""


@dataclass(frozen=True)
class Choice:
    """An element that was chosen, or why none was.

    Attributes:
        place: Its place among the candidates, or None.
        score: How alike it is; `margin` by how much it is ahead.
        why: In a few words, what decided.
    """

    place: int | None
    score: float
    margin: float
    why: str


def choose(
    wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], action: str, *, twin: bool = False
) -> Choice:
    """The element that is meant.

    Args:
        wanted: The sought element's fingerprint.
        found: Candidates: `score`, `fingerprint`, best first.
        action: The action's type.
        twin: Whether there were others of the same name where it was seen.
    """
    fit = [place for place, one in enumerate(found) if kind(wanted, one["fingerprint"], action)]
    meant = [place for place in fit if _meant(wanted, found[place]["fingerprint"])]
    if not meant:
        return Choice(None, 0.0, 0.0, "nothing there has its name, or anything else that identifies it")
    if (there := _unnamed(wanted, found, meant)) is not None:
        return there
    # What identifies an element decides before how alike it is: `Password` is not `Confirm password`.
    meant.sort(key=lambda place: (_rank(wanted, found[place]["fingerprint"]), -float(found[place]["score"])))
    alone = _sole_twin(wanted, found, meant) if twin else None
    best = meant[0] if alone is None else alone
    told = found[best]["fingerprint"]
    score = float(found[best]["score"])
    rivals = [] if alone is not None else _rivals(wanted, found, meant)
    margin = round(score - max(float(found[place]["score"]) for place in rivals), 4) if rivals else 1.0
    against = refused(wanted, told)
    against = against or _weak(wanted, told, score, margin, twin=twin and alone is None)
    against = against or _overtaken(wanted, found, best, fit)
    if against:
        return Choice(None, score, margin, against)
    agreed = ", ".join(marks(wanted, told)) or "no mark"
    return Choice(best, score, margin, f"{named(wanted, told)} name, {agreed} the same")


def _rank(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> int:
    """By what an element is known to be the sought one, the best first: name and mark, one of them, neither."""
    return 2 - (named(wanted, told) == "same") - bool(_strong(wanted, told))


def _rivals(wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], meant: Sequence[int]) -> list[int]:
    """The others that could be meant as well as the first: those that less speaks for, or something against, cannot."""
    told = found[meant[0]]["fingerprint"]
    rank = _rank(wanted, told)
    others = [(place, found[place]["fingerprint"]) for place in meant[1:]]
    return [
        place
        for place, other in others
        if not _nested(told, other) and not refused(wanted, other) and (rank == 2 or _rank(wanted, other) < 2)
    ]


def _overtaken(
    wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], best: int, fit: Sequence[int]
) -> str:
    """Whether another one is more alike, and this one is not known well enough to be taken all the same."""
    told = found[best]["fingerprint"]
    more = [
        place
        for place in fit
        if float(found[place]["score"]) > float(found[best]["score"])
        and not _nested(told, found[place]["fingerprint"])
    ]
    if not more or _strong(wanted, told) or (named(wanted, told) == "same" and _same_place(wanted, told)):
        return ""
    return "another one is more alike"


def _sole_twin(
    wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], meant: Sequence[int]
) -> int | None:
    """Of several of the same name, the one among the very texts among which it stood, if the others are not."""
    twins = [place for place in meant if named(wanted, found[place]["fingerprint"]) == "same"]
    here = [place for place in twins if _among(wanted, found[place]["fingerprint"])]
    if len(here) != 1:
        return None
    told = found[here[0]]["fingerprint"]
    others = [place for place in twins if place != here[0] and not _nested(told, found[place]["fingerprint"])]
    # Where no other one is left, its texts tell it from nothing: then it must stand where it stood.
    return here[0] if others or _apart(wanted, told) <= _BESIDE else None


def _among(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Whether it stands among all the texts among which that one stood, under the same heading."""
    near = wanted.get("near") or []
    return (
        bool(near)
        and set(near) <= set(told.get("near") or [])
        and wanted.get("heading") == told.get("heading")
    )


def _apart(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> float:
    """By how many pixels it stands elsewhere, or is larger or smaller."""
    box, its = wanted.get("box"), told.get("box")
    if not box or not its:
        return float("inf")
    return max(abs(float(one) - float(other)) for one, other in zip(box, its, strict=True))


def _unnamed(
    wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], meant: Sequence[int]
) -> Choice | None:
    """What has no name and no mark that is the same is known by its place: the only one that stands exactly there."""
    if _names(wanted) or any(_strong(wanted, found[place]["fingerprint"]) for place in meant):
        return None
    there = [place for place in meant if _in_place(wanted, found[place]["fingerprint"])]
    others = [
        place
        for place in there[1:]
        if not _nested(found[there[0]]["fingerprint"], found[place]["fingerprint"])
    ]
    if not there or others or refused(wanted, found[there[0]]["fingerprint"]):
        return None
    score = float(found[there[0]]["score"])
    if score < CAP:
        return None
    return Choice(there[0], score, 1.0, "no name, and the only one in its place among the same texts")


def _in_place(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Whether it stands to the pixel where that one stood, under the same heading, among the same texts."""
    near = wanted.get("near")
    if not near or list(near) != list(told.get("near") or []):
        return False
    if wanted.get("tag") != told.get("tag") or wanted.get("heading") != told.get("heading"):
        return False
    return _apart(wanted, told) <= _PIXELS


def _meant(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Whether anything says that the element is the sought one, more than that it looks like it."""
    return named(wanted, told) != "other" or bool(marks(wanted, told))


def _strong(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> list[str]:
    """What identifies it on its page and is the same. (Several links lead to the same address.)"""
    return [name for name in marks(wanted, told) if name != "href"]


def kind(wanted: Mapping[str, Any], told: Mapping[str, Any], action: str) -> bool:
    """Whether an element can be meant at all: what the action does can be done with it, and it is of the same kind."""
    role, was = str(told.get("role")), str(wanted.get("role") or "")
    if not told.get("visible", True) or bool(told.get("secret")) != bool(
        wanted.get("secret", told.get("secret"))
    ):
        return False
    if action in _ROLES:
        if role not in _ROLES[action]:
            return False
        if action == "check":
            return was in {"", role}
        return not was or was in _ROLES[action]
    if not was or was == role:
        return True
    # A link that became a button is the same to who presses it; a field never is.
    return was in _PRESSED[:2] and role in _PRESSED[:2]


def named(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """How the two are called: `same`, `near`, `other`, or `no` where the sought one has no name."""
    mine, its = _names(wanted), _names(told)
    if not mine:
        return _captioned(wanted, told, its)
    if mine & its:
        return "same"
    close = any(_near(one, other) for one in mine for other in its)
    return "near" if close else "other"


def _captioned(wanted: Mapping[str, Any], told: Mapping[str, Any], names: set[str]) -> str:
    """How two fields are called of which the first has but the text that stands before it: `same`, `other` or `no`."""
    mine, its = str(wanted.get("caption") or ""), str(told.get("caption") or "")
    if not mine:
        return "no"
    if " ".join(_tokens(mine)) in {*names, " ".join(_tokens(its))}:
        return "same"
    # A text in which only a part is another may be an instruction, which is another one in each run.
    return "other" if its and alike(mine, its) < 0.6 else "no"


def marks(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> list[str]:
    """What identifies and is the same: `test_id`, `id`, `field`, `href`."""
    mine, its = _marks(wanted), _marks(told)
    return [name for name in _MARKS if name in mine and mine.get(name) == its.get(name)]


def refused(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """What speaks against an element, however alike it is."""
    grave = (_words(told) & _GRAVE) - _words(wanted)
    if grave := {word for word in grave if not any(word in said_otherwise(name) for name in _names(wanted))}:
        return f"it says {min(grave)!r}, which the sought one did not"
    mine, its = _marks(wanted), _marks(told)
    if "choice" in mine and "choice" in its and mine["choice"] != its["choice"]:
        return "it is another choice of the same group"
    if not any(mine.get(name) == its.get(name) for name in ("test_id", "id") if name in mine):
        # edit-3 and edit-4: another one of a series, unless it stands where that one stood.
        series = [
            name for name in _MARKS
            if name in mine and name in its and mine[name] != its[name] and plain(mine[name]) == plain(its[name])
        ]  # fmt: skip
        if series and not _same_place(wanted, told):
            return f"its {series[0]} is another one's of the same series"
    return ""


def _weak(
    wanted: Mapping[str, Any], told: Mapping[str, Any], score: float, margin: float, *, twin: bool
) -> str:
    """Why what speaks for an element is not enough; nothing where it is."""
    how, strong = named(wanted, told), _strong(wanted, told)
    cap, need = CAP, MARGIN
    if how == "same":
        if twin and not strong:
            cap = CAP_TWIN
            if not _same_place(wanted, told):
                return "there were others of its name, and it stands elsewhere"
        elif strong or (not twin and margin >= 0.2):
            cap, need = 0.45, 0.08
    elif strong:
        if how == "other":
            cap, need = 0.5, 0.15
            if wanted.get("role") != told.get("role"):
                return "it has another name and another role"
    elif how == "near":
        need = 0.15
        extra = _words(told) ^ _words(wanted)
        if extra & _OTHER:
            return f"its name differs by {min(extra & _OTHER)!r}"
        if not _same_place(wanted, told):
            return "its name is another, and it stands elsewhere"
    elif how == "no":
        near, its = wanted.get("near") or [], told.get("near") or []
        if near and near[:1] != its[:1]:
            return "it has no name, and another text stands beside it"
        if told.get("role") not in _TEXTS:
            # An icon is like any other icon; where one alone stands in its place, that was found before.
            return "it has no name, and does not stand in its place"
        # The only one of its kind among the same texts may differ in more than one of several.
        alone = margin >= 0.3 and _same_place(wanted, told)
        cap, need = (CAP, 0.3) if alone else (0.75, 0.15)
    else:
        return "neither its name nor anything that identifies it is the same"
    if score < cap:
        return f"it is not alike enough: {score:.2f}, and {cap:.2f} is needed"
    if margin < need:
        return f"another one is nearly as alike: {margin:.2f} apart, and {need:.2f} is needed"
    return ""


def _names(told: Mapping[str, Any]) -> set[str]:
    attributes = told.get("attributes") or {}
    texts = [told.get(name) for name in ("name", "text", "label", "shown")]
    texts += [attributes.get(name) for name in ("placeholder", "aria-label", "title", "alt")]
    return {" ".join(_tokens(str(text))) for text in texts if text and _tokens(str(text))}


def _tokens(text: str) -> list[str]:
    return re.sub(r"[\W_]+", " ", text).lower().split()


def _words(told: Mapping[str, Any]) -> set[str]:
    return {word for name in _names(told) for word in name.split()}


def _near(one: str, other: str) -> bool:
    mine, its = set(one.split()), set(other.split())
    if meaning(one) == meaning(other):
        return True
    return bool(mine and its) and (mine < its or its < mine or alike(one, other) >= 0.8)


def _marks(told: Mapping[str, Any]) -> dict[str, str]:
    attributes = told.get("attributes") or {}
    test_id = next(
        (attributes[name] for name in ("data-testid", "data-test-id", "data-test") if name in attributes),
        None,
    )
    found = {
        "test_id": test_id,
        "id": attributes.get("id"),
        "field": attributes.get("name"),
        "href": attributes.get("href"),
    }
    if attributes.get("type") in {"radio", "checkbox"} and attributes.get("name") and attributes.get("value"):
        # All of a group are called the same: which of them it is, its value says.
        found["field"] = found["choice"] = f"{attributes['name']}={attributes['value']}"
    return {name: str(value) for name, value in found.items() if value}


def _same_place(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Whether it stands among the same texts, under the same heading."""
    near, its = wanted.get("near") or [], told.get("near") or []
    heading = wanted.get("heading")
    if heading and alike(str(heading), str(told.get("heading") or "")) < 0.8:
        return False
    if near:
        return str(near[0]) in {str(one) for one in its} or len(set(near) & set(its)) * 2 >= len(near)
    return bool(heading) or wanted.get("path") == told.get("path")


def _nested(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether one element is within the other: who presses either presses both."""
    if one.get("frames") != other.get("frames"):
        return False
    mine, its = f"{one.get('path')}/", f"{other.get('path')}/"
    return mine.startswith(its) or its.startswith(mine)
