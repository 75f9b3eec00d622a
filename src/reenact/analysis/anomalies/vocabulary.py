"""Search words in many texts, thousands of times while texts are still added."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"""[^\s"'(){}\[\]]+""")
_GRAM = 5


class Vocabulary:
    """The words of texts, for words without spaces, quotes and brackets; case counts.

    Each different word of the texts is kept once, with its substrings of five letters: a word with a substring that no
    text has is in no text. So the cost of a search does not grow with the texts.
    """

    def __init__(self) -> None:
        self._tokens: set[str] = set()
        self._grams: set[str] = set()
        self._blocks: list[str] = []
        """The tokens, in few blocks, each longer than the next, so that letters are seldom moved."""
        self._missing: set[str] = set()
        """Words that were searched, and are in no text so far."""

    def learn(self, text: str) -> None:
        """Add a text."""
        fresh = set(_TOKEN.findall(text)) - self._tokens
        if not fresh:
            return
        self._tokens |= fresh
        for token in fresh:
            self._grams.update(token[at : at + _GRAM] for at in range(len(token) - _GRAM + 1))
        block = "\n".join(fresh)
        while self._blocks and len(self._blocks[-1]) <= len(block):
            block = f"{self._blocks.pop()}\n{block}"
        self._blocks.append(block)
        self._missing.clear()

    def holds(self, word: str) -> bool:
        """Return True if a text contains a word, also as a part of a longer one."""
        if word in self._tokens:
            return True
        if word in self._missing:
            return False
        found = self._may(word) and self._stands(word)
        if not found:
            self._missing.add(word)
        return found

    def _may(self, word: str) -> bool:
        return all(word[at : at + _GRAM] in self._grams for at in range(len(word) - _GRAM + 1))

    def _stands(self, word: str) -> bool:
        return any(word in block for block in self._blocks)
