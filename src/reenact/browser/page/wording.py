"""Compare names of elements by their words, and recognise words with serious consequences.

Numbers, signs and currencies belong to a name: `Pay $10` is neither `Pay €10` nor `Pay $100`.
"""

from __future__ import annotations

import re
import unicodedata

from reenact.browser.page.synonyms import replaced

GRAVE = frozenset({
    "delete", "remove", "erase", "destroy", "discard", "cancel", "reset", "clear", "unsubscribe", "deactivate",
    "terminate", "wipe", "drop", "revoke", "uninstall", "logout", "pay", "buy", "purchase", "order", "checkout",
    "transfer", "send", "submit", "publish", "confirm", "block", "ban", "report", "archive", "close", "suspend",
    "refund", "charge", "withdraw", "approve", "reject", "decline", "merge", "signout", "payment", "forget",
    "disable", "expel", "evict", "purge", "void", "trash", "kick", "leave", "quit", "shutdown", "restart", "deploy",
    "löschen", "entfernen", "abbrechen", "verwerfen", "kaufen", "bezahlen", "senden", "abmelden", "kündigen",
    "supprimer", "effacer", "annuler", "retirer", "acheter", "payer", "envoyer",
    "eliminar", "borrar", "cancelar", "quitar", "comprar", "pagar", "enviar",
    "elimina", "cancella", "annulla", "rimuovi", "acquista", "paga", "invia", "verwijderen", "annuleren", "kopen",
})  # fmt: skip
"""Words with serious consequences: an element with one never replaces an element without it."""

OTHER = frozenset({
    "draft", "copy", "as", "new", "another", "later", "template", "all", "and", "next", "not", "without", "dont", "no",
    "un", "confirm", "repeat", "again", "retype", "verify", "old", "current", "previous", "other", "second",
    "alternative", "everywhere", "everything", "recovery", "backup", "permanently", "forever", "selected", "bulk",
    "each", "every", "entire", "also", "team", "account", "workspace", "devices", "sessions",
})  # fmt: skip
"""Words that turn a name into a different one: `Save`, and `Save as draft`."""

ANSWERS = frozenset({
    "ok", "okay", "yes", "no", "do", "go", "sure", "continue", "proceed", "apply", "accept", "agree", "allow",
    "ja", "nein", "weiter",
    "bestätigen", "fortfahren", "annehmen", "sí", "si", "aceptar", "continuar", "confirmar", "oui", "non", "continuer",
    "confirmer", "accepter", "valider", "conferma", "continua", "accetta", "nee", "doorgaan", "sim", "não", "tak",
    "nie",
})  # fmt: skip
"""Words that answer a question, which gives them their meaning."""

_PHRASES = re.compile(r"\b(?:sign|log) ?(?:out|off)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\(\s*(?:required|optional)\s*\)|\*|\b(?:required|optional)$", re.IGNORECASE)
_NUMBERED = re.compile(r"\(\s*(\d+)\+?\s*\)")
_COUNT = re.compile(r"^\s*\(\s*\d+\+?\s*\)|\(\s*\d+\+?\s*\)\s*$")
"""A count before or after a name, such as `Cart (3)`.

A count within a name belongs to it: `plan (1).pdf` is not `plan.pdf`.
"""

_TOKEN = re.compile(
    r"(?:(?<!\S)[-+\u2212](?=[.,]?\d))?[^\W_]+(?:(?<=\d)[.,](?=\d)[^\W_]+)*"
    r"(?:[+#]{1,2}(?![^\W_])|(?<=\b[A-Za-z])[-\u2212](?!\S))?"
    r"|[%$\u00a2-\u00a5\u20a0-\u20cf]"
)
"""A word; a number with its decimals and sign; a mark such as `A+` or `C#`; a currency."""

_TURNED = str.maketrans(
    "\u203a\u00bb>\u25b6\u276f\u2039\u00ab<\u25c0\u276e\u25b2\u25b3\u25bc\u25bd\u2212\u2013\u2795\u2796",
    "\u2192\u2192\u2192\u2192\u2192\u2190\u2190\u2190\u2190\u2190\u2191\u2191\u2193\u2193--+-",
)
"""Arrows and signs that look different and mean the same."""

_DASH = re.compile(r"^\s*[-\u2212\u2013\u2796](?!\S)|(?<!\S)[-\u2212\u2013\u2796]\s*$")


def tokens(text: str) -> list[str]:
    """Return a name's words in lower case and its numbers, without counts in brackets."""
    return spoken(_COUNT.sub(" ", _ASIDE.sub(" ", text)))


