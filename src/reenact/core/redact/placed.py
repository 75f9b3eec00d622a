"""Secrets by their shape, and by the place where they stand: URLs, `Bearer ...`, PEM blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, unquote_plus

from reenact.core.patterns import lazy
from reenact.core.redact.marks import CASELESS, MarkPattern
from reenact.core.redact.names import dense
from reenact.core.redact.shapes import SHAPES, SecretShape
from reenact.core.redact.text import FORM_VALUE, FoundSecret, Look, boundary, close, hit, level_of, plain
from reenact.core.redact.work import LOOKS_A_HIT, Work

# Names of secrets in a query, which in JSON are something else: Anthropic's "signature" of a thought must be
# sent back unchanged.
_QUERY_NAMES = ("sig", "signature", "key", "x-amz-signature", "x-amz-credential", "x-goog-signature")
_QUERY_VALUE = lazy(rb"(?=[^\s&\"'\\<>]{3})" + FORM_VALUE.pattern)
# Tried once after each slash, and read up to the next one at most.
_PASSWORD = lazy(rb"/(?:[^\s/:@\"'\\?#<>]*+:((?!@)[^\s/\"'\\?#<>]+)|(?P<token>[^\s/:@\"'\\?#<>]{16,}+))@")
_SCHEME_BEHIND = lazy(rb"\\{0,15}/\\{0,15}:")
_CREDENTIAL = lazy(rb"[ \t]?([A-Za-z0-9._~+/=\-]{8,})")
_COOKIE_LIST = lazy(rb"\\{0,15}[\"']\s*+:\s*+\[(?=(?:\s|\\{1,15}[nrt])*+\{)")
_COOKIE_VALUE = lazy(rb"value\\{0,15}[\"']\s*+:\s*+(?P<slashes>\\{0,15})(?P<open>[\"'])")
_LONGEST_LIST = 65536  # bytes of a list of cookies
_SHORTEST_COOKIE = 4
# Ports of Postgres and of what stands before it.
_PORTS = ("5432", "5433", "5434", "5435", "6432", "6543", "15432", "25060", "26257", "*")
_PGPASS_BEHIND = lazy(rb":(?:[0-9]{4,5}|\*):[\w.\-*/\[\]:]{1,255}(?:\Z|[\r\n\"'=\s]|n\\)")
_PGPASS_ALL_BEHIND = lazy(rb":\*:[0-9]{1,5}:[\w.\-*/\[\]]{1,255}(?:\Z|[\r\n\"'=\s]|n\\)")
_PGPASS = lazy(
    rb"(?:[^:\s\"'\\]{1,64}+|\\{1,15}[:\\]){1,8}+:(?:[^:\s\"'\\]{1,64}+|\\{1,15}[:\\]){1,8}+:"
    rb"(?P<secret>(?:[^:\s\"'\\]|\\{1,15}[:\\](?![nrt]))++)(?=[ \t]*+(?:[\r\n\"']|\\{1,15}[nrt\"']|\Z))"
)
_PGPASS_SECRET = lazy(
    rb"(?P<secret>(?:[^:\s\"'\\]|\\{1,15}[:\\](?![nrt]))++)(?=[ \t]*+(?:[\r\n\"']|\\{1,15}[nrt\"']|\Z))"
)
_PGPASS_USER = lazy(rb"(?:[^:\s\"'\\]{1,64}+|\\{1,15}[:\\]){1,8}+:" + _PGPASS_SECRET.pattern)
_LINE_BEGIN = r":[0-9]{1,5}:[^:\s\"\\0-9]"
LINE_BEGIN = lazy(_LINE_BEGIN.encode())
"""The beginning of what `line_marks` match."""
_PGPASS_LINE = lazy(
    rb":[\w.@\-]{1,64}:[^:\s\"'\\]{1,64}:[0-9]{1,5}:[\w.\-*/\[\]:]{1,255}(?:\Z|[\r\n\"'=\s]|n\\)"
)
_TAB = rb"(?:\t|\\{1,15}t)"
_COOKIE_FILE = lazy(
    rb"TAB/[^\s\"'\\]{0,200}TAB(?:TRUE|FALSE)TAB[0-9]{1,12}TAB[\w.\-]{1,100}TAB(?P<secret>[^\s\"'\\]{4,})".replace(
        b"TAB", _TAB
    )
)
# All characters that the shapes look ahead for.
_READ = lazy(rb"[\w\-.]++")
_DIGIT = lazy(r"[0-9]")
_PEM_HEAD = lazy(rb"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PEM = lazy(
    _PEM_HEAD.pattern
    + rb"(?:[\w+/=\s:,.()@]++|-(?!----END )|\\++[nrt])*+-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
)
_PEM_BROKEN_OFF = lazy(  # some headers, the data, and perhaps the beginning of the end
    _PEM_HEAD.pattern + rb"(?:(?:\s|\\++[nr])*+(?:[A-Za-z\-]++: [^\r\n\\\"]*+(?:\s|\\++[nr])*+)*+"
    rb"(?:[A-Za-z0-9+/=\s]++|\\++[nr])*+(?:\\+\Z|-{1,5}(?:E[A-Z0-9 ]*-{0,5})?\Z)?)"
)


def place_marks() -> Iterator[tuple[MarkPattern, Look]]:
    """Yield the marks of secrets by shape or place, each with its look."""
    for shape in SHAPES:
        look = _shape(shape)
        for text in [shape.prefix + c for c in shape.first] or [shape.prefix]:
            yield MarkPattern(text, back=len(text)), look
    for name in _QUERY_NAMES:
        yield from ((MarkPattern(f"{before}{name}=", CASELESS), _query) for before in "?&;")
    for word in ("bearer", "basic"):
        yield from ((MarkPattern(word + space, CASELESS), _credential) for space in " \t")
    for quote in "\"'\\":
        yield MarkPattern("cookies" + quote, CASELESS, 1), _cookie_list
    yield from ((MarkPattern(f":{port}:"), _password_file) for port in _PORTS)
    for said in ("TRUE", "FALSE"):
        yield MarkPattern(f"\t{said}\t", back=1), _cookie_file
        yield MarkPattern(f"t{said}\\", back=1), _cookie_file
    begin = "-----BEGIN "
    yield MarkPattern(begin, back=len(begin)), _pem


def _shape(shape: SecretShape) -> Look:
    def look(data: bytes, start: int, work: Work) -> tuple[FoundSecret, ...]:
        if not boundary(data, start, strict=shape.strict):
            return ()
        found = shape.pattern.match(data, start)
        if found is None:
            if shape.needs and (read := _READ.match(data, start)):
                work.read(read.end() - start)
            return ()
        work.read(found.end() - start)
        return (FoundSecret(start + shape.shown, found.end(), found[0][shape.shown :].decode()),)

    return look


def _query(data: bytes, start: int, work: Work) -> Iterator[FoundSecret]:
    found = _QUERY_VALUE.match(data, start)
    if found and len(found[0]) >= 12:
        work.read(len(found[0]) * 2)
        yield from hit(data, *found.span(), unquote_plus(found[0].decode("utf-8", "replace")))


def _credential(data: bytes, start: int, work: Work) -> Iterator[FoundSecret]:
    """`Bearer xyz` and `Basic dXNlcjpwYXNz` in running text; "basic understanding" is none."""
    found = _CREDENTIAL.match(data, start)
    if found is None:
        return
    work.read(len(found[1]))
    text = found[1].decode()
    long = 32 if data[start - 6 : start - 1].lower() == b"basic" else 16
    if len(text) >= long or "=" in text or _DIGIT.search(text):
        yield from hit(data, *found.span(1), text)


def _cookie_list(data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
    """`"cookies": [{"name": "sid", "value": "..."}]`, as browsers and HAR files write them."""
    opened = _COOKIE_LIST.match(data, at)
    begin = max(opened.end() if opened else at, work.read_to.get("cookies", 0))
    if opened is None or begin != opened.end():
        return
    end = data.find(b"]", begin, begin + _LONGEST_LIST)
    end = end if end >= 0 else min(len(data), begin + _LONGEST_LIST)
    work.read_to["cookies"] = end
    work.read(end - begin)
    for found in _COOKIE_VALUE.finditer(data, begin, end):
        work.spend(LOOKS_A_HIT)
        level = level_of(found["slashes"])
        stop = close(data, found.end(), found["open"][0], level, work)
        if stop is not None and stop - found.end() >= _SHORTEST_COOKIE:
            yield from hit(data, found.end(), stop, plain(data[found.end() : stop], level))


def _pem(data: bytes, start: int, work: Work) -> Iterator[FoundSecret]:
    head = _PEM_HEAD.match(data, start)
    if head is None:
        return
    end = data.find(b"-----END ", head.end(), head.end() + 32768)
    found = (_PEM.match(data, start, end + 80) if end >= 0 else None) or _PEM_BROKEN_OFF.match(data, start)
    work.read(max(end - start, found.end() - start if found else 0) * 2)
    if found:
        text = re.sub(r"(?<!\\)\\+n", "\n", found[0].decode("utf-8", "replace"))
        text = re.sub(r"(?<!\\)\\+r|\r", "", text)
        yield from hit(data, *found.span(), text)


def passwords(data: bytes, work: Work) -> Iterator[FoundSecret]:
    """Yield the password in scheme://user:password@host, or a token in the place of both."""
    for found in _PASSWORD.finditer(data):
        work.spend(1)
        slash = found.start()
        if (
            slash > 2
            and data[slash - 1] in b"/\\"
            and _SCHEME_BEHIND.match(data[max(0, slash - 40) : slash][::-1])
            and (found[1] or found["token"])[:1] not in {b"$", b"{", b"*"}
        ):
            which = 1 if found[1] else 2
            work.spend(LOOKS_A_HIT)
            work.read(len(found[which]) * 2)
            value = unquote(found[which].decode("utf-8", "replace"))
            if which == 1 or _is_token(value):
                yield from hit(data, *found.span(which), value)


