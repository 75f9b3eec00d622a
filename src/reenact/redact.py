"""Secrets leave here, before anything is written.

Every byte of a recording crosses a `Redactor`. What it knows or recognises as a secret is replaced by a
token, `[[secret:<label>:<8 hex>]]`: a keyed hash of the value, so that equal secrets stay equal, a replay can
still match its requests, and nobody can guess the value back without the salt.

How it finds them, in the order of cost:

1. One pass of hyperscan over the bytes, with all shapes, key names and header names at once (some 4 GB/s, so
   5 us for 20 KB). It only raises marks: *here may be a secret*. No mark, no work, and `line` hands back the
   very object it was given.
2. At each mark, Python's `re` looks at that place only, and decides what exactly is the secret.
3. The exact values that the process is known to hold (environment, `learn`) are a second, literal pass.

A token depends on the value alone, never on the place where it was found; else the same key would get one
name in a header and another in a prompt, and a replay would see a difference where there is none.

See docs/secrets.md for what is found, and for what is not.
"""

from __future__ import annotations

import gzip
import hmac
import importlib
import json
import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote, unquote_plus

import hyperscan

__all__ = ["DEFAULT_RULES", "Redactor", "SecretRules", "StreamRedactor"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class SecretRules:
    """What counts as a secret besides the built-in shapes. Immutable: extend with `dataclasses.replace`.

    `names` are key names in JSON, forms, queries and environments ("api_key" also means "API-Key", "apiKey"
    and "openai_api_key"); `headers` are HTTP header names whose values always go; `patterns` are regular
    expressions over bytes (where one has a group, the first group is the secret); `values` are known
    exactly.
    """

    names: frozenset[str]
    headers: frozenset[str]
    patterns: tuple[str, ...] = ()
    values: frozenset[str] = frozenset()


DEFAULT_RULES = SecretRules(
    names=_set(
        "password passwd passphrase passcode pass pwd secret client_secret secret_key private_key api_key "
        "api_secret access_key account_key signing_key encryption_key master_key shared_access_key "
        "license_key subscription_key access_token refresh_token id_token auth_token session_token "
        "bearer_token api_token csrf_token xsrf_token security_token secret_token token auth "
        "authorization credential credentials session cookie set_cookie connection_string pin cvv cvc otp "
        "pgpassword"
    ),
    headers=_set(
        "authorization proxy-authorization cookie set-cookie x-api-key api-key apikey x-goog-api-key "
        "x-amz-security-token x-auth-token x-access-token x-csrf-token x-xsrf-token private-token "
        "x-gitlab-token x-vault-token x-shopify-access-token x-functions-key ocp-apim-subscription-key "
        "x-rapidapi-key x-subscription-token x-auth-key x-session-token x-amz-signature"
    ),
)


# --- the shapes ---------------------------------------------------------------------------------------------


class _Shape(NamedTuple):
    """A format that is a secret wherever it stands: `prefix` then at least `least` characters of `chars`."""

    label: str
    prefix: str
    chars: str
    least: int
    rest: str = ""  # what must follow, in Python's terms, where prefix and length do not decide alone
    strict: bool = False  # a short prefix must not follow "-" or "_" either: base64url text is full of those


_W, _D, _A, _H = "[A-Za-z0-9_]", r"[A-Za-z0-9_\-]", "[A-Za-z0-9]", "[0-9a-f]"
# Real keys hold a digit or a long unbroken run; the class names of scikit-learn's HTML
# ("sk-toggleable__label") do not.
_DENSE = r"(?:(?=[A-Za-z_\-]*[0-9])|(?=[A-Za-z0-9_\-]*?[A-Za-z0-9]{16}))"
_SHAPES: tuple[_Shape, ...] = (
    _Shape("anthropic", "sk-ant-", _D, 16),
    *(_Shape("openai", f"sk-{kind}-", _D, 16) for kind in ("proj", "svcacct", "admin", "None")),
    _Shape("openrouter", "sk-or-", _D, 16),
    _Shape("langfuse", "sk-lf-", _D, 16),
    _Shape("openai", "sk-", _D, 16, rest=_DENSE, strict=True),
    _Shape("google", "AIza", _D, 30),
    _Shape("google-oauth", "ya29.", _D, 16),
    _Shape("google-oauth", "GOCSPX-", _D, 20),
    *(
        _Shape("aws", kind, "[A-Z0-9]", 16, rest="(?=[A-Z0-9]{16}(?![A-Za-z0-9]))")
        for kind in ("AKIA", "ASIA")
    ),
    *(_Shape("github", f"gh{kind}_", _A, 20) for kind in "pousr"),
    _Shape("github", "github_pat_", _W, 20),
    _Shape("gitlab", "glpat-", _D, 16),
    *(_Shape("slack", f"xox{kind}-", _D, 10) for kind in "abeprs"),
    _Shape("slack", "xapp-", _D, 16),
    *(_Shape("stripe", f"{k}k_{mode}_", _A, 10) for k in "sr" for mode in ("live", "test")),
    _Shape("stripe", "whsec_", "[A-Za-z0-9+/=]", 16),
    _Shape("jwt", "eyJ", _D, 8, rest=r"(?=[\w\-]+\.[\w\-]{4,}\.)"),
    _Shape("huggingface", "hf_", _A, 20, strict=True),
    _Shape("groq", "gsk_", _A, 20),
    _Shape("npm", "npm_", _A, 30),
    _Shape("pypi", "pypi-", _D, 16),
    _Shape("sendgrid", "SG.", _D, 16, rest=r"(?=[\w\-]+\.[\w\-]{16})", strict=True),
    _Shape("twilio", "SK", _H, 32, rest="(?=[0-9a-f]{32}(?![0-9A-Za-z]))", strict=True),
    _Shape("databricks", "dapi", _H, 32),
    _Shape("xai", "xai-", _A, 20),
    _Shape("perplexity", "pplx-", _A, 20),
    _Shape("replicate", "r8_", _A, 30, strict=True),
    _Shape("nvidia", "nvapi-", _D, 20),
    _Shape("tavily", "tvly-", _D, 16),
    _Shape("langsmith", "lsv2_pt_", _W, 16),
    _Shape("langsmith", "lsv2_sk_", _W, 16),
    _Shape("pinecone", "pcsk_", _W, 20),
    _Shape("logfire", "pylf_v", _W, 20),
    _Shape("digitalocean", "dop_v1_", _H, 40),
    _Shape("shopify", "shpat_", _H, 32),
    _Shape("docker", "dckr_pat_", _D, 20),
    _Shape("vault", "hvs.", _D, 20),
    _Shape("linear", "lin_api_", _A, 20),
    _Shape("age", "AGE-SECRET-KEY-1", "[A-Z0-9]", 40),
    _Shape("slack", "hooks.slack.com/services/", "[A-Za-z0-9/]", 16),
)
_TAILS = {
    "jwt": r"(?:\.[\w\-]+)*",
    "sendgrid": r"(?:\.[\w\-]+)*",
    "google-oauth": r"(?:\.[\w\-]+)*",
    "vault": r"(?:\.[\w\-]+)*",
}


def _body(shape: _Shape) -> str:
    return (
        f"{re.escape(shape.prefix)}{shape.rest}{shape.chars}{{{shape.least},}}{_TAILS.get(shape.label, '')}"
    )


_SHAPE_RES = tuple(re.compile(_body(shape).encode()) for shape in _SHAPES)
_LABELS: tuple[tuple[str, re.Pattern[str]], ...] = (
    *((shape.label, re.compile(_body(shape))) for shape in _SHAPES[:-1]),
    ("slack", re.compile(r"T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{10,}")),
    ("private-key", re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*", re.DOTALL)),
)
_TOKEN = re.compile(r"\[\[secret:[a-z0-9\-]+:[0-9a-f]{8}\]\]")
_TOKEN_BYTES = re.compile(_TOKEN.pattern.encode())


# --- names --------------------------------------------------------------------------------------------------

# These stand as often for something harmless ("auth": "oauth2", the "token" of log probabilities), so that
# their values must look like a secret, too.
_WEAK = frozenset({"token", "auth", "session", "credential", "credentials", "pass", "pwd"})
_NUMERIC = frozenset({"password", "passwd", "passcode", "pin", "cvv", "cvc", "otp"})
# Tokens that are no secret: cursors that a program hands back, and the special tokens of a tokenizer.
_HARMLESS = tuple(
    f"{kind}token"
    for kind in _set(
        "page next continuation continue sync cancellation resume cursor eos bos pad unk mask sep cls "
        "stop start end special nextpage prevpage previous"
    )
)
# Names that a query may carry as a secret, though in JSON they are something else: Anthropic's "signature"
# of a thought has to go back as it came.
_QUERY_NAMES = ("sig", "signature", "key", "x-amz-signature", "x-amz-credential", "x-goog-signature")
_PLACEHOLDERS = _set(
    "none null true false undefined string required optional str bytes secretstr redacted empty password"
)
# Too common as ordinary words to be hidden wherever they stand, whatever variable holds them.
_COMMON_VALUES = _set("password postgres changeme localhost undefined disabled required anonymous default")
_ENV_PARTS = _set("secret secrets password passwd passphrase credential credentials token apikey pat")
_ENV_PAIRS = _set("api access secret private signing encryption master account service license auth")
_ENV_HARMLESS_ENDS = _set(
    "file path dir url uri endpoint id name arn type ttl length policy helper store manager sock socket "
    "bus address enabled count limit region version timeout size parallelism expiry algorithm issuer "
    "audience desktop"
)
_PATHLIKE = re.compile(r"(?:~|\.{1,2})?/[\w.\-]+(?:/[\w.\-@ ]+)+/?|[A-Za-z]:\\.*")


def _normal(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def _words(name: str) -> list[str]:
    """The words of a name: "X-Api_keyID" is x, api, key, id."""
    return [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)]


def _loose(name: str, *, known: bool) -> str:
    """A hyperscan expression for a name in any case and with any separators."""
    parts = _words(name) if known or len(_words(name)) > 1 else list(_normal(name))
    return r"[_\-. ]?".join(re.escape(p) for p in parts)


def _any_name(rules: SecretRules) -> str:
    """A hyperscan expression for how the names of these rules end ("client_secret" ends as "secret" does)."""
    # Of several spellings the one that shows most words: it is the one that allows separators.
    names = {_normal(n): n for n in sorted(rules.names | rules.headers, key=lambda n: (len(_words(n)), n))}
    ends = [n for n in names if not any(n != other and n.endswith(other) for other in names)]
    known = DEFAULT_RULES.names | DEFAULT_RULES.headers
    return "(?:" + "|".join(sorted(_loose(names[n], known=names[n] in known) for n in ends)) + ")"


def _secret_variable(name: str) -> bool:
    """Does an environment variable of this name hold a secret?"""
    words = _words(name)
    if not words or words[-1] in _ENV_HARMLESS_ENDS:
        return False
    return (
        bool(_ENV_PARTS & set(words))
        or any(a in _ENV_PAIRS and b == "key" for a, b in pairwise(words))
        or (
            words[-1] in {"pass", "pwd", "key"}
            and len(words) > 1
            and words[-2] not in {"public", "old", "ssh"}
        )
        or _normal(name) in {"pgpassword", "auth", "authorization"}
    )


# --- finding ------------------------------------------------------------------------------------------------


class _Hit(NamedTuple):
    """A secret found at data[start:end]."""

    start: int
    end: int
    value: str  # as it really is, without escapes: what the token is made of
    quote: bytes = b""  # for a bare number: the quote to put around the token, so that JSON stays JSON
    whole: bool = False  # complete, even though it may stand at the end of a stream's chunk


_Look = Callable[[bytes, int], Iterable[_Hit]]
_ALNUM = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_ESCAPED_BEFORE = re.compile(rb"(\\+)(?:[nrtbf]|u[0-9a-fA-F]{4})\Z")


def _boundary(data: bytes, at: int, *, strict: bool = False) -> bool:
    """May a secret begin here? Not within a word; but the n of an escaped newline is not a word's letter."""
    if at == 0:
        return True
    before = data[at - 1]
    if before not in _ALNUM and not (strict and before in b"-_"):
        return True
    return _ESCAPED_BEFORE.search(data, max(0, at - 24), at) is not None


def _plain(raw: bytes, level: int) -> str:
    """A value as it is, out of JSON strings nested `level` + 1 deep."""
    text = raw.decode("utf-8", "surrogateescape")
    for _ in range(level + 1):
        if "\\" not in text:
            break
        try:
            text = str(json.loads(f'"{text}"', strict=False))
        except ValueError:
            break
    return text


_QUOTE = re.compile(rb"(\\*)([\"'])")


def _close(data: bytes, start: int, quote: int, level: int) -> int | None:
    """Where the string that began at `start` ends: at its own quote or at that of a string around it.

    In a string nested `level` deep its own quote bears 2**level - 1 backslashes, and each backslash of its
    text is 2**(level + 1) of them; a quote that belongs to the text bears 2**(level + 1) - 1 or more.
    """
    period = 2 << level
    for found in _QUOTE.finditer(data, start):
        slashes = len(found[1])
        if found[2] == b"'":
            if quote == 0x27 and slashes % 2 == 0:
                return found.start()
            continue
        if quote == 0x27:  # a repr within JSON: the string around it ends at a quote without a backslash
            if slashes % 2 == 0:
                return found.end() - 1
        elif slashes % period < period // 2:
            return found.end() - 1 - slashes % period
    return None


# What stands before a value, read backwards, so that one linear match() finds the key. In reverse order:
# the opening quote or bracket, its backslashes, b/r/u of a Python literal, a separator, and the key.
_GAP, _GAP_BEHIND = rb"(?:\s|\\+[nrt])*", rb"(?:\s|[nrt]\\+)*"  # spaces, also escaped, as in JSON in a string
_KEY_BEHIND = re.compile(
    rb"(?P<open>[\"'\[])(?P<slashes>\\*)[bru]?"
    + _GAP_BEHIND
    + rb"(?P<sep>>=|=:|:|=|,)"
    + _GAP_BEHIND
    + rb"\]?"
    rb"(?:(?P<quote>[\"'])(?P<kslashes>\\*))?(?P<name>[\w.\- $]{1,80})(?P<before>.{0,80})",
    re.DOTALL,
)
_VALUE_BEHIND = re.compile(
    rb"(?P<open>[\"'])(?P<slashes>\\*)"
    + _GAP_BEHIND
    + rb":"
    + _GAP_BEHIND
    + rb"[\"']\\*(?i:eulav)[\"']\\*"
    + _GAP_BEHIND
    + rb","
    + _GAP_BEHIND
    + rb"[\"']\\*(?P<name>[\w.\-]{1,80})[\"']"
)
_BARE_BEHIND = re.compile(
    rb".{3}(?P<gap>[ \t]*)(?P<sep>[:=])(?:\]|D5%)?(?P<gap2>[ \t]*)(?P<name>[\w.\-]{1,80})(?P<before>.{0,2})",
    re.DOTALL,
)
_SOFT = rb"\\++(?![nrtbf\"'\s]|u00(?:26|3c|3e|27|22|0a))"  # a backslash that is part of the text
_FORM_VALUE = re.compile(rb"(?:[^\s&\"'\\#<>`]|" + _SOFT + rb")+")
_BARE_VALUE = re.compile(rb"(?:[^\s&;,\"'`()<>\\{}\[\]|]|" + _SOFT + rb")+")
_REST_OF_LINE = re.compile(rb"(?:[^\r\n\"'\\]|" + _SOFT + rb")+")
_LINE_ENDS = re.compile(rb"[ \t]*(?:\Z|[\r\n\"'#]|\\+[nrt\"'])")
_SCHEME = re.compile(
    rb"\s*(?:bearer|basic|token|apikey|api-key|digest|negotiate|bot|aws4-hmac-sha256)(?:\s+|%20|\+)",
    re.IGNORECASE,
)
_COOKIE = re.compile(rb"([^=;,\s\"\\]+)=([^;]*?)(?=\s*(?:;|,\s*[^=;,\s]+=|\Z))")
_COOKIE_WORDS = frozenset(b"path domain expires max-age samesite version priority".split())
_USERINFO = re.compile(rb"[^\s/:@\"'\\?#<>]*:([^\s/\"'\\?#<>]+)@")
_PAIR_OPENS = re.compile(rb"[\"']\\*b?" + _GAP_BEHIND + rb"[\[(]")
_PAIR_ENDS = re.compile(rb"\\*[\"']" + _GAP + rb"[\])]")
_CREDENTIAL = re.compile(rb"[A-Za-z0-9._~+/=\-]+")
_PEM = re.compile(
    rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[\w+/=\s:,.()@-]|\\+[nrt])*?"
    rb"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
)
_PEM_BROKEN_OFF = re.compile(  # some headers, the data, and perhaps the beginning of the end
    rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\+[nr])*(?:[A-Za-z\-]+: [^\r\n\\\"]*(?:\s|\\+[nr])*)*"
    rb"(?:[A-Za-z0-9+/=\s]|\\+[nr])*(?:\\+\Z|-{1,5}(?:E[A-Z0-9 ]*-{0,5})?\Z)?)"
)
_TAGGED = re.compile(rb"<(?:[\w.\-]*:)?([\w.\-]{1,80})>([^<>\s\"\\]+)\\*(?=</)")
_FLAG = re.compile(rb"--[\w\-]*?[ =]+(?P<quote>\\*[\"'])?(?P<value>[^\s\"'\\]+)")


def _dense(value: str) -> bool:
    """Does this look like a secret rather than like a word? The test for keys that mean either."""
    if len(value) < 8 or any(c.isspace() for c in value) or "://" in value or _PATHLIKE.fullmatch(value):
        return False
    return len(value) >= 16 or any(c.isdigit() for c in value)


# One mark is enough to let Python read the whole, and `\w+` would raise one for each character.
_USER_FLAGS = hyperscan.HS_FLAG_PREFILTER | hyperscan.HS_FLAG_SINGLEMATCH


class _Finder:
    """All rules but the exact values, compiled: immutable, and shared by the redactors with equal rules."""

    def __init__(self, rules: SecretRules) -> None:
        self._names = sorted({_normal(n) for n in rules.names} - {""}, key=len, reverse=True)
        self._headers = {_normal(h) for h in rules.headers}
        self._header_names = {h.lower() for h in rules.headers}
        self.kind = lru_cache(maxsize=4096)(self._kind)
        name = _any_name(rules)
        header = "(?:" + "|".join(re.escape(h) for h in sorted(rules.headers)) + ")"
        close, gap = r"\\{0,15}[\"']", r"(?:\s|\\+[nrt])*"
        caseless = hyperscan.HS_FLAG_CASELESS
        marks: list[tuple[str, int, _Look]] = [
            (_hs_literal(s.prefix) + f"{s.chars}{{{s.least}}}", 0, self._shape(i))
            for i, s in enumerate(_SHAPES)
        ]
        if rules.names or rules.headers:
            key = rf"{name}(?:{close})?\]?{gap}(?::=|=>|:|=){gap}[bru]?\\{{0,15}}[\"'\[]"
            marks += [
                (key, caseless, self._keyed),
                (
                    rf"{name}(?:\]|%5D)?[ \t]?[:=][ \t]{{0,4}}[^\s\"'\\&{{}}\[\]<>$(|*!]{{3}}",
                    caseless,
                    self._bare,
                ),
                (
                    rf"{name}{close}{gap},{gap}{close}value{close}{gap}:{gap}{close}",
                    caseless,
                    self._named_value,
                ),
                (rf"-{name}{close}{gap},{gap}{close}", caseless, self._keyed),
                (rf"{name}>[^\s<>&]{{3}}", caseless, self._tagged),
                (rf"-{name}[ \t]{{1,3}}\\{{0,15}}[\"']?[^\s\"'\\\-]{{3}}", caseless, self._flag),
                (rf"(?:{'|'.join(sorted(_NUMERIC))}){close}{gap}:{gap}[0-9]{{3}}", caseless, self._number),
            ]
        if rules.headers:
            marks.append((rf"{header}{close}{gap},{gap}[bru]?{close}", caseless, self._keyed))
            marks.append((rf"{header}{close}{gap}:{gap}[bru]?\\{{0,15}}[\"'\[]", caseless, self._keyed))
        marks += [
            (r"[?&;](?:" + "|".join(_QUERY_NAMES) + r")=[^\s&\"'\\<>]{3}", caseless, self._query),
            (r":\\{0,15}/\\{0,15}/[^\s/:@\"'\\?#<>]*:[^\s/@\"'\\?#<>]+@", 0, self._userinfo),
            (r"(?:bearer|basic)[ \t]{1,2}[A-Za-z0-9._~+/=\-]{8}", caseless, self._scheme),
            (r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----", 0, self._pem),
        ]
        self._always: list[re.Pattern[bytes]] = []
        for text in rules.patterns:
            pattern = re.compile(text.encode())
            if _compiles(text):
                marks.append((text, _USER_FLAGS, self._user(pattern)))
            else:  # hyperscan cannot even approximate it, so Python has to read everything
                self._always.append(pattern)
        self._looks = [look for _, _, look in marks]
        self._db = _Database([e.encode() for e, _, _ in marks], [f for _, f, _ in marks])

    def find(self, data: bytes) -> list[_Hit]:
        """All secrets in data, in no order and perhaps overlapping."""
        marks: list[tuple[int, int]] = []
        self._db.scan(data, marks)
        hits: list[_Hit] = []
        for index, end in dict.fromkeys(marks):
            hits += self._looks[index](data, end)
        for pattern in self._always:
            hits += _groups(pattern, data)
        return hits

    def _kind(self, name: bytes) -> str | None:
        """What a key of this name holds: "header", "cookie", "strong" (a secret), "weak" (perhaps), None."""
        text = name.decode("utf-8", "replace").strip()
        norm = _normal(text)
        if norm in self._headers:
            return "cookie" if norm.endswith("cookie") else "header"
        if norm.endswith(_HARMLESS):
            return None
        for known in self._names:
            # Short names must stand as a word of their own: "db_pin" and "dbPin", but not "spin".
            if norm.endswith(known) and (len(known) >= 6 or _normal("".join(_last(text, known))) == known):
                return "cookie" if known.endswith("cookie") else "weak" if known in _WEAK else "strong"
        return None

    def _hit(self, data: bytes, start: int, end: int, value: str, *, quote: bytes = b"") -> Iterator[_Hit]:
        if start < end and not _TOKEN_BYTES.fullmatch(data, start, end):
            yield _Hit(start, end, value, quote)

    def _shape(self, index: int) -> _Look:
        shape, pattern, length = (
            _SHAPES[index],
            _SHAPE_RES[index],
            len(_SHAPES[index].prefix) + _SHAPES[index].least,
        )
        hook = (
            len(shape.prefix) if "/" in shape.prefix else 0
        )  # of a webhook's address only the end is secret

        def look(data: bytes, end: int) -> Iterator[_Hit]:
            start = end - length
            found = pattern.match(data, start) if _boundary(data, start, strict=shape.strict) else None
            if found:
                yield _Hit(start + hook, found.end(), found[0][hook:].decode())

        return look

    def _user(self, pattern: re.Pattern[bytes]) -> _Look:
        def look(data: bytes, end: int) -> Iterator[_Hit]:
            return _groups(pattern, data)

        return look

    def _keyed(self, data: bytes, end: int) -> Iterator[_Hit]:
        """`"name": "value"`, `'name': 'value'`, `name="value"`, `["header", "value"]`, `"name": ["x"]`."""
        behind = _KEY_BEHIND.match(data[max(0, end - 240) : end][::-1])
        if behind is None:
            return
        kind = self.kind(_name(behind))
        pair = behind["sep"] == b","
        level = (len(behind["slashes"]) + 1).bit_length() - 1
        flag = pair and _name(behind).startswith(b"--")  # ["tool", "--api-key", "..."]
        if kind is None or (pair and not flag and not self._opens_pair(behind)):
            return
        if behind["open"] == b"[":
            if kind != "weak":
                yield from self._listed(data, end, kind)
            return
        if behind["quote"] and behind["open"] == b'"' and behind["kslashes"] != behind["slashes"]:
            return  # the quote closes a string in which the key stands; it opens nothing
        if not behind["quote"] and behind["open"] == b'"' and not behind["slashes"] and _is_json(data):
            return  # likewise: in JSON no bare word stands before a string
        close = _close(data, end, behind["open"][0], level)
        stop = len(data) if close is None else close
        if pair and not flag and not _PAIR_ENDS.match(data, stop):
            return
        if not behind["quote"] and re.compile(rb"[)\],;}]|\\+[nr]|\s").match(data, end):
            return  # `input("Password: ")`: what looks like an opening quote closes a string
        yield from self._value(data, (end, stop), kind, level, open_=close is None)

    def _opens_pair(self, behind: re.Match[bytes]) -> bool:
        name = behind["name"][::-1].decode().strip().lower()
        return name in self._header_names and _PAIR_OPENS.match(behind["before"]) is not None

    def _listed(self, data: bytes, at: int, kind: str) -> Iterator[_Hit]:
        """The strings of a flat list: how many libraries keep the values of one header."""
        item = re.compile(rb"(?:[\s,]|\\+[nrt])*[bru]?(\\*)([\"'])")
        while found := item.match(data, at):
            level = (len(found[1]) + 1).bit_length() - 1
            close = _close(data, found.end(), found[2][0], level)
            stop = len(data) if close is None else close
            yield from self._value(data, (found.end(), stop), kind, level, open_=close is None)
            if close is None:
                return
            at = stop + 1 + (len(found[1]) if found[2] == b'"' else 0)

    def _named_value(self, data: bytes, end: int) -> Iterator[_Hit]:
        """`{"name": "x-api-key", "value": "..."}`: HAR and many logs write headers so."""
        behind = _VALUE_BEHIND.match(data[max(0, end - 240) : end][::-1])
        kind = self.kind(_name(behind)) if behind else None
        if behind and kind:
            level = (len(behind["slashes"]) + 1).bit_length() - 1
            close = _close(data, end, behind["open"][0], level)
            yield from self._value(
                data, (end, len(data) if close is None else close), kind, level, open_=close is None
            )

    def _value(
        self, data: bytes, span: tuple[int, int], kind: str, level: int, *, open_: bool
    ) -> Iterator[_Hit]:
        """The secret parts of a value that its key calls secret."""
        start, stop = span
        if kind == "cookie":
            yield from self._cookies(data, start, stop, level)
            return
        scheme = _SCHEME.match(data, start, stop)
        if scheme and scheme.end() < stop:
            start, kind = scheme.end(), "header"
        raw = data[start:stop]
        stop -= 0 if open_ else len(raw) - len(raw.rstrip())
        start += len(raw) - len(raw.lstrip())
        value = _plain(data[start:stop], level)
        least = 1 if open_ or kind == "header" else 4
        if len(value) >= least and (kind != "weak" or open_ or (_dense(value) and not _logprob(data, stop))):
            yield from self._hit(data, start, stop, value)

    def _cookies(self, data: bytes, start: int, stop: int, level: int) -> Iterator[_Hit]:
        """Cookies keep their names and attributes; what they hold goes."""
        found = False
        for cookie in _COOKIE.finditer(data, start, stop):
            found = True
            if cookie[1].lower() not in _COOKIE_WORDS:
                yield from self._hit(data, *cookie.span(2), _plain(cookie[2], level))
        if not found and stop - start >= 4:
            yield from self._hit(data, start, stop, _plain(data[start:stop], level))

    def _bare(self, data: bytes, end: int) -> Iterator[_Hit]:
        """`name=value` in forms, queries and environments; `Header: value` and `name: value` on a line."""
        behind = _BARE_BEHIND.match(data[max(0, end - 120) : end][::-1])
        kind = self.kind(_name(behind)) if behind else None
        if behind is None or kind is None:
            return
        start, gap = end - 3, bool(behind["gap"] or behind["gap2"])
        if kind in {"header", "cookie"} and behind["sep"] == b":" and behind["before"][:1] != b"/":
            line = _REST_OF_LINE.match(data, start)
            if line:
                yield from self._value(data, (start, line.end()), kind, 0, open_=False)
            return
        form = not gap and behind["sep"] == b"=" and (not behind["before"] or behind["before"][:1] in b'?&"')
        found = (_FORM_VALUE if form else _BARE_VALUE).match(data, start)
        if found is None or _TOKEN_BYTES.match(data, start):
            return
        text = found[0].decode("utf-8", "surrogateescape")
        value = text if gap else unquote_plus(text)
        likely = len(value) >= 4 and (kind != "weak" or _dense(value))
        if likely and (form or self._bare_secret(data, found, behind, gap)):
            yield from self._hit(data, *found.span(), value)

    @staticmethod
    def _bare_secret(data: bytes, found: re.Match[bytes], behind: re.Match[bytes], gap: bool) -> bool:
        """Is this a value, or program text (`api_key=os.getenv(...)`), or prose (`password: see below`)?"""
        text, after = found[0].decode("utf-8", "replace"), data[found.end() : found.end() + 1]
        if text.lower() in _PLACEHOLDERS or after in {b"(", b"[", b"{"}:
            return False
        identifier = re.fullmatch(r"[A-Za-z_][A-Za-z_.]*", text) is not None
        if after in {b",", b")"} and identifier:
            return False
        if behind["sep"] == b":" and not gap:
            return False  # `secret:label`, `auth:basic`, a slice
        if gap:
            lone = _LINE_ENDS.match(data, found.end()) is not None
            random = behind["sep"] == b":" or (_dense(text) and not identifier)
            return lone and random
        return True

    def _query(self, data: bytes, end: int) -> Iterator[_Hit]:
        found = _FORM_VALUE.match(data, end - 3)
        if found and len(found[0]) >= 12:
            yield from self._hit(data, *found.span(), unquote_plus(found[0].decode("utf-8", "replace")))

    def _flag(self, data: bytes, end: int) -> Iterator[_Hit]:
        """`--api-key value` on a command line."""
        found = _FLAG.match(data, max(0, data.rfind(b"--", max(0, end - 80), end)))
        kind = self.kind(found[0].split()[0].lstrip(b"-")) if found else None
        if found and kind and found.end() >= end and found["value"][:1] not in b"$<{[":
            value = found["value"].decode("utf-8", "replace")
            if len(value) >= 4 and (kind != "weak" or _dense(value)):
                yield from self._hit(data, *found.span("value"), value)

    def _tagged(self, data: bytes, end: int) -> Iterator[_Hit]:
        """`<password>value</password>`."""
        found = _TAGGED.match(data, data.rfind(b"<", max(0, end - 100), end))
        kind = self.kind(found[1]) if found else None
        if found and kind and found.end() >= end:
            value = found[2].decode("utf-8", "replace")
            if len(value) >= 4 and (kind != "weak" or _dense(value)):
                yield from self._hit(data, *found.span(2), value)

    def _number(self, data: bytes, end: int) -> Iterator[_Hit]:
        found = re.compile(rb"[0-9]{4,32}(?=\s*[,}\]\\])").match(data, end - 3)
        behind = re.match(
            _GAP_BEHIND + rb":" + _GAP_BEHIND + rb"(?P<quote>[\"']\\*)(?P<name>[\w.\-]{1,80})(?P<before>.?)",
            data[max(0, end - 120) : end - 3][::-1],
        )
        if found and behind and self.kind(_name(behind)):
            yield from self._hit(data, *found.span(), found[0].decode(), quote=behind["quote"][::-1])

    def _userinfo(self, data: bytes, end: int) -> Iterator[_Hit]:
        found = _USERINFO.match(data, data.rfind(b"/", 0, end) + 1)
        if found and found[1][:1] not in (b"$", b"{", b"*"):
            yield from self._hit(data, *found.span(1), unquote(found[1].decode("utf-8", "replace")))

    def _scheme(self, data: bytes, end: int) -> Iterator[_Hit]:
        """`Bearer xyz` and `Basic dXNlcjpwYXNz` in running text; "basic understanding" is none."""
        space = max(data.rfind(b" ", 0, end), data.rfind(b"\t", 0, end))
        found = _CREDENTIAL.match(data, space + 1)
        if found is None:
            return
        text = found[0].decode()
        basic = data[max(0, space - 8) : space].rstrip()[-5:].lower() == b"basic"
        if (
            any(c.isdigit() for c in text)
            or "=" in text
            or (len(text) >= 16 and not basic)
            or len(text) >= 32
        ):
            yield from self._hit(data, *found.span(), text)

    def _pem(self, data: bytes, end: int) -> Iterator[_Hit]:
        start = data.rfind(b"-----BEGIN", 0, end)
        close = data.find(b"-----END ", end, end + 32768)
        found = _PEM.match(data, start, close + 80) if close >= 0 else None
        found = found or _PEM_BROKEN_OFF.match(data, start)
        if found:
            text = re.sub(r"\\+r|\r", "", re.sub(r"\\+n", "\n", found[0].decode("utf-8", "replace")))
            yield from self._hit(data, *found.span(), text)


def _last(text: str, known: str) -> list[str]:
    """The last words of a name, as many as make up the length of `known`."""
    words: list[str] = []
    length = 0
    for word in reversed(_words(text)):
        if length >= len(known):
            break
        words.insert(0, word)
        length += len(word)
    return words


def _name(behind: re.Match[bytes]) -> bytes:
    """The key of a backward match; the n of a newline that is escaped before it belongs to the newline."""
    name = behind["name"][::-1]
    before = behind.groupdict().get("before") or b""
    if before[:1] == b"\\" and name[:1] in (b"n", b"r", b"t"):
        return name[1:]
    return name


def _logprob(data: bytes, stop: int) -> bool:
    return re.compile(rb"\\*\"\s*,\s*\\*\"(?:logprob|bytes)\\*\"").match(data, stop) is not None


def _groups(pattern: re.Pattern[bytes], data: bytes) -> Iterator[_Hit]:
    for found in pattern.finditer(data):
        start, end = found.span(1) if pattern.groups and found[1] is not None else found.span()
        if start < end and not _TOKEN_BYTES.fullmatch(data, start, end):
            yield _Hit(start, end, _plain(data[start:end], 0))


def _is_json(data: bytes) -> bool:
    return (
        data[:64].lstrip()[:1] in (b"{", b"[", b'"')
        or data[:6] in (b"data: ", b"event:")
        or data[:5] == b"data:"
    )


def _hs_literal(text: str | bytes) -> str:
    return "".join(f"\\x{b:02x}" for b in (text.encode() if isinstance(text, str) else text))


def _compiles(expression: str) -> bool:
    if not expression.isascii():
        return False
    try:
        hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK).compile(
            expressions=[expression.encode()], ids=[0], flags=[_USER_FLAGS]
        )
    except hyperscan.error:
        return False
    return True


class _Database:
    """A compiled hyperscan database that any thread may use.

    hyperscan works in a scratch space, which serves one scan at a time; the spare ones wait in a list, whose
    pop and append are atomic. So threads, a signal handler in the middle of a scan, and a fork all find one
    of their own.
    """

    def __init__(self, expressions: list[bytes], flags: list[int]) -> None:
        self._db = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._db.compile(expressions=expressions, ids=list(range(len(expressions))), flags=flags)
        self._spare: list[hyperscan.Scratch] = []

    def scan(self, data: bytes, marks: list[tuple[int, int]]) -> None:
        """Append (expression, end of match) for all matches."""
        try:
            scratch = self._spare.pop()
        except IndexError:
            scratch = self._db.scratch.clone()

        def mark(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            marks.append((index, end))

        self._db.scan(data, match_event_handler=mark, scratch=scratch)
        self._spare.append(scratch)


@lru_cache(maxsize=16)
def _finder(rules: SecretRules) -> _Finder:
    return _Finder(rules)  # some 50 ms, so once for all redactors of a process


class _Known:
    """The exact values, each as it may be spelled: as it is, in JSON (up to four deep), in a URL."""

    def __init__(self, values: Iterable[str]) -> None:
        self.spelled: list[tuple[bytes, str]] = []
        for value in sorted(values):
            spellings = {value, quote(value, safe=""), quote_plus(value), quote(value)}
            for ascii_ in (False, True):
                text = value
                for _ in range(4):
                    text = json.dumps(text, ensure_ascii=ascii_)[1:-1]
                    spellings.add(text)
            self.spelled += [(s.encode("utf-8", "surrogateescape"), value) for s in sorted(spellings)]
        self._db = (
            _Database([_hs_literal(s).encode() for s, _ in self.spelled], [0] * len(self.spelled))
            if self.spelled
            else None
        )

    def find(self, data: bytes) -> list[_Hit]:
        if self._db is None:
            return []
        marks: list[tuple[int, int]] = []
        self._db.scan(data, marks)
        hits = []
        for index, end in marks:
            spelling, value = self.spelled[index]
            start = end - len(spelling)
            # A value that is a word must stand as a word: hiding "sunshine" must not hurt "sunshines".
            word = value.isalpha() and not (
                _boundary(data, start) and (end == len(data) or data[end] not in _ALNUM)
            )
            if not word:
                hits.append(_Hit(start, end, value, whole=True))
        return hits


# --- replacing ----------------------------------------------------------------------------------------------


class Redactor:
    """Replaces secrets by tokens. One per recording (the salt is the recording's); any thread may use it."""

    def __init__(
        self,
        rules: SecretRules = DEFAULT_RULES,
        *,
        salt: bytes,
        environ: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._salt = salt
        self._finder = _finder(rules)
        self._lock = threading.Lock()
        self._values = set(rules.values)
        self._stale = True
        for name, value in environ.items():
            if self._named(name) and not _PATHLIKE.fullmatch(value) and value.lower() not in _COMMON_VALUES:
                self.learn(value)
        self._known = _Known(self._values)
        self._stale = False
        self._tokens: dict[str, str] = {}

    def learn(self, value: str) -> None:
        """Replace this value wherever it stands from now on (of "Bearer xyz": xyz), if not too short."""
        scheme = re.match(r"(?i)\s*(?:bearer|basic)\s+", value)
        text = (value[scheme.end() :] if scheme else value).strip()
        if len(text) < 8 or _TOKEN.search(text) or text in self._values:
            return
        with self._lock:
            self._values.add(text)
            self._stale = True

    def line(self, data: bytes) -> bytes:
        """One event's JSON without its secrets: the same object where there are none, JSON in any case."""
        hits = self._hits(data)
        return self._clean(data, hits, json_=True) if hits else data

    def raw(self, data: bytes) -> bytes:
        """Any bytes (text, a form, JSON, binary; decompressed), without their secrets."""
        hits = self._hits(data)
        return self._clean(data, hits, json_=_is_json(data)) if hits else data

    def body(self, data: bytes, encoding: str = "") -> bytes:
        """A body under a Content-Encoding (gzip, deflate, br, zstd): the same object where it is clean.

        What had secrets is packed again in the same way, so that a replay can unpack it as the program
        expects. What does not unpack, or needs a library that is not there, is cleaned as plain bytes:
        nobody here can read it.
        """
        codings = [_CODINGS[c] for c in re.split(r"[\s,]+", encoding.strip().lower()) if c in _CODINGS]
        plain = data
        try:
            for unpack, _ in reversed(codings):
                plain = unpack(plain)
        except Exception:
            return self.raw(data)
        clean = self.raw(plain)
        if clean is plain:
            return data
        for _, pack in codings:
            clean = pack(clean)
        return clean

    def secret(self, label: str, value: str) -> str:
        """The token for a value that the caller knows to be secret; it is learned, too.

        `label` tells the reader of the calling code what it is. The token's own label comes from the value's
        shape, since the same value found elsewhere has to get the same token.
        """
        if not value or _TOKEN.fullmatch(value):
            return value
        self.learn(value)
        return self._token(value)

    def env(self, name: str, value: str) -> str:
        """What to record for the reading of an environment variable."""
        if self._named(name) and len(value) >= 4 and not _PATHLIKE.fullmatch(value):
            return self.secret(name, value)
        return self.raw(value.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def stream(self) -> StreamRedactor:
        """A redactor for one body that arrives chunk by chunk."""
        return StreamRedactor(self)

    def _named(self, name: str) -> bool:
        """Does this environment variable hold a secret, by its name?"""
        return _secret_variable(name) or self._finder.kind(name.encode("utf-8", "replace")) == "strong"

    def _token(self, value: str) -> str:
        value = value.strip()
        token = self._tokens.get(value)
        if token is None:
            label = next((label for label, shape in _LABELS if shape.fullmatch(value)), "secret")
            digest = hmac.digest(self._salt, value.encode("utf-8", "surrogatepass"), "sha256").hex()[:8]
            token = f"[[secret:{label}:{digest}]]"
            if len(self._tokens) < 4096:
                self._tokens[value] = token
        return token

    def _exact(self) -> _Known:
        if self._stale:  # compiled when needed, not when learned: values often come several at a time
            with self._lock:
                self._known, self._stale = _Known(self._values), False
        return self._known

    def _hits(self, data: bytes) -> list[_Hit]:
        """The secrets in data in order, none overlapping, none touching a token that is there already."""
        hits = self._finder.find(data) + self._exact().find(data)
        if not hits:
            return hits
        tokens = [t.span() for t in _TOKEN_BYTES.finditer(data)] if b"[[secret:" in data else []
        merged: list[_Hit] = []
        for hit in sorted(hits, key=lambda h: (h.start, -h.end)):
            if any(
                s < hit.end and hit.start < e and not (hit.start <= s and e <= hit.end) for s, e in tokens
            ):
                continue
            last = merged[-1] if merged else None
            if last is None or hit.start >= last.end:
                merged.append(hit)
            elif hit.end > last.end:  # they overlap: hide all of both
                text = _plain(data[last.start : hit.end], 0)
                merged[-1] = _Hit(last.start, hit.end, text, last.quote)
        return merged

    def _clean(self, data: bytes, hits: list[_Hit], *, json_: bool) -> bytes:
        # Where two secrets touch, the second is seen only when a token stands before it: hence not once, but
        # until nothing is found. So what comes out is what comes out again (and the second look costs
        # microseconds).
        for _ in range(8):
            clean = self._cover(data, hits, json_=json_)
            if clean == data:
                break
            data, hits = clean, self._hits(clean)
            if not hits:
                break
        return data

    def _cover(
        self, data: bytes, hits: list[_Hit], *, json_: bool, start: int = 0, end: int | None = None
    ) -> bytes:
        """data[start:end] with the hits replaced."""
        stop = len(data) if end is None else end
        out: list[bytes] = []
        at = start
        for found in hits:
            hit = _fit(data, found) if json_ else found
            if hit.end <= at or hit.end > stop or hit.start >= hit.end:
                continue
            out += (data[at : max(at, hit.start)], hit.quote, self._token(hit.value).encode(), hit.quote)
            at = hit.end
        out.append(data[at:stop])
        return b"".join(out)


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_UNICODE_ESCAPE = re.compile(rb"\\u[0-9a-fA-F]{0,3}\Z")


def _slashes(data: bytes, at: int) -> int:
    piece = data[max(0, at - 64) : at]
    return len(piece) - len(piece.rstrip(b"\\"))


def _fit(data: bytes, hit: _Hit) -> _Hit:
    """The hit, moved so that JSON stays JSON: it cuts no escape, and keeps to one string or number."""
    start, end = hit.start, hit.end
    if hit.quote:
        return hit
    text = data[start:end]
    if (hit.whole and not text.strip(b"0123456789.+-eE")) or b'"' in text:
        return _fit_string(data, hit)
    if _slashes(data, start) % 2:
        start -= 1
    elif cut := _UNICODE_ESCAPE.search(data, max(0, start - 5), start):
        start = cut.start() if _slashes(data, cut.start()) % 2 == 0 else start
    return _Hit(start, _fit_end(data, start, end), hit.value)


def _fit_end(data: bytes, start: int, end: int) -> int:
    if _slashes(data, end) % 2:
        end += 5 if data[end : end + 1] == b"u" else 1
    elif cut := _UNICODE_ESCAPE.search(data, max(start, end - 5), end):
        end = cut.start() + 6 if _slashes(data, cut.start()) % 2 == 0 else end
    return end


def _fit_string(data: bytes, hit: _Hit) -> _Hit:
    """The slow way, for what may reach across quotes or stand outside of any: walk all strings."""
    for string in _STRING.finditer(data):
        inner_start, inner_end = string.start() + 1, string.end() - 1
        if inner_end <= hit.start:
            continue
        if inner_start >= hit.end:
            break
        start, end = max(hit.start, inner_start), min(hit.end, inner_end)
        return (
            _fit(data, _Hit(start, end, hit.value))
            if b'"' not in data[start:end]
            else _Hit(
                start - _slashes(data, start) % 2, min(_fit_end(data, start, end), inner_end), hit.value
            )
        )
    number = re.compile(rb"[0-9.+\-eE]+")
    start = hit.start - (len(data[: hit.start]) - len(data[: hit.start].rstrip(b"0123456789.+-eE")))
    found = number.match(data, start)
    return _Hit(start, found.end(), hit.value, b'"') if found else _Hit(hit.start, hit.start, "")


# --- compressed bodies --------------------------------------------------------------------------------------


def _inflate(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return zlib.decompress(data, -zlib.MAX_WBITS)  # many servers send "deflate" without its header


def _library(name: str) -> Any:
    return importlib.import_module(name)  # whoever gets such a body has the library to read it


_CODINGS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "gzip": (gzip.decompress, lambda data: gzip.compress(data, mtime=0)),
    "x-gzip": (gzip.decompress, lambda data: gzip.compress(data, mtime=0)),
    "deflate": (_inflate, zlib.compress),
    "br": (lambda data: _library("brotli").decompress(data), lambda data: _library("brotli").compress(data)),
    "zstd": (
        lambda data: _library("zstandard").ZstdDecompressor().decompressobj().decompress(data),
        lambda data: _library("zstandard").ZstdCompressor().compress(data),
    ),
}


# --- streams ------------------------------------------------------------------------------------------------

_CONTEXT = 256  # how much of what was written is kept to recognise what follows
_MOST_HELD = 65536
_RUN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./+="
_OPEN_SHAPES = tuple(
    # A dot at the end of a chunk may go on, so here a further part may be empty.
    (s, re.compile(f"{re.escape(s.prefix)}{s.chars}*{_TAILS.get(s.label, '').replace('+', '*')}".encode()))
    for s in _SHAPES
)
_BEGINNINGS = {s.prefix[:n].encode(): s.strict for s in _SHAPES for n in range(2, len(s.prefix) + 1)}
_OPEN_URL = re.compile(rb"://[^\s/:@\"'\\?#<>]*:([^\s/\"'\\?#<>]*)\Z")
_OPEN_BARE = re.compile(
    rb"(?P<value>[^\s&\"'\\=:]{0,40})[ \t]{0,4}(?P<sep>[:=])[ \t]?(?P<name>[\w.\-]{1,80})(?P<before>.?)",
    re.DOTALL,
)
_DELTA = re.compile(
    rb'"(content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|input|refusal'
    rb'|completion|response|generated_text|transcript)"\s*:\s*"((?:[^"\\]|\\.)*)"'
)
_INDEX = re.compile(rb'"(?:index|output_index|content_index|item_id)"\s*:\s*("[^"]*"|\d+)')


class StreamRedactor:
    """One body, chunk by chunk: what `chunk` returns may be written at once.

    Where a chunk ends within what may be a secret, that part is left out, and nothing else. The next chunk
    decides: the token is written where the secret ends, or, if it was none, the text that was left out. So
    all chunks together read like the whole body redacted at once (but for a split within the first characters of
    a secret: one of a prefix, three of a known value may be out before anything can be told from them). `end`
    gives what the last chunk left out; whoever does not call it may lose the last word of a body.
    """

    def __init__(self, redactor: Redactor, *, text: bool = False) -> None:
        self._redactor = redactor
        self._written = b""  # the end of what was passed on, as it was before redaction
        self._held = b""
        self._skip: re.Pattern[bytes] | None = None
        self._json = False
        self._deltas: _Deltas | None = None
        self._begun = text

    def chunk(self, data: bytes) -> bytes:
        """The chunk, redacted, to be written now."""
        if not self._begun and data.strip():
            self._begun, self._json = True, _is_json(data)
            if data.lstrip()[:1] in (b"{", b":") or re.match(rb"\s*(?:data|event|id|retry):", data):
                self._deltas = _Deltas(self._redactor)
        if self._deltas is not None:
            data = self._deltas.chunk(data)
        return self._feed(data)

    def end(self) -> bytes:
        """What the last chunk left out: empty but for a body that ends in a secret, or in what may be one."""
        rest = self._deltas.end() if self._deltas is not None else b""
        buffer, done = self._written + self._held + rest, len(self._written)
        self._held, self._written = b"", b""
        return self._redactor._cover(buffer, self._redactor._hits(buffer), json_=self._json, start=done)

    @property
    def pending(self) -> bool:
        """Is anything left out at the moment?"""
        return bool(self._held)

    def _feed(self, data: bytes) -> bytes:
        if self._skip is not None:
            found = self._skip.search(data)
            if found is None:
                return b""
            data, self._skip = data[found.start() :], None
        if not data:
            return b""
        buffer, done = self._written + self._held + data, len(self._written)
        hits = self._redactor._hits(buffer)
        hold = self._open(buffer, hits)
        for hit in reversed(hits):
            hold = hit.start if hit.start < hold < hit.end else hold
        hold = max(done, hold)
        if len(buffer) - hold > _MOST_HELD:  # no secret is so long, but a value under a secret name may be
            self._skip = re.compile(rb"[\"']" if hits and hits[-1].end == len(buffer) else rb"[\s\"'&]")
            token = self._redactor._token(buffer[hold:].decode("utf-8", "replace")).encode()
            out = self._redactor._cover(buffer, hits, json_=self._json, start=done, end=hold) + token
            self._written, self._held = b"", b""
            return out
        out = self._redactor._cover(buffer, hits, json_=self._json, start=done, end=hold)
        self._written, self._held = buffer[max(0, hold - _CONTEXT) : hold], buffer[hold:]
        return out

    def _open(self, buffer: bytes, hits: list[_Hit]) -> int:
        """Where a secret may begin that is not finished at the end of the buffer; else its length."""
        starts = [len(buffer)]
        if hits and hits[-1].end == len(buffer) and not hits[-1].whole:
            starts.append(hits[-1].start)
        starts += self._open_shape(buffer)
        for spelling, _ in self._redactor._exact().spelled:
            at = buffer.find(spelling[:4], max(0, len(buffer) - len(spelling) + 1))
            while at >= 0:
                if spelling.startswith(buffer[at:]):
                    starts.append(at)
                    break
                at = buffer.find(spelling[:4], at + 1)
        if self._redactor._finder.kind is not None:
            bare = _OPEN_BARE.match(buffer[-200:][::-1])
            if bare and bare["value"] and self._redactor._finder.kind(_name(bare)):
                starts.append(len(buffer) - len(bare["value"]))
        scheme = buffer.rfind(b"://", -600)
        url = _OPEN_URL.match(buffer, scheme) if scheme >= 0 else None
        if url:
            starts.append(url.start(1))
        pem = buffer.rfind(b"-----BEGIN", -48)
        if pem >= 0 and b"-----" not in buffer[pem + 10 :]:
            starts.append(pem)
        return min(starts)

    @staticmethod
    def _open_shape(buffer: bytes) -> Iterator[int]:
        end = len(buffer)
        run = end - len(buffer[-4096:]) + len(buffer[-4096:].rstrip(_RUN))
        if buffer[max(0, run - 7) : run].rstrip(b" \t").lower().endswith((b"bearer", b"basic")):
            yield run
        for shape, pattern in _OPEN_SHAPES:
            prefix = shape.prefix.encode()
            at = buffer.find(prefix, run)
            while at >= 0:
                if _boundary(buffer, at, strict=shape.strict) and pattern.fullmatch(buffer, at):
                    yield at
                    break
                at = buffer.find(prefix, at + 1)
        for length in range(2, min(26, end - run + 1)):
            strict = _BEGINNINGS.get(buffer[end - length :])
            if strict is not None and _boundary(buffer, end - length, strict=strict):
                yield end - length


class _Deltas:
    """Events of a model's stream, each with a few characters: a secret may be spelled over many.

    The texts of each channel (a field, at an index) go through a stream of their own. What that holds back
    appears in the channel's next event; and where none follows, in a copy of its last event, put before the
    event that ends it.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._channels: dict[tuple[bytes, ...], tuple[StreamRedactor, bytes, tuple[int, int]]] = {}
        self._part = b""  # the beginning of a line that the chunks cut; it is out already
        self._event = b""  # the last "event:" line

    def chunk(self, data: bytes) -> bytes:
        out = []
        for line in data.splitlines(keepends=True):
            whole = self._part + line
            ready = line.endswith((b"\n", b"\r")) or whole.rstrip().endswith(b"}")
            out.append(self._line(whole, len(self._part)) if ready else line)
            self._part = b"" if ready else whole
        return b"".join(out)

    def end(self) -> bytes:
        return b"".join(self._flush(key) for key in list(self._channels))

    def _line(self, line: bytes, out: int) -> bytes:
        """A complete line, of which `out` bytes are written already."""
        if line.startswith(b"event:"):
            ended = self._event not in (b"", line)
            self._event = line
            return (self.end() if ended else b"") + line[out:]
        if line[:5] != b"data:" and line[:1] != b"{":
            return line[out:]
        index = tuple(_INDEX.findall(line))
        pieces, at, seen = [], out, set()
        for delta in _DELTA.finditer(line):
            key = (delta[1], *index)
            if delta.start(2) < out or key in seen:
                continue
            seen.add(key)
            pieces += [line[at : delta.start(2)], self._delta(key, line, delta)]
            at = delta.end(2)
        before = b""
        if not out and not (seen and self._event):
            before = b"".join(
                self._flush(k)
                for k in list(self._channels)
                if k not in seen and (not index or k[1:] == index)
            )
        return before + b"".join(pieces) + line[at:]

    def _delta(self, key: tuple[bytes, ...], line: bytes, delta: re.Match[bytes]) -> bytes:
        stream = (
            self._channels[key][0] if key in self._channels else StreamRedactor(self._redactor, text=True)
        )
        self._channels[key] = (
            stream,
            self._event + line,
            (len(self._event) + delta.start(2), len(self._event) + delta.end(2)),
        )
        try:
            text = json.loads(b'"' + delta[2] + b'"').encode()
        except (ValueError, UnicodeEncodeError):
            return delta[2]
        given = stream.chunk(text)
        return (
            delta[2]
            if given == text
            else json.dumps(given.decode("utf-8", "replace"), ensure_ascii=False)[1:-1].encode()
        )

    def _flush(self, key: tuple[bytes, ...]) -> bytes:
        stream, event, (start, end) = self._channels[key]
        if not stream.pending:
            return b""
        text = json.dumps(stream.end().decode("utf-8", "replace"), ensure_ascii=False)[1:-1].encode()
        last = event[:start] + text + event[end:]
        return last if last.startswith(b"{") else last.rstrip(b"\r\n") + b"\n\n"
