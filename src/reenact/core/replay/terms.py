"""Translate questions to the recording's form, with tokens in place of secrets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from reenact.core.model import codec
from reenact.core.model.event import Effect, Tree
from reenact.core.model.log import Log
from reenact.core.model.putback import SECRET_BEGINS
from reenact.core.redact import Redactor
from reenact.core.replay import match
from reenact.errors import Mismatch


class Terms:
    """Puts values into a recording's terms.

    Args:
        log: The recorded process.
        redactor: Built with the recording's salt, so that a secret becomes the recorded token.
    """

    def __init__(self, log: Log, redactor: Redactor) -> None:
        self._redactor = redactor
        paths = [path for path, _ in (*log.fired, *log.draws)]
        names = [name for call in log.calls.values() for name in (call.called["at"], call.called["name"])]
        self.masked = SECRET_BEGINS in "\n".join((*paths, *names))
        """True if names of scopes or questions held secrets."""
        self._names: dict[str, str] = {}
        self._learnt = 0

    def args(self, effect: Effect) -> dict[str, Tree]:
        """Return an effect's arguments as trees, with their secrets."""
        return {
            name: value if codec.is_own_tree(value) else self._arg(value)
            for name, value in effect.args.items()
        }

    def _arg(self, value: Any) -> Tree:
        if match.is_texts(value):
            return dict(value)
        return codec.Encoder(raw=self._redactor.raw, blob=_address).encode(value)

    def clean_args(self, args: dict[str, Tree], names: Iterable[str] | None = None) -> None:
        """Put tokens in the place of secrets: in all arguments, or in each of those named."""
        for name in names or ():
            args[name] = self._redactor.tree(name, args[name])
        if names is None:
            raw = codec.dumps(args)
            args.clear()
            args |= codec.loads(self._redactor.line(raw))

    def tree(self, value: Any) -> Tree:
        """Return a value as the recording would have it."""
        return self.clean(codec.Encoder(raw=self._redactor.raw, blob=_address).encode(value))

    def value(self, value: Any) -> Tree:
        """Return the value of an outcome as the recording would have it."""
        tree = codec.Encoder(raw=self._redactor.raw, blob=_address).encode(value)
        return self.clean({"value": tree})["value"]

    def clean(self, tree: Tree) -> Tree:
        """Return a tree without its secrets."""
        return codec.loads(self._redactor.line(codec.dumps(tree)))

    def raw(self, data: bytes) -> bytes:
        """Return bytes without their secrets."""
        return self._redactor.raw(data)

    def recognise(self, differences: Iterable[Mismatch]) -> bool:
        """Learn the secrets that the actual texts have in place of tokens; True if there are any.

        The program may have them in its code, and the recorded run recognised them only later.
        """
        found = [
            self._redactor.recognise(one.recorded, one.actual)
            for one in differences
            if isinstance(one.recorded, str) and isinstance(one.actual, str) and SECRET_BEGINS in one.recorded
        ]
        return any(found)

    def output(self, recorded: Any, actual: Mapping[str, Tree]) -> Any:
        """Return a recorded output with tokens in the place of the secrets that its program printed.

        In a replay the program has the tokens, and prints them.
        """
        if isinstance(recorded, dict) and self.recognise(
            [Mismatch("stdout", actual.get("text"), recorded.get("text"))]
        ):
            recorded = dict(recorded)
            self.clean_args(recorded)
        return recorded

    def secret(self, value: str, *, typed: bool = False) -> str:
        """Return the recorded token for a value known to be secret."""
        return self._redactor.secret("", value, typed=typed)

    def name(self, text: str) -> str:
        """Return a scope path or effect name as it was recorded, with its secrets as tokens."""
        if not self.masked:
            return text
        if self._learnt != self._redactor.learnt:
            self._names, self._learnt = {}, self._redactor.learnt
        known = self._names.get(text)
        if known is None:
            known = self._names[text] = codec.loads(self._redactor.line(codec.dumps({"at": text})))["at"]
        return known


def _address(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
