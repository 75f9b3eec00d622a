"""The names of keys, headers and environment variables that mean a secret."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise

from reenact.core.patterns import lazy
from reenact.core.redact.rules import DEFAULT_RULES, SecretRules, word_set

NUMERIC = (b"password", b"passwd", b"passcode", b"pin", b"cvv", b"cvc", b"otp", b"ssn", b"code")
"""Under these names a number is a secret, too."""

# These stand as often for something harmless ("auth": "oauth2", the "token" of log probabilities), so that
# their values must look like a secret, too.
_WEAK = word_set("token auth session credential credentials pass pwd")
# Tokens that are no secret: cursors that a program hands back, and the special tokens of a tokenizer.
_HARMLESS = tuple(
    f"{kind}token"
    for kind in word_set(
        "page next continuation continue sync cancellation resume cursor eos bos pad unk mask sep cls "
        "stop start end special previous"
    )
)
_ENV_PARTS = word_set("secret secrets password passwd passphrase credential credentials token apikey pat")
_ENV_PAIRS = word_set("api access secret private signing encryption master account service license auth")
_ENV_HARMLESS_ENDS = word_set(
    "file path dir url uri endpoint id name arn type ttl length policy helper store manager sock socket "
    "bus address enabled count limit region version timeout size parallelism expiry algorithm issuer "
    "audience desktop"
)
# Too common as ordinary words to be hidden wherever they stand, whatever variable holds them.
_COMMON_VALUES = word_set(
    "password postgres changeme localhost undefined disabled required anonymous default"
)
# The words of a recording's own lines: replaced there, they would be no valid events.
_FORMAT_WORDS = word_set(
    "true false null none main "
    "opened called returned raised cancelled chunk ended closed drew fired locked files noted printed same snapshot "
    "spawned sealed "
    "model tool http browser process memory websocket heal shell state clock random env "
    "block program imported fork resume ok error hole source race resumed asked every risky end "
    "first change outside command file folder link ignored secret large unread listed script agent"
)
_PLACEHOLDERS = word_set(
    "none null true false undefined string required optional str bytes secretstr redacted empty password"
)
_PATHLIKE = lazy(r"(?:~|\.{1,2})?/[\w.\-]+(?:/[\w.\-@ ]+)+/?|[A-Za-z]:\\.*")
_NOT_DENSE = lazy(r"\s|://")
_DIGIT = lazy(r"\d")


# Names that are harmless for a form's field; and names that only forms have.
_NO_FIELDS = word_set("auth authorization session cookie setcookie credential credentials")
_OF_FORMS = word_set(
    "2fa mfa csc cvv cvc passkey pincode mnemonic iban apikey accesscode authcode smscode logincode unlockcode "
    "personalaccesstoken socialsecurity creditcard debitcard cardnumber cardnum cardno creditcardnumber "
    "ccnumber ccnum ccno cccsc ccexp taxid"
)


_WORD = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def normal(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def words_of(name: str) -> list[str]:
    """Return the words of a name: "X-Api_keyID" is x, api, key, id."""
    return [w.lower() for w in _WORD.findall(name)]


def _ends_in_word(name: str, known: str) -> bool:
    """Return True if a name's last words make up `known`: "db_pin" ends in "pin", "spin" not."""
    end = ""
    for word in reversed(words_of(name)):
        if len(end) >= len(known):
            break
        end = word + end
    return end == known


class Names:
    """The names of some rules."""

    def __init__(self, rules: SecretRules) -> None:
        self._names = sorted({normal(n) for n in rules.names} - {""}, key=len, reverse=True)
        self._endings = tuple(self._names)
        self._headers = {normal(h) for h in rules.headers}
        self.headers = {h.lower() for h in rules.headers}
        # Of several spellings, the one with most words: it allows separators.
        by_words = sorted(rules.names | rules.headers, key=lambda n: (len(words_of(n)), n))
        spelled = {normal(n): n for n in by_words if normal(n)}
        self.ends = {n: words for n, words in spelled.items() if not n[1:].endswith(tuple(spelled))}
        """Endings of secret names, without separators and as in the rules: "client_secret"."""
        self.kind = lru_cache(maxsize=4096)(self._kind)

    def _kind(self, name: bytes) -> str | None:
        """Classify a key's name: "header", "cookie", "strong" (secret), "weak" (perhaps), None."""
        text = name.decode("utf-8", "replace").strip()
        norm = normal(text)
        if norm in self._headers:
            return "cookie" if norm.endswith("cookie") else "header"
        if norm.endswith(_HARMLESS) or not norm.endswith(self._endings):
            return None
        for known in self._names:
            if norm.endswith(known) and (len(known) >= 6 or _ends_in_word(text, known)):
                return "cookie" if known.endswith("cookie") else "weak" if known in _WEAK else "strong"
        return None

    def variable(self, name: str) -> bool:
        """Return True if an environment variable of this name holds a secret."""
        return _secret_variable(name) or self.kind(name.encode("utf-8", "replace")) == "strong"


def _secret_variable(name: str) -> bool:
    words = words_of(name)
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
        or normal(name) in {"pgpassword", "auth", "authorization"}
    )


def field_names() -> list[str]:
    """Return the names of secret fields without separators: the redactor's, and those of forms."""
    return sorted(({normal(name) for name in DEFAULT_RULES.names} | _OF_FORMS) - _NO_FIELDS)


@cache
def _of_fields() -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """Return the names of secret fields, and those by which a word may begin and end."""
    names = frozenset(field_names())
    return names, tuple(n for n in names if len(n) >= 8), tuple(n for n in names if len(n) >= 5)


_MOST_WORDS = 4  # of one such name


def says_secret(text: str) -> bool:
    """Return True if a selector or label names a secret field; `secret` in `eyes.js` agrees."""
    words = words_of(text[:2000])
    names, begins, ends = _of_fields()
    return any(word.startswith(begins) or word.endswith(ends) for word in words) or any(
        "".join(words[at : at + count]) in names
        for at in range(len(words))
        for count in range(1, _MOST_WORDS + 1)
    )


def is_placeholder(value: bytes) -> bool:
    """Return True for a placeholder of a secret in documents, forms and programs."""
    return value.strip().lower().decode("utf-8", "replace") in _PLACEHOLDERS or value.startswith(
        (b"{{", b"${", b"<%", b"$(")
    )


def is_path(value: str) -> bool:
    return _PATHLIKE.fullmatch(value) is not None


def is_common(value: str) -> bool:
    return value.lower() in _COMMON_VALUES


def is_of_format(value: str) -> bool:
    """Return True for a word that a recording's own lines are made of."""
    return value.lower() in _FORMAT_WORDS


def dense(value: str) -> bool:
    """Return True for a value that looks like a secret, not like a word."""
    if len(value) < 8 or _NOT_DENSE.search(value) or is_path(value):
        return False
    return len(value) >= 16 or _DIGIT.search(value) is not None