def key_tokens(text: str) -> list[str]:
    """Return the words of a record's key, with numbers in brackets: `File (2)` is not `File`."""
    pieces = _NUMBERED.split(_ASIDE.sub(" ", text))
    return [word for at, one in enumerate(pieces) for word in ([f"({one})"] if at % 2 else spoken(one))]


def spoken(text: str) -> list[str]:
    """Return the words of a text in lower case, with its numbers and currencies."""
    return [one.replace("\u2212", "-").lower() for one in _TOKEN.findall(text)]


def coded(text: str) -> bool:
    """Return True for a name without spaces but with signs, as of a file, a host or a version."""
    return bool(_CODED.fullmatch(text.strip()))


def same_key(one: str, other: str) -> bool:
    """Return True if two texts name the same record.

    In names such as `a_1.txt`, each sign and the case count.
    """
    if coded(one) or coded(other):
        return one.strip() == other.strip()
    return key_tokens(one) == key_tokens(other)


_CODED = re.compile(r"(?=.*[._/\\:-])[\w.+/\\:-]+")


REPLIES = frozenset({
    "yes", "no", "undo", "ja", "nein", "rückgängig", "sí", "si", "deshacer", "oui", "non", "annulla", "sim", "não",
})  # fmt: skip
"""Answers that mean nothing by themselves, in a dialog or outside of one."""


def answers(text: str, among: frozenset[str] = ANSWERS | REPLIES) -> bool:
    """Return True if a name answers a question: `OK`, `Yes, delete it`."""
    words = tokens(text)
    return bool(words) and words[0] in among


def signs(text: str) -> frozenset[str]:
    """Return the arrows, pictures and signs in a text: `Vote ▲` is not `Vote ▼`."""
    found = {one for one in text.translate(_TURNED) if unicodedata.category(one) in {"So", "Sm"}}
    return frozenset(found | ({"-"} if _DASH.search(text) else set()))


def signs_differ(one: str, other: str) -> bool:
    """Return True if both texts have signs, and different ones. One in only one is an ornament."""
    mine, its = signs(one), signs(other)
    return bool(mine and its) and mine != its


def same_name(one: str, other: str) -> bool:
    """Return True if two names are equal or synonyms. A longer name is another one."""
    mine, its = tokens(one), tokens(other)
    if not mine or not its:
        return one.split() == other.split()
    if signs_differ(one, other):
        return False
    return mine == its or _joined(mine) == _joined(its) or replaced(" ".join(mine)) == replaced(" ".join(its))


def _joined(words: list[str]) -> str:
    """Join words, but keep adjacent numbers apart: `1 18` is not `11 8`."""
    return re.sub(r"(?<!\d) | (?!\d)", "", " ".join(words))


_FILLERS = frozenset({
    "a", "an", "the", "is", "are", "be", "do", "does", "has", "have", "need", "needs", "must", "should", "please",
})  # fmt: skip
"""Words that may change in a name; no prepositions, persons, times or negations."""


def reworded(one: str, other: str) -> bool:
    """Return True if two names differ only in fillers.

    `What needs to be done` and `What is to be done` are an example.
    """
    mine, its = ([word for word in spoken(text) if word not in _FILLERS] for text in (one, other))
    return len(mine) > 1 and mine == its and not signs_differ(one, other)


def says(text: str, words: str) -> bool:
    """Return True if a text contains the words as whole words, with equal digits."""
    mine, its = f" {' '.join(tokens(text))} ", " ".join(tokens(words))
    return bool(its) and f" {its} " in mine


def says_key(text: str, key: str) -> bool:
    """Return True if a text contains a record's key without a number in brackets after it."""
    mine, its = f" {' '.join(key_tokens(text))} ", " ".join(key_tokens(key))
    places = range(len(mine)) if its else ()
    return any(mine.startswith(f" {its} ", at) and mine[at + len(its) + 2 :][:1] != "(" for at in places)


def grave(text: str) -> set[str]:
    """Return the words of a text that have serious consequences."""
    found = set(tokens(text)) & GRAVE
    return found | ({"sign out"} if _PHRASES.search(text) else set())


def graver(shown: str, known: str) -> str:
    """Return the grave word of a text that has no counterpart in another text, or ""."""
    return min(grave(replaced(shown.lower())) - grave(replaced(known.lower())), default="")


def extends(words: str, name: str) -> bool:
    """Return True if a name adds to the words, as `Sign out everywhere` does to `Sign out`."""
    return says(name, words) and tokens(name) != tokens(words)
