"""Synonyms on pages: `Log in` and `Sign in` are the same.

They are words with the same meaning everywhere. Words that could mean two things on one page (`Cancel` and `Close`,
`Buy` and `Order`) stay distinct.
"""

from __future__ import annotations

import re
from functools import lru_cache

_GROUPS = """
    sign in|log in|login|signin|log on
    sign out|log out|logout|signout|log off
    sign up|signup|register|create account|create an account
    submit|send
    search|find
    continue|proceed|go on
    add to cart|add to basket|add to bag
    cart|basket|shopping cart|shopping basket|shopping bag
    checkout|check out|proceed to checkout|go to checkout
    place order|order now
    delete|remove
    edit|change|modify
    reply|answer
    username|user name|user id
    password|pass word
    email|e mail|email address|e mail address
    phone|phone number|telephone|telephone number
    first name|given name|forename
    last name|surname|family name
    postcode|post code|postal code|zip|zip code
    settings|preferences
    back|previous
    ok|okay
    anmelden|einloggen|login
    abmelden|ausloggen|logout
    registrieren|konto anlegen|konto erstellen
    absenden|senden|abschicken
    suchen|suche|finden
    weiter|fortfahren
    löschen|entfernen
    in den warenkorb|zum warenkorb hinzufügen
    zur kasse|zur kasse gehen
    bearbeiten|ändern
    vorname|rufname
    nachname|familienname
    se connecter|connexion|s identifier
    envoyer|soumettre
    supprimer|effacer
    chercher|rechercher
    iniciar sesión|entrar|acceder
    enviar|mandar
    eliminar|borrar|quitar
"""


def _groups() -> list[list[str]]:
    return [line.strip().split("|") for line in _GROUPS.strip().splitlines()]


_HEADS = {phrase: phrases[0] for phrases in reversed(_groups()) for phrase in phrases}
_PHRASE = re.compile(
    r"(?<!\S)(?:" + "|".join(sorted(map(re.escape, _HEADS), key=len, reverse=True)) + r")(?!\S)"
)


@lru_cache(maxsize=4096)
def meaning(text: str) -> str:
    """Return a text with synonyms replaced by one word, in lower case, without punctuation.

    Two texts with the same result mean the same.
    """
    return replaced(" ".join(re.sub(r"[\W_]+", " ", text).lower().split()))


def replaced(words: str) -> str:
    """Return words in lower case, one space apart, with synonyms replaced by one word."""
    return _PHRASE.sub(lambda found: _HEADS[found[0]], words)


def said_otherwise(text: str) -> frozenset[str]:
    """Return all words of a text and of its synonyms."""
    plain = " ".join(re.sub(r"[\W_]+", " ", text).lower().split())
    heads = {_HEADS[found[0]] for found in _PHRASE.finditer(plain)}
    others = {word for phrase, head in _HEADS.items() if head in heads for word in phrase.split()}
    return frozenset(plain.split()) | others
