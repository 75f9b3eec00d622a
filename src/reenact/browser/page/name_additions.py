"""Judge names that are longer than the words of a script: `Inbox (3)`, `Delete account`.

An added word means another object or scope, unless it is an ornament: a count, an amount, a key of the keyboard, a note
for screen readers, a word such as `your`. Ornaments are recognised by their form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reenact.browser.page.synonyms import replaced
from reenact.browser.page.wording import coded, grave, key_tokens, same_name, says_key, spoken

MUTE = frozenset({
    "your", "my", "our", "the", "a", "an", "please", "enter", "type", "here", "this", "it", "now", "changes", "one",
    "ihr", "ihre", "dein", "deine", "mein", "meine", "der", "die", "das", "bitte", "hier", "jetzt", "änderungen",
    "votre", "mon", "ma", "le", "la", "les", "ici", "su", "tu", "mi", "el", "los", "las", "aquí",
})  # fmt: skip
"""Words that name no other object."""

_UNITS = frozenset(
    {"eur", "usd", "gbp", "chf", "jpy", "cad", "aud", "inr", "cny", "sek", "nok", "dkk", "pln", "czk"}
)
_QUANTITY = re.compile(r"[-+]?\d[\d.,]*[kmb]?[+%]?|[%$\u00a2-\u00a5\u20a0-\u20cf]|\W+")

_COUNTED = (
    r"new|unread|items?|messages?|notifications?|results?|updates?|alerts?|pending|due|total|online|errors?|warnings?"
    r"|comments?|repl(?:y|ies)|votes?|likes?|files?|selected|open|neue?|ungelesene?|nouveaux?|nuevos?"
)
_KEY = (
    r"(?:[a-z0-9/,.?]|f\d{1,2}|esc|enter|return|del|delete|tab|space|backspace|home|end|up|down|left|right"
    r"|[\u21b5\u23ce\u232b\u2190-\u2193])"
)
_MAC = r"[\u2318\u2325\u21e7\u2303]"
_NOTE = (
    r"opens? (?:in )?(?:an? |the )?(?:new |separate |external |other )*(?:window|tab|page|site)"
    r"|external(?: link| site)?"
)
_STATE = r"new (?:window|tab)|current(?: page)?|active|required|optional|loading|expanded|collapsed|link|button|menu"
_ORNAMENTS = tuple(
    re.compile(one, re.IGNORECASE)
    for one in (
        rf"[(\[]?(?:{_MAC}\s*\+?\s*)+{_KEY}?[)\]]?\s*$",
        rf"[(\[]?\b(?:(?:ctrl|control|cmd|command|alt|option|shift|meta|win)\s*[+-]\s*)+{_KEY}[)\]]?\s*$",
        r"[(\[](?-i:[a-z0-9/?]|[fF]\d{1,2}|[eE]sc|Enter|Return|Space|Tab|Del)[)\]]\s*$",
        r"\b(?:F\d{1,2}|(?-i:Esc))\s*$",
        rf"[(\[]\s*(?:{_NOTE}|{_STATE})\s*[)\]]|[,\u2013-]?\s+(?:opens? in an? (?:new|separate) (?:window|tab))\s*$",
        rf"[(\[]\s*\d[\d.,]*\+?(?:\s+(?:{_COUNTED})){{0,2}}\s*[)\]]",
        r"[(\[]\s*(?:[a-z]{2,4}[,\s]+)?[\d.,]+\s?[kmg]i?b\s*[)\]]",
    )
)
_PHRASE = re.compile(rf"[:,\u00b7|\u2013-]?\s*\d[\d.,]*\+?(?:\s+(?:{_COUNTED})){{1,2}}\s*$", re.IGNORECASE)
"""A count with the counted thing. After a grave word it is the object: `Delete 3 items`."""


def bare(name: str, words: str = "") -> str:
    """Return a name without ornaments, except those that the words have, too."""
    patterns = _ORNAMENTS if grave(words) else (*_ORNAMENTS, _PHRASE)
    for pattern in patterns:
        if not pattern.search(words):
            name = pattern.sub(" ", name)
    return " ".join(name.split())


def added(words: str, name: str) -> tuple[str, ...] | None:
    """Return the words that a name adds to given ones; None if it does not contain those.

    The result is empty for the same name. All words count as added if the given ones are only letters within others,
    as `Edit` in `Credit`.
    """
    if same_name(words, name):
        return ()
    rest = bare(name, words)
    if rest and same_name(words, rest):
        return ()
    its, all_of_them = spoken(words), spoken(rest)
    if not its:
        return () if words.strip() in name else None
    place = _place(its, all_of_them)
    if place is None:
        synonyms = spoken(replaced(" ".join(its))), spoken(replaced(" ".join(all_of_them)))
        place = _place(*synonyms)
        if place is None:
            return tuple(all_of_them) if _squeezed(words) in _squeezed(name) else None
        its, all_of_them = synonyms
    extra = [*all_of_them[:place], *all_of_them[place + len(its) :]]
    counted = any(any(map(str.isdigit, one)) for one in extra)
    return tuple(
        one for one in extra if not (one in MUTE or _QUANTITY.fullmatch(one) or (counted and one in _UNITS))
    )


def _place(some: Sequence[str], among: Sequence[str]) -> int | None:
    """Return the place of some words side by side among others, or None."""
    many = len(some)
    ends = range(len(among) - many + 1)
    return next((at for at in ends if list(among[at : at + many]) == list(some)), None)


def _squeezed(text: str) -> str:
    return " ".join(text.lower().split())


# -- records -----------------------------------------------------------------------------------------------------

_NAMED = re.compile(r"@|#\d+$|[^\W\d].*?\d+$|^\d{3,}$")
"""A text that names a record by a sign or a number, even as a part of a longer text."""
_OTHERS = frozenset({
    "copy", "draft", "old", "not", "no", "previous", "former", "archived", "deleted", "template", "backup", "without",
    "except", "kopie", "entwurf", "alt", "alte", "nicht", "ohne", "copie", "ancien", "copia", "antiguo",
})  # fmt: skip
"""Words before a record's name that make it another record."""
_ENDING = re.compile(r"^\.[A-Za-z]\w{1,3}(?![\w.])")
_APART = re.compile(r"[,;:|()\[\]\u00b7\u2022\u2013\u2014\n\d]| - ")


