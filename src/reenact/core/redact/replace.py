"""Replace each secret by a token."""

from __future__ import annotations

import hmac
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from operator import itemgetter

from reenact.core.patterns import lazy
from reenact.core.redact.decoded import views
from reenact.core.redact.dense import hidden, parts
from reenact.core.redact.event_frame import FrameRedactor, keeps_frame
from reenact.core.redact.find import finder
from reenact.core.redact.fit import Strings, fit
from reenact.core.redact.found import FoundValues
from reenact.core.redact.known import KnownValues
from reenact.core.redact.packed import PackedBytes
from reenact.core.redact.rules import SecretRules
from reenact.core.redact.shapes import TOKEN, label_of
from reenact.core.redact.text import FoundSecret, plain
from reenact.core.redact.work import BYTES_A_LOOK, LEAST, TooDense, Work

_MOST_TOKENS = 4096  # that are kept
_LONGEST = 1024  # characters of a value whose token is kept
# A long text between two quotes, of JSON whose escaped quotes are masked: within a string or outside of any.
_TEXT = lazy(rb'(?<![^"])[^"]{512,}+')
_SOME = 64  # looks that each of these may cost
_AGAIN = 8  # a text that was too dense is looked at again for this part of the work, string by string
_REST = 512  # looks for what lies between


