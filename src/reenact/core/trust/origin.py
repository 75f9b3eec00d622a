"""The origin of a recording: the home that wrote it, and the state of its seal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact.core.dataclass import dataclass
from reenact.core.trust.endorsement import endorser
from reenact.core.trust.identity import KEY, MARK, Identity, canonical, fingerprint, signed_by

if TYPE_CHECKING:
    from reenact.core.model.log import Log

HEADER, SEAL = "header 1", "seal 1"
"""Purposes of MACs and signatures: one for a header is not valid for a seal."""

SIGNED = "signed"
"""The member of a seal that holds its key, signature and MAC."""

PROJECT = "project "
"""The beginning of the names of keys that belong to projects of a team's store."""

SUM = "sum"
"""The member of a line that is not known yet when its MAC is made."""


class Seal(str, Enum):
    """The state of a recording's seal."""

    SEALED = "sealed"
    """Signed, and unchanged since."""
    CHANGED = "changed"
    """Changed after it was sealed: its signature does not fit."""
    UNSEALED = "unsealed"
    """The run was cut off, or still goes on."""
    UNSIGNED = "unsigned"
    """Sealed without a signature: by an older version, or without a home."""


class Where(str, Enum):
    """The place that a recording comes from, as seen from a home."""

    HOME = "home"
    TRUSTED = "trusted"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Origin:
    """A recording's own proof of its origin, independent of the trusted keys.

    Attributes:
        seal: The state of its seal.
        key: The public key by which all its files are signed; empty where there is none.
        here: This home wrote all its files.
        endorser: The public key whose endorsement lies beside it and fits; empty where there is none.
    """

    seal: Seal = Seal.UNSIGNED
    key: str = ""
    here: bool = False
    endorser: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a recording as seen from a home.

    Attributes:
        where: The home itself, a home whose key is trusted, or elsewhere.
        seal: The state of its seal.
        name: The name of the trusted key that signed or endorsed it; empty for others.
        key: The public key that it is signed by; empty where there is none.
    """

    where: Where
    seal: Seal
    name: str = ""
    key: str = ""

    @property
    def at_home(self) -> bool:
        """True if its program may run without a question."""
        return self.where is not Where.FOREIGN and self.seal is not Seal.CHANGED

    @property
    def words(self) -> tuple[str, ...]:
        """The marks to show: `foreign`, `changed`, `unsealed`; mostly none for a home's own."""
        marks = [self.where.value] if self.where is Where.FOREIGN else []
        return (*marks, *([self.seal.value] if self.seal in {Seal.CHANGED, Seal.UNSEALED} else []))

    @property
    def sentence(self) -> str:
        """The same in one sentence, without its full stop."""
        if self.seal is Seal.CHANGED:
            return "it was changed after it was sealed"
        if self.where is Where.HOME:
            return "it was recorded in this home"
        if self.where is Where.TRUSTED:
            by = "endorsed" if self.name.startswith(PROJECT) else "signed"
            return f"it is {by} by {self.name}, whose key is trusted"
        if self.key:
            return f"it is foreign: signed by the key {fingerprint(self.key)}, which is not trusted"
        return "it is foreign: no key has signed it"

    def tree(self) -> dict[str, Any]:
        """Return the provenance as JSON values."""
        return {
            "where": self.where.value,
            "seal": self.seal.value,
            "name": self.name or None,
            "key": self.key or None,
            "fingerprint": fingerprint(self.key) if self.key else None,
        }


def header_mark(identity: Identity, header: Mapping[str, Any]) -> dict[str, str]:
    """Return the member of a header that names the home that writes it."""
    key = identity.known_key
    mac = identity.mac(HEADER, canonical(header, (SUM,)))
    return {"key": key, "mac": mac} if key else {"mac": mac}


def seal_mark(identity: Identity, digest: str) -> dict[str, str]:
    """Return a seal's signature member, for the file's digest (64 hex digits) before it.

    Where `cryptography` is missing it has no signature, and is known at home alone.
    """
    said = {"mac": identity.mac(SEAL, digest.encode())}
    with suppress(ImportError):
        return {
            "key": identity.known_key or identity.key,
            "signature": identity.sign(_sealed(digest)),
            **said,
        }
    return said


def origin_of(logs: Sequence[Log], identity: Identity | None, folder: Path | None = None) -> Origin:
    """Return the origin of a recording from the events of its processes.

    Args:
        logs: Each process's events, those of the first process first.
        identity: The identity of the home that asks, if it has one.
        folder: The recording's folder, where an endorsement may lie.
    """
    here, states, keys = identity is not None and any(not log.empty for log in logs), [], set()
    for log in logs:
        if log.empty:
            continue
        own = identity is not None and _own_header(identity, log.opened)
        state, key = _seal(log, identity, own=own)
        here = here and own and state is not Seal.CHANGED
        states.append(state)
        keys.add(key)
    if Seal.CHANGED in states:
        return Origin(Seal.CHANGED)
    seal = states[0] if states else Seal.UNSIGNED
    endorsed_by = endorser(logs, folder) if folder is not None and not here else ""
    return Origin(seal, keys.pop() if len(keys) == 1 else "", here, endorsed_by)


def _own_header(identity: Identity, header: Mapping[str, Any]) -> bool:
    said = header.get(MARK)
    if not isinstance(said, dict):
        return False
    try:
        return identity.wrote(HEADER, canonical(header, (SUM,)), said.get("mac"))
    except TypeError:
        # This version never writes such a header.
        return False


def _seal(log: Log, identity: Identity | None, *, own: bool) -> tuple[Seal, str]:
    """Return the state of one file's seal, and the key that signed it."""
    if log.sealed is None:
        return Seal.UNSEALED, ""
    said, digest = log.sealed.get(SIGNED), log.seal_digest
    if not isinstance(said, dict) or not digest:
        # A home signs each of its seals, and its mark is in the header. So a seal without a signature was written by
        # others, and every reader sees what the home itself sees.
        signs = own or (said is None and isinstance(log.opened.get(MARK), dict))
        return (Seal.CHANGED if signs else Seal.UNSIGNED), ""
    key = str(said.get("key") or "")
    if own and identity is not None:
        known = identity.wrote(SEAL, digest.encode(), said.get("mac"))
        return (Seal.SEALED, key if KEY.fullmatch(key) else "") if known else (Seal.CHANGED, "")
    if not key:
        return Seal.UNSIGNED, ""
    try:
        return (
            (Seal.SEALED, key)
            if signed_by(key, _sealed(digest), said.get("signature"))
            else (Seal.CHANGED, "")
        )
    except ImportError:
        return Seal.UNSIGNED, ""


def _sealed(digest: str) -> bytes:
    return f"reenact {SEAL} {digest}".encode()
