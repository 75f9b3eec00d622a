"""Compare words of ids, values and addresses in a selector with an element's name.

Programmers choose such words, and they seldom are the name: `#checkout` is *Place order*. They contradict a name only
if both are about the same thing and say different things of it: `#pay-now` and *Pay later*.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from reenact.browser.page.name_additions import MUTE, bare
from reenact.browser.page.synonyms import replaced
from reenact.browser.page.wording import spoken

SCOPES = frozenset({
    "all", "everywhere", "everything", "permanently", "forever", "later", "not", "never", "dont", "without", "each",
    "every", "entire", "selected", "bulk", "again", "another", "recovery", "backup", "draft", "previous", "old",
    "anyway", "instead", "alle", "alles", "später", "nicht", "tout", "todos",
})  # fmt: skip
"""Words that change the meaning or the scope of a name."""
_TWICE = frozenset({"confirm", "repeat", "retype", "verify", "current"})
"""Words that distinguish a second field from the first."""
_UNDOING = frozenset({
    "cancel", "stop", "undo", "revoke", "reject", "decline", "disable", "delete", "remove", "abbrechen", "löschen",
    "annuler", "supprimer", "cancelar", "eliminar",
})  # fmt: skip
"""Verbs that undo what other verbs do."""

_SMALL = MUTE | {
    "and", "or", "to", "for", "of", "in", "on", "at", "by", "with", "from", "into", "via", "button", "link",
}  # fmt: skip
_MUTE = _SMALL | {
    "btn", "input", "field", "form", "icon", "box", "item", "items", "row", "cell", "list", "menu", "nav", "navbar",
    "sidebar", "header", "footer", "main", "page", "panel", "card", "modal", "dialog", "popup", "tab", "toolbar",
    "section", "content", "container", "wrapper", "wrap", "primary", "secondary", "default", "action", "actions",
    "control", "ctrl", "trigger", "toggle", "option", "choice", "select", "txt", "text", "lbl", "label", "chk",
    "checkbox", "radio", "submit", "cta", "new", "test", "app", "user", "name", "value", "data", "info", "details",
    "full", "more", "html", "php", "all", "left", "right", "top", "bottom", "small", "large", "choose",
}  # fmt: skip
"""Words for the kind or the place of an element, which do not identify it."""
_OF_FIELDS = _MUTE - {"card", "page"} | {"contact"}
"""The same for fields, which may be named after a bank card or a page."""
_VAGUE = (_MUTE | {"get", "go", "make", "do", "take", "let", "try", "have"}) - {"name"}
"""Words that do not show that two texts are about the same thing."""

_OPPOSITES = """
now later|on off|enable disable|start stop|start end|begin end|open close|accept reject|accept decline|allow deny
allow block|approve reject|approve decline|yes no|next previous|next back|add remove|add delete|show hide|lock unlock
follow unfollow|like unlike|like dislike|subscribe unsubscribe|in out|login logout|signup signin|signin signout
signup signout|connect disconnect|increase decrease|up down|left right|play pause|mute unmute|expand collapse
save discard|save delete
publish unpublish|archive unarchive|import export|upload download|undo redo|buy sell|deposit withdraw|send receive
join leave|first last|min max|minimum maximum|billing shipping|home work|all selected|new old|new current
confirm cancel|keep delete|keep discard|monthly yearly|monthly annual|daily weekly|weekly monthly|public private
light dark|encrypt decrypt|install uninstall|pin unpin|star unstar|activate deactivate|edit delete|view delete
rename delete|copy delete|download delete|share delete|archive delete|restore delete|print delete|open delete
move delete|refund charge|grant revoke|hire fire|arm disarm
"""
_PAIRS = [tuple(one.split()) for line in _OPPOSITES.strip().splitlines() for one in line.split("|")]

_SIGN = re.compile(r"\bsign (in|up|out)\b")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MOST = 200


def words_of_code(text: str) -> list[str]:
    """Return the words of a name in code: `payNow`, `pay_now` and `pay-now` have two."""
    return spoken(_CAMEL.sub(" ", text[:_MOST].replace("_", " ")))


_THINGS = """
email mail
phone telephone tel mobile cell telefon telefono teléfono téléphone handy
fax
password passwort kennwort contraseña senha
postcode zip plz postleitzahl cap cep
iban
cvv cvc
city town ort stadt ville ciudad
country land pays país
street straße strasse rue calle
firstname forename vorname prénom
lastname surname nachname
birthday birthdate dob geburtsdatum
company firma organisation organization employer
website homepage url
quantity qty menge
"""
"""Words for the content of a field; those in one line mean the same."""
_DEEDS = """
print drucken imprimer imprimir
share teilen partager compartir
upload hochladen
download herunterladen export
delete löschen
signup
signout
reply answer antworten
forward
rename umbenennen
archive archivieren
refresh reload
search suchen
pay
refund
"""
"""Words for the act of a button; those in one line may mean the same."""


def _heads(lines: str) -> dict[str, str]:
    return {word: line.split()[0] for line in lines.strip().splitlines() for word in line.split()}


_OF_THINGS, _OF_DEEDS = _heads(_THINGS), _heads(_DEEDS)


def contrary(code: str, name: str, *, field: bool = False) -> tuple[str, bool] | None:
    """Return the word of a name that contradicts words of code, and True if it certainly does."""
    raw = words_of_code(code), spoken(bare(name, code))
    mine, its = map(_normalised, raw)
    if not mine or not its or "".join(its) in "".join(mine):
        return None
    if number := _other_number(mine, its):
        return number, True
    if opposite := _opposite(mine, its):
        return opposite, True
    shared = _shared(mine, its)
    if not shared:
        meant, found = (_kinds(words, _OF_THINGS if field else _OF_DEEDS) for words in raw)
        if len(meant) == 1 and found and not meant.keys() & found.keys():
            return next(iter(found.values())), False
        if meant.keys() & found.keys():
            return None
        # Compare the words without synonyms: `phone` is replaced by *Phone number*, which would match `card-number`.
        mine, its = raw
        shared = _shared(mine, its)
    if not shared:
        return None
    turned = SCOPES | _TWICE if field else SCOPES
    if any(one[-1].isdigit() and not one.isdigit() for one in mine):
        # `password2` repeats `password1`.
        its = [one for one in its if one not in turned]
    if turning := _scope(mine, its, turned) or _undone(mine, its):
        return turning, True
    mute = _SMALL if " " in code.strip() else _OF_FIELDS if field else _MUTE
    another = _other_word(mine, its, shared, mute)
    return None if another is None else (another, False)


def _shared(mine: Sequence[str], its: Sequence[str]) -> list[str]:
    """Return the distinctive words of code that a name has, too."""
    return [word for word in mine if word not in _VAGUE and any(_same(word, one) for one in its)]


def _kinds(words: Sequence[str], heads: Mapping[str, str]) -> dict[str, str]:
    """Return the things or acts that words name, each with the word used for it."""
    pairs = (f"{one} {other}" for one, other in pairwise(words))
    named = ((one, one.replace(" ", "")) for one in (*pairs, *words))
    return {heads[joined]: one for one, joined in named if joined in heads}


def _opposite(mine: Sequence[str], its: Sequence[str]) -> str:
    """Return the word of a name whose opposite the code has."""
    both_ways = (tried for pair in _PAIRS for tried in (pair, pair[::-1]))
    fit = (
        other
        for one, other in both_ways
        if one in mine and other in its and other not in mine and one not in its
    )
    return next(fit, "")


def _scope(mine: Sequence[str], its: Sequence[str], turned: frozenset[str]) -> str:
    """Return the word of a name that changes its scope, if the code has none."""
    if set(mine) & SCOPES:
        return ""
    return next((one for one in its if one in turned and not any(_same(one, other) for other in mine)), "")


def _undone(mine: Sequence[str], its: Sequence[str]) -> str:
    """Return the verb of a name that undoes what the code does."""
    if set(mine) & _UNDOING or sum(one not in _VAGUE for one in mine) < 2:
        return ""
    return next((one for one in its if one in _UNDOING and one not in mine), "")


def _normalised(words: Sequence[str]) -> list[str]:
    return _SIGN.sub(r"sign\1", replaced(" ".join(words))).split()


def _same(one: str, other: str) -> bool:
    """Return True for two forms of a word: `invoice` and `invoices`, `address` and `addr`."""
    short, long = sorted((one, other), key=len)
    return (
        one == other
        or (len(short) >= 4 and long.startswith(short))
        or (len(short) >= 5 and short[:5] == long[:5])
    )


def _other_word(
    mine: Sequence[str], its: Sequence[str], shared: Sequence[str], mute: frozenset[str]
) -> str | None:
    """Return the word of a name next to a shared word, if the code has another one there."""
    for word in shared:
        at = list(mine).index(word)
        there = next(place for place, one in enumerate(its) if _same(word, one))
        for step in (1, -1):
            one, other = _next(mine, at, step, mute), _next(its, there, step, mute)
            if one and other and not _related(one, its) and not _related(other, mine):
                return other
    return None


def _next(words: Sequence[str], at: int, step: int, mute: frozenset[str]) -> str | None:
    """Return the next word on one side that is not mute."""
    side = words[at + 1 :] if step > 0 else words[:at][::-1]
    return next(
        (one for one in side if len(one) > 2 and one not in mute and not any(map(str.isdigit, one))), None
    )


def _related(word: str, among: Sequence[str]) -> bool:
    joined = "".join(among)
    return word in joined or any(_same(word, one) or (len(one) > 2 and one in word) for one in among)


def _other_number(mine: Sequence[str], its: Sequence[str]) -> str:
    """Return the number after a word of a name, if the code has another one."""
    for at, word in enumerate(mine[:-1]):
        number = mine[at + 1]
        if not number.isdigit() or number in its or word.isdigit():
            continue
        for place, one in enumerate(its[:-1]):
            if _same(word, one) and len(word) > 2 and its[place + 1].isdigit():
                return its[place + 1]
    return ""


def contrary_role(code: str, role: str) -> bool:
    """Return True if the last word of code names a role that the element cannot have."""
    last = next(iter(words_of_code(code)[-1:]), "")
    if last in {"btn", "button"}:
        return role in {"textbox", "searchbox", "spinbutton"}
    return last in {"input", "textbox", "textarea"} and role in {"button", "link"}


def slug_of(code: str) -> str:
    """Return a name in code without signs; empty if it is too short to be a name."""
    words = [one for one in words_of_code(code) if one not in _CONTROL]
    found = "".join(words)
    return found if len(found) >= 4 and not found.isdigit() else ""


_CONTROL = frozenset(
    {"btn", "button", "link", "input", "field", "icon", "submit", "txt", "lbl", "chk", "cta"}
)
