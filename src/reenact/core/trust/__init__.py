"""Origin of recordings: a home's identity, its trusted keys, and consent to run programs."""

from reenact.core.trust.book import Book
from reenact.core.trust.identity import Identity, fingerprint
from reenact.core.trust.origin import Origin, Provenance, Seal, Where, origin_of

__all__ = ["Book", "Identity", "Origin", "Provenance", "Seal", "Where", "fingerprint", "origin_of"]