def names_record(text: str, said: str, beside: str = "") -> bool:
    """Return True if a text of a page names the same record as a selector.

    `Order 7, paid` names `Order 7`.

    Args:
        text: The selector's text.
        said: The page's text, which contains it.
        beside: The texts of other records: a word that they have, too, does not make another name (`Basic plan`,
            `Pro plan`).
    """
    if key_tokens(text) == key_tokens(said) and not (coded(text) and coded(said)):
        return True
    whole = r"(?<![^\W_])" + r"\s+".join(map(re.escape, text.split())) + r"(?![^\W_])"
    kinds = {*spoken(beside), *MUTE}
    for found in re.finditer(whole, said, re.IGNORECASE):
        before, after = said[: found.start()], said[found.end() :]
        if _glued(text, after) or set(spoken(_APART.split(before)[-1])) & _OTHERS:
            continue
        after = _ENDING.sub("", after)
        if _NAMED.search(text) or not set(spoken(_APART.split(after)[0])) - kinds:
            return True
    return False


def names_alone(key: str, said: str) -> bool:
    """Return True if a text names the record of a key, for a record without others beside it.

    `Fix 2` and `Kettle Pro` are other records than `Fix` and `Kettle`.
    """
    numbered = not key[-1:].isdigit() and re.search(re.escape(key) + r"\s+#?\d+\s*$", said, re.IGNORECASE)
    return says_key(said, key) and not numbered and names_record(key, said)


def _glued(text: str, after: str) -> bool:
    """Return True if a text continues without a space, as `prod-eu`, but not as `notes.txt`."""
    if re.match(r"\s*\(\d+\)", after):
        return bool(re.search(r"\d$|\.\w+$", text))
    ending = "." not in text and _ENDING.match(after)
    return bool(re.match(r"[-_./@\u2010\u2011][^\W_]", after)) and not ending