def _is_token(user: str) -> bool:
    """Return True for a token in the place of a user's name: `https://TOKEN@host`."""
    return dense(user) and "." not in user and _DIGIT.search(user) is not None


def _password_file(data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
    """`host:5432:database:user:password`, a line of `.pgpass`; the look begins after the port."""
    behind = data[max(0, at - 300) : at][::-1]
    of_all = _PGPASS_ALL_BEHIND.match(behind)  # `host:port:*:user:password`
    before = of_all or _PGPASS_BEHIND.match(behind)
    after = (_PGPASS_USER if of_all else _PGPASS).match(data, at) if before else None
    work.read(300)
    if before and after:
        work.read(after.end() - at)
        yield from hit(data, *after.span("secret"), plain(after["secret"], 0))


def line_marks() -> Iterator[tuple[MarkPattern, Look]]:
    """Yield an expression for a line of `.pgpass` with a port of its own."""
    cell = r"[^:\s\"\\]"
    yield MarkPattern(rf"{_LINE_BEGIN}{cell}*:{cell}+:{cell}"), _password_line


def _password_line(data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
    """`host:5999:database:user:password`; the look begins after the password's first character."""
    found = _PGPASS_LINE.match(data[max(0, at - 600) : at - 1][::-1])
    secret = _PGPASS_SECRET.match(data, at - 1) if found else None
    work.read(600)
    if secret and dense(value := plain(secret["secret"], 0)):
        yield from hit(data, *secret.span("secret"), value)


def _cookie_file(data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
    r"""`.host\tTRUE\t/\tTRUE\t0\tname\tvalue`, a line of a cookie file of curl and wget."""
    found = _COOKIE_FILE.match(data, at)
    if found:
        work.read(found.end() - at)
        yield from hit(data, *found.span("secret"), plain(found["secret"], 0))
