"""A fork's handler is held to what every handler is held to, before the step and behind it."""

from __future__ import annotations

import pytest

import reenact
from reenact.core.redact import DEFAULT_RULES
from reenact.core.store.local import LocalStore
from reenact.run.fork.child import Child
from reenact.run.fork.point import point
from reenact.testing import HandlerConformance

pytestmark = pytest.mark.usefixtures("home")


class TestBeforeTheStep(HandlerConformance):
    def handler(self, tmp_path):
        store = LocalStore()
        with reenact.record("parent") as recording:
            reenact.effect("tool", "first").perform(lambda: 1)
        parent = recording.load()
        self.child = Child(parent, point(parent, 1), store, "child00001", secrets=DEFAULT_RULES)
        return self.child.forker

    def turnstile(self, handler):
        return handler.turnstile


class TestBehindTheStep(TestBeforeTheStep):
    def handler(self, tmp_path):
        forker = super().handler(tmp_path)
        forker.replayer.state.go_live()
        return forker
