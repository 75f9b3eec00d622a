"""Tools for tests: run a recorded command again (`rerun`), and conformance suites.

The suites are for authors of adapters, handlers and stores. Subclass a suite, fill in the hooks, run pytest:

    from reenact.testing import AdapterConformance

    class TestLookup(AdapterConformance):
        label = "tool:lookup"

        def call(self, question):
            return lookup(question)

        def touched(self):
            return WORLD.count
"""

from reenact.testing.adapter import AdapterConformance, World
from reenact.testing.handler import HandlerConformance
from reenact.testing.intake_conformance import BlobStoreConformance, IntakeConformance
from reenact.testing.rerun import rerun
from reenact.testing.store import StoreConformance

__all__ = [
    "AdapterConformance",
    "BlobStoreConformance",
    "HandlerConformance",
    "IntakeConformance",
    "StoreConformance",
    "World",
    "rerun",
]
