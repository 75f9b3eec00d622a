"""A home's trusted keys, the foreign programs that its user has allowed, and its proofs.

    trusted.jsonl    `{"key": "ed25519:…", "name": "ann"}`; with `"name": null` the key is no longer trusted. The key of
                     a team's project is called `project NAME`
    accepted.jsonl   `{"content": "…", "id": "…"}`: a recording with exactly that content
    proved.jsonl     the same with `"times": 5`, `at` and `conditions`: `reenact prove` replayed it so often, each time
                     faithfully; with `"times": 0` it no longer holds

They lie beside the home's key, outside of the home. Lines are appended, so that several processes may write at once. A
file that other users may write or read is ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from reenact.core import system
from reenact.core.patterns import lazy
from reenact.core.trust.identity import KEY, Identity, fingerprint, is_private, kept, unwritable
from reenact.core.trust.origin import PROJECT, Origin, Provenance, Seal, Where
from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.core.query.summary import Summary

TRUSTED, ACCEPTED, PROVED = "trusted.jsonl", "accepted.jsonl", "proved.jsonl"
NAME = lazy(r"[\w.@+-]{1,64}", re.ASCII)


class Book:
    """The keys that one home trusts, as read at creation.

    Args:
        home: The home.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self.identity = Identity.of(home)
        self.keys: dict[str, str] = {}
        """The names of the trusted keys, by key."""
        self._removed: set[str] = set()
        for line in self._lines(TRUSTED):
            key, name = line.get("key"), line.get("name")
            if isinstance(key, str) and KEY.fullmatch(key):
                self.keys.pop(key, None)
                if isinstance(name, str) and NAME.fullmatch(name.removeprefix(PROJECT)):
                    self.keys[key] = name
                else:
                    self._removed.add(key)

    def standing(self, origin: Origin) -> Provenance:
        """Return the standing in this home of a recording of that origin."""
        if origin.here or (origin.key and origin.key == self._own):
            return Provenance(Where.HOME, origin.seal, key=origin.key)
        name = self.keys.get(origin.key) or self.keys.get(origin.endorser, "")
        if name:
            return Provenance(Where.TRUSTED, origin.seal, name, origin.key)
        return Provenance(Where.FOREIGN, origin.seal, key=origin.key)

    def of_line(self, line: Summary) -> Provenance | None:
        """Return a recording's standing by its line of a list; None if the line lacks it.

        Lists come from an index. Only a home with a key can distinguish its own from a downloaded one.
        """
        if not line.seal:
            return None
        if self.identity is None:
            return Provenance(Where.FOREIGN, Seal(line.seal), key=line.signer)
        return self.standing(Origin(Seal(line.seal), line.signer, line.here, line.endorser))

    def learn(self, project: str, key: str) -> None:
        """Trust a project's key, unless it is trusted already or the user has removed it.

        If it cannot be written, the project's recordings stay foreign.
        """
        if KEY.fullmatch(key) and key not in self.keys and key not in self._removed:
            name = PROJECT + project
            with suppress(UsageError):
                self._append(TRUSTED, {"key": key, "name": name})
                self.keys[key] = name

    def add(self, name: str, key: str) -> None:
        """Trust a key from now on. Raises UsageError for a name or a key that is none, or is taken."""
        if not KEY.fullmatch(key):
            raise UsageError(
                f"{key[:80]!r} is no public key: `reenact trust` prints one, ed25519: and 64 hex digits"
            )
        if not NAME.fullmatch(name):
            raise UsageError(
                f"{name[:80]!r} is no name for a key: letters, digits and . _ @ + - (at most 64)"
            )
        other = next((known for known, called in self.keys.items() if called == name and known != key), None)
        if other is not None:
            raise UsageError(
                f"{name} is the name of another key, {fingerprint(other)}: choose one more, "
                f"or `reenact trust remove {name}`"
            )
        self._append(TRUSTED, {"key": key, "name": name})
        self.keys[key] = name

    def remove(self, ref: str) -> str:
        """Remove a key by its name or text, and return it. Raises UsageError if it is not trusted."""
        for key, name in self.keys.items():
            if ref in {key, name}:
                self._append(TRUSTED, {"key": key, "name": None})
                del self.keys[key]
                return key
        raise UsageError(f"no trusted key is called {ref[:80]!r}; `reenact trust list` shows them")

    def accepts(self, content: str) -> bool:
        """Return True if the user has allowed the program of a recording with that content."""
        return any(line.get("content") == content for line in self._lines(ACCEPTED))

    def accept(self, content: str, id: str) -> None:
        """Allow the program of a recording with that content. Raises UsageError if it fails."""
        self._append(ACCEPTED, {"content": content, "id": id})

    def proofs(self) -> Iterator[dict[str, Any]]:
        """Return the lines about proved recordings, the oldest first."""
        return self._lines(PROVED)

    def add_proof(self, line: dict[str, Any]) -> None:
        """Add a line about a proved recording. Raises UsageError if it cannot be written."""
        self._append(PROVED, line)

    @cached_property
    def _own(self) -> str:
        if self.identity is None:
            return ""
        try:
            return self.identity.known_key or self.identity.key
        except ImportError:
            return ""

    def _append(self, name: str, line: dict[str, Any]) -> None:
        self.identity = Identity.made(self._home)
        path = self.identity.folder / name
        if path.exists() and not is_private(path.stat()):
            raise UsageError(f"{path} can be read or written by others, and is not believed: `chmod 600` it")
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | system.CLOEXEC, 0o600)
            try:
                os.write(file, orjson.dumps(line) + b"\n")
            finally:
                os.close(file)
        except OSError as error:
            raise unwritable(path.parent, error) from None

    def _lines(self, name: str) -> Iterator[dict[str, Any]]:
        folder = kept(self._home)
        if folder is None:
            return
        try:
            if not is_private((folder / name).stat()):
                return
            data = (folder / name).read_bytes()
        except OSError:
            return
        for line in data.splitlines():
            try:
                found = orjson.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found
