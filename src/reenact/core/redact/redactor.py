"""The redactor: the interface of this package."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.patterns import lazy
from reenact.core.redact.bodies import clean_body
from reenact.core.redact.body_stream import StreamRedactor
from reenact.core.redact.late import LateSecrets, tokens_in
from reenact.core.redact.members import JsonMember, Members
from reenact.core.redact.names import is_common, is_of_format, is_path
from reenact.core.redact.replace import Replacer
from reenact.core.redact.rules import DEFAULT_RULES, SecretRules
from reenact.core.redact.shapes import TOKEN
from reenact.core.redact.text import is_json
from reenact.core.redact.wide import clean_wide, may_be_wide, wide_encoding

_SCHEME = lazy(r"(?i)\s*(?:bearer|basic)\s+")
_LEAST = 8  # characters, or it would be found in words
_LEAST_TYPED = 3


class Redactor:
    """Replaces secrets by tokens. One per recording, with its salt. Safe for threads.

    Args:
        rules: The rules.
        salt: The recording's salt.
        environ: The environment, whose secrets are known from the beginning.
        typed: Look for short values of secret fields, too; recordings of earlier matching rules have them elsewhere.
    """

    def __init__(
        self,
        rules: SecretRules = DEFAULT_RULES,
        *,
        salt: bytes,
        environ: Mapping[str, str] = MappingProxyType({}),
        typed: bool = True,
    ) -> None:
        self._replacer = Replacer(rules, salt, self._learnt)
        self._members = Members(self.line)
        self._rules = rules
        self.salt = salt
        self._typed = typed
        self._late: list[str] = []
        self.patterns = bool(rules.patterns)
        """True with patterns of the user, which may look beyond one member of an object."""
        self.learnt = 0
        """The number of learnt values: text found clean before the last one is searched again."""
        self._variable = self._replacer.names.variable
        for name, value in environ.items():
            if self._variable(name) and not is_path(value) and not is_common(value):
                self.learn(value)

    def header_rules(self) -> dict[str, Tree]:
        """Return the rules for a recording's header, so that its replay replaces the same.

        They leave out exact values, and patterns that contain a secret.
        """
        texts = {pattern: codec.packed(pattern) for pattern in self._rules.patterns}
        patterns = [pattern for pattern, text in texts.items() if self.line(text) == text]
        rules: dict[str, Tree] = {"names": sorted(self._rules.names), "headers": sorted(self._rules.headers)}
        return {**rules, "patterns": patterns} if patterns else rules

    def learn(self, value: str) -> None:
        """Replace this value from now on (of "Bearer xyz": xyz), unless it is too short."""
        scheme = _SCHEME.match(value)
        text = value[scheme.end() if scheme else 0 :].strip()
        if len(text) < _LEAST or TOKEN.search(text.encode("utf-8", "surrogatepass")):
            return
        if self._replacer.learn(text):
            self._learnt()

    def _learnt(self) -> None:
        self.learnt += 1
        self._members.forget()

    def _learn_typed(self, value: str) -> None:
        text = value.strip()
        if len(text) < _LEAST_TYPED or is_common(text) or is_of_format(text):
            return
        if not TOKEN.search(text.encode("utf-8", "surrogatepass")) and self._replacer.learn(text, typed=True):
            self._learnt()
            self._late.append(text)

    def late(self) -> LateSecrets | None:
        """Return the values of secret fields learnt since the last call; None if there are none."""
        values, self._late = self._late, []
        return LateSecrets(self._replacer, values) if values else None

    def line(self, data: bytes) -> bytes:
        """Redact one event's JSON. Returns the same object if it is clean, and always valid JSON."""
        return self._replacer.clean(data, json_=True)

    def member(self, name: str, text: str) -> JsonMember | None:
        """Redact a member of an object; None for a flag or text that JSON cannot hold."""
        return self._members.get(name, text)

    def members(self, texts: dict[str, str]) -> list[JsonMember] | None:
        """Redact an object of texts (headers) by member; None if `line` must see it whole."""
        return self._members.object(texts)

    def tree(self, name: str, tree: Tree) -> Tree:
        """Redact the tree of an argument of that name, as `line` redacts that argument alone."""
        if type(tree) is dict and (members := self._members.object(tree)) is not None:
            return {member.name: member.text for member in members}
        data = codec.dumps({name: tree})
        clean = self.line(data)
        return tree if clean is data else next(iter(codec.loads(clean).values()))

    def raw(self, data: bytes) -> bytes:
        """Return bytes (text, a form, JSON, binary; decompressed) without their secrets."""
        encoding = wide_encoding(data) if may_be_wide(data) else ""
        return clean_wide(data, encoding, self._plain) if encoding else self._plain(data)

    def _plain(self, data: bytes) -> bytes:
        return self._replacer.clean(data, json_=is_json(data))

    def body(self, data: bytes, encoding: str = "") -> bytes:
        """Redact a body with a Content-Encoding (gzip, deflate, br, zstd). A clean one is returned.

        A body with secrets is packed again in the same way, so that a replay can unpack it as the program
        expects. A body that does not unpack, or needs a missing library, is cleaned as plain bytes.
        """
        return clean_body(data, encoding, self.raw)

    def secret(self, label: str, value: str, *, typed: bool = False) -> str:
        """Return the token for a value that the caller knows to be secret, and learn it.

        A `typed` value was written into a secret field, and is learned though it is short.
        `label` tells the reader of the calling code what it is. The token's own label comes from the value's
        shape, since the same value found elsewhere has to get the same token.
        """
        if not value or TOKEN.fullmatch(value.encode("utf-8", "surrogatepass")):
            return value
        if typed and self._typed:
            self._learn_typed(value)
        else:
            self.learn(value)
        return self._replacer.token(value)

    def recognise(self, clean: str, text: str) -> bool:
        """Learn the values in one text that are tokens in another; return True if there are any.

        Args:
            clean: A recorded text.
            text: The same text with its secrets.
        """
        if not self._typed or clean == text:
            return False
        before = self.learnt
        for value in tokens_in(clean, text, self._replacer.token):
            self._learn_typed(value)
        return self.learnt > before

    def env(self, name: str, value: str) -> str:
        """Return the value to record for an environment variable."""
        if self._variable(name) and len(value) >= 4 and not is_path(value):
            return self.secret(name, value)
        return self.raw(value.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def stream(self) -> StreamRedactor:
        """Return a redactor for one body that arrives chunk by chunk."""
        return StreamRedactor(self._replacer)