class Replacer:
    """Finds and replaces, by some rules, and by the values it has learnt. Any thread may use it.

    Args:
        rules: The rules.
        salt: The recording's salt.
        learnt: Called when a value became known that was found by its name.
    """

    def __init__(self, rules: SecretRules, salt: bytes, learnt: Callable[[], None] = lambda: None) -> None:
        self._salt = salt
        self._finder = finder(rules)
        self._find = self._finder.find
        self._marks = self._finder.marks
        self._built_in = self._finder.built_in
        self.names = self._finder.names
        self._values = set(rules.values)
        self._typed: set[str] = set()
        self._known = KnownValues(rules.values)
        self._counted = len(rules.values)
        self._found = FoundValues()
        self._learnt = learnt
        self._tokens: dict[str, str] = {}

    def learn(self, value: str, *, typed: bool = False) -> bool:
        """Look for this value from now on. Return False if it is known already.

        Args:
            value: The value.
            typed: It was written into a secret field, and may be short; see `KnownValues`.
        """
        if value in self._values or value in self._typed:
            return False
        (self._typed if typed else self._values).add(value)
        return True

    @property
    def known(self) -> list[KnownValues]:
        """The exact values. Compiled on use, as several are often learnt at a time."""
        own = [self._own] if self._values or self._typed else []
        return [*own, *self._found.known()] if self._found.values else own

    @property
    def _own(self) -> KnownValues:
        known, count = self._known, len(self._values) + len(self._typed)
        if self._counted != count:  # they never become fewer
            known = self._known = KnownValues(frozenset(self._values), frozenset(self._typed))
            self._counted = count
        return known

    def token(self, value: str) -> str:
        """Return the token of a value."""
        value = value.strip()
        token = self._tokens.get(value)
        if token is None:
            digest = hmac.digest(self._salt, value.encode("utf-8", "surrogatepass"), "sha256").hex()[:8]
            token = f"[[secret:{label_of(value)}:{digest}]]"
            if len(self._tokens) < _MOST_TOKENS and len(value) <= _LONGEST:
                self._tokens[value] = token
        return token

    def hits(self, data: bytes, *, json_: bool, work: Work) -> list[FoundSecret]:
        """Return the secrets in order: none overlaps another or touches an existing token.

        A text with too many places to look at is a secret as a whole; of JSON, its long strings are.
        """
        try:
            return self._hits(data, json_=json_, work=work)
        except TooDense:
            text, quote = data.decode("utf-8", "replace"), b'"' if json_ else b""
            return [FoundSecret(0, len(data), text, quote, whole=True)] if data else []

    def _hits(self, data: bytes, *, json_: bool, work: Work) -> list[FoundSecret]:
        """Find hits as `hits` does.

        Raises:
            TooDense: The text is a secret as a whole.
        """
        try:
            hits = self._look(data, work)
        except TooDense:
            work.left = sys.maxsize  # what comes after that is in proportion
            if not json_:
                raise
            hits = self._dense(data)
        return merged(data, hits) if hits else hits

    def _look(self, data: bytes, work: Work, marks: list[tuple[int, int]] | None = None) -> list[FoundSecret]:
        """Return all secrets in data and in its decoded views; `marks` as for `Finder.find`.

        Raises:
            TooDense: That would cost more than `work` allows.
        """
        hits = self._find(data, work, marks)
        exact = self.known if self._values or self._typed or self._found.values else ()
        for known in exact:
            hits += known.find(data, work)
        if work.escapes or b"%" in data or b"&" in data:
            for view in views(data, work):
                found = self._find(view.data, work)
                for known in exact:
                    found += known.find(view.data, work)
                hits += map(view.hit, found)
        return hits

    def _dense(self, data: bytes) -> list[FoundSecret]:
        """Return the hits of too dense JSON: each long dense string whole, and those of the others.

        Raises:
            TooDense: The others have too many places to look at, too.
        """
        dense, rest = [], bytearray(data)
        for found in _TEXT.finditer(data.replace(rb"\\", b"__").replace(rb"\"", b"__")):
            start, end = found.span()
            text = data[start:end]
            try:
                self._look(text, Work((end - start) // _AGAIN, least=_SOME))
            except TooDense:
                dense.append(FoundSecret(start, end, plain(text, 0), whole=True))
                rest[start:end] = b" " * (end - start)
        if not dense:
            raise TooDense
        return dense + self._look(bytes(rest), Work(len(data) // _AGAIN, least=_REST))

    def clean(self, data: bytes, *, json_: bool) -> bytes:
        """Return data without its secrets: the same object if there are none."""
        # Usually there is no secret: that case takes as few steps as possible. If two secrets touch, the second is
        # found only after the first became a token: so repeat until nothing is found. A second redaction then
        # changes nothing (and the last look costs microseconds).
        try:
            marks = self._marks.scan(data, LEAST + len(data) / BYTES_A_LOOK)
            known = self._values or self._typed or self._found.values or not self._built_in
            if not (marks or known) or not self._look(data, Work(len(data)), marks):
                return data
        except TooDense:
            pass
        try:
            return self._clean(data, json_=json_, work=Work(len(data)))
        except TooDense:
            return self._hide(data) if json_ else self.token(data.decode("utf-8", "replace")).encode()

    def _clean(self, data: bytes, *, json_: bool, work: Work) -> bytes:
        for number in range(8):
            if number == 1:
                work.left += len(data) // BYTES_A_LOOK  # the second look sees all marks again
            hits = self._hits(data, json_=json_, work=work)
            if not hits:
                break
            clean = self.cover(data, hits, json_=json_)
            if clean == data:
                break
            data = clean
        return data

    def _hide(self, data: bytes) -> bytes:
        """Redact JSON with too many secrets: each text of a dense member becomes a token."""
        made = self._hide_parts(data)
        return made if keeps_frame(data, made) else FrameRedactor(self._clean_part, self.token).line(data)

    def _clean_part(self, part: bytes) -> bytes | None:
        try:
            return self._clean(part, json_=True, work=Work(len(part) // _AGAIN, least=_SOME))
        except TooDense:
            return None

    def _hide_parts(self, data: bytes) -> bytes:
        found = parts(data)
        if found is None:
            return b'"' + self.token(data.decode("utf-8", "replace")).encode() + b'"'
        between = Work(len(data) // _AGAIN, least=_REST)
        if len(found) == 1:  # all of it, which was found to be too dense already
            return self._hidden(data, member=not data.lstrip().startswith(b"{"))
        return b"".join(
            self._part(
                data[start:end],
                Work((end - start) // _AGAIN, least=_SOME) if member else between,
                member=member,
            )
            for start, end, member in found
        )

    def _part(self, part: bytes, work: Work, *, member: bool) -> bytes:
        try:
            hits = self._look(part, work)
        except TooDense:
            return self._hidden(part, member=member)
        return self.cover(part, merged(part, hits), json_=True)

    def _hidden(self, part: bytes, *, member: bool) -> bytes:
        part = hidden(part, self.token(part.decode("utf-8", "replace")).encode(), member=member)
        work = Work(0, least=sys.maxsize)
        hits = [hit for known in self.known for hit in known.find(part, work)]
        return self.cover(part, merged(part, hits), json_=True)

    @staticmethod
    def fitting(data: bytes, hit: FoundSecret) -> FoundSecret:
        """Return a hit moved so that JSON stays valid when it is replaced."""
        return fit(data, hit, Strings(data))

    def cover(
        self, data: bytes, hits: Sequence[FoundSecret], *, json_: bool, start: int = 0, end: int | None = None
    ) -> bytes:
        """Return data[start:end] with the hits replaced."""
        stop = len(data) if end is None else end
        if not hits:
            return data[start:stop]
        packed = PackedBytes(data if json_ else b"", self._clean_bytes)
        places = [packed.around(hit.start, hit.end) for hit in hits]
        text = zip(hits, places, strict=True)
        if self._found.add([hit.value for hit, place in text if not (place or hit.whole)]):
            self._learnt()
        out: list[bytes] = []
        at = start
        strings = Strings(data)
        for found, place in zip(hits, places, strict=True):
            if found.end <= at:
                continue
            if place and at <= place[0] and place[1] <= stop:
                out += (data[at : place[0]], packed.redacted(*place))
                at = place[1]
                continue
            hit = fit(data, found, strings) if json_ else found
            if hit.end <= at or hit.end > stop or hit.start >= hit.end:
                continue
            out += (data[at : max(at, hit.start)], hit.quote, self.token(hit.value).encode(), hit.quote)
            at = hit.end
        out.append(data[at:stop])
        return b"".join(out)

    def _clean_bytes(self, data: bytes) -> bytes:
        return self.clean(data, json_=False)


def merged(data: bytes, hits: list[FoundSecret]) -> list[FoundSecret]:
    """Return the hits in order: overlapping ones as one, and none that touches a token."""
    if not hits:
        return []
    tokens = [t.span() for t in TOKEN.finditer(data)] if b"[[secret:" in data else []
    found: list[FoundSecret] = []
    joined: set[int] = set()
    for hit in sorted(hits, key=lambda h: (h.start, -h.end)):
        if tokens and _cuts(hit, tokens):
            continue
        last = found[-1] if found else None
        if last is None or hit.start >= last.end:
            found.append(hit)
        elif hit.end > last.end:  # they overlap: hide all of both
            found[-1] = last._replace(end=hit.end, whole=False)
            joined.add(len(found) - 1)
    for number in joined:
        hit = found[number]
        found[number] = hit._replace(value=plain(data[hit.start : hit.end], 0))
    return found


def _cuts(hit: FoundSecret, tokens: list[tuple[int, int]]) -> bool:
    """Return True if the hit touches a token that it does not contain: its first or its last."""
    first = bisect_right(tokens, hit.start, key=itemgetter(1))
    last = bisect_left(tokens, hit.end, key=itemgetter(0)) - 1
    return first <= last and (tokens[first][0] < hit.start or tokens[last][1] > hit.end)
