"""Replacing: a token for each secret."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from reenact.redact.find import finder
from reenact.redact.fit import fit
from reenact.redact.known import Known
from reenact.redact.rules import SecretRules
from reenact.redact.shapes import TOKEN, label_of
from reenact.redact.text import Hit, plain

_MOST_TOKENS = 4096  # that are kept


class Replacer:
    """Finds and replaces, by some rules, and by the values it has learnt. Any thread may use it."""

    def __init__(self, rules: SecretRules, salt: bytes) -> None:
        self._salt = salt
        self._finder = finder(rules)
        self._find = self._finder.find
        self.names = self._finder.names
        self._values = set(rules.values)
        self._known = Known(rules.values)
        self._tokens: dict[str, str] = {}

    def learn(self, value: str) -> bool:
        """Look for this value from now on. False where that is done already."""
        if value in self._values:
            return False
        self._values.add(value)
        return True

    @property
    def known(self) -> Known:
        """The exact values: compiled when needed, not when learned, since they often come several at a time."""
        known = self._known
        if known.count != len(self._values):  # they never become fewer
            known = self._known = Known(frozenset(self._values))
        return known

    def token(self, value: str) -> str:
        value = value.strip()
        token = self._tokens.get(value)
        if token is None:
            digest = hmac.digest(self._salt, value.encode("utf-8", "surrogatepass"), "sha256").hex()[:8]
            token = f"[[secret:{label_of(value)}:{digest}]]"
            if len(self._tokens) < _MOST_TOKENS:
                self._tokens[value] = token
        return token

    def hits(self, data: bytes) -> list[Hit]:
        """The secrets in data in order, none overlapping, none touching a token that is there already."""
        hits = self._finder.find(data)
        if self._values:
            hits += self.known.find(data)
        return merged(data, hits) if hits else hits

    def clean(self, data: bytes, *, json_: bool) -> bytes:
        """The data without its secrets: the same object where there are none."""
        # Nearly always there is nothing, which is found out without a step more than there must be.
        hits = self._find(data)
        if self._values:
            hits += self.known.find(data)
        if not hits or not (hits := merged(data, hits)):
            return data
        # Where two secrets touch, the second is seen only when a token stands before it: hence not once, but
        # until nothing is found. So what comes out is what comes out again (and the second look costs
        # microseconds).
        for _ in range(8):
            clean = self.cover(data, hits, json_=json_)
            if clean == data:
                break
            data = clean
            hits = self.hits(data)
            if not hits:
                break
        return data

    def cover(
        self, data: bytes, hits: Sequence[Hit], *, json_: bool, start: int = 0, end: int | None = None
    ) -> bytes:
        """data[start:end] with the hits replaced."""
        stop = len(data) if end is None else end
        if not hits:
            return data[start:stop]
        out: list[bytes] = []
        at = start
        for found in hits:
            hit = fit(data, found) if json_ else found
            if hit.end <= at or hit.end > stop or hit.start >= hit.end:
                continue
            out += (data[at : max(at, hit.start)], hit.quote, self.token(hit.value).encode(), hit.quote)
            at = hit.end
        out.append(data[at:stop])
        return b"".join(out)


def merged(data: bytes, hits: list[Hit]) -> list[Hit]:
    """The hits in order; those that overlap as one, and none that touches a token."""
    tokens = [t.span() for t in TOKEN.finditer(data)] if b"[[secret:" in data else []
    found: list[Hit] = []
    for hit in sorted(hits, key=lambda h: (h.start, -h.end)):
        if any(s < hit.end and hit.start < e and not (hit.start <= s and e <= hit.end) for s, e in tokens):
            continue
        last = found[-1] if found else None
        if last is None or hit.start >= last.end:
            found.append(hit)
        elif hit.end > last.end:  # they overlap: hide all of both
            found[-1] = Hit(last.start, hit.end, plain(data[last.start : hit.end], 0), last.quote)
    return found
