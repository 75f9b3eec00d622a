"""Where recordings come from: the identity of a home, the keys that it trusts, and what of a recording may run."""

from reenact.core.trust.book import Book
from reenact.core.trust.identity import Identity, fingerprint
from reenact.core.trust.origin import Origin, Seal, Standing, Where, origin_of

__all__ = ["Book", "Identity", "Origin", "Seal", "Standing", "Where", "fingerprint", "origin_of"]
