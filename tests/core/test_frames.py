"""The frames of all threads, without a garbage collection in between."""

from __future__ import annotations

import gc
import sys
import threading

import pytest

from reenact.core import frames


def test_each_thread_has_its_frame():
    begun, over = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (begun.set(), over.wait()))
    thread.start()
    begun.wait()
    found = frames.current_frames()
    over.set()
    thread.join()
    assert {thread.ident, threading.get_ident()} <= found.keys()


@pytest.mark.parametrize("collects", [True, False])
def test_nothing_is_collected_while_the_frames_are_listed(monkeypatch, collects):
    seen = []
    monkeypatch.setattr(sys, "_current_frames", lambda: seen.append(gc.isenabled()) or {})
    (gc.enable if collects else gc.disable)()
    try:
        frames.current_frames()
        assert seen == [False]
        assert gc.isenabled() is collects
    finally:
        gc.enable()
