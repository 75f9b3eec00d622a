"""Sign a home's recordings as its own. A failure costs a warning, never the agent's run."""

from __future__ import annotations

import os
from collections.abc import Mapping

from reenact.core.boundary import entered
from reenact.core.store.local import home as home_of
from reenact.core.store.writer import Sign, warn
from reenact.core.trust.identity import Identity
from reenact.core.trust.origin import seal_mark


def own_identity(home: str | os.PathLike[str] | None, keys: str = "") -> Identity | None:
    """Return the identity of the home that is recorded to.

    None, with a warning, if the home has no identity and none can be made. `keys` is the user's folder of keys, by
    default the configuration directory's.
    """
    try:
        return Identity.made(home_of(home), keys)
    except Exception as error:
        warn(f"this recording will count as foreign: {error}")
        return None


def signing(identity: Identity) -> Sign:
    """Return the function that signs the seals of a home."""

    def sign(digest: str) -> Mapping[str, str] | None:
        try:
            # The program's hooks must not record the imports made here.
            with entered(None):
                return seal_mark(identity, digest)
        except Exception as error:
            warn(f"this recording is not signed, and will count as changed: {error}")
            return None

    return sign
