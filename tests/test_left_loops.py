"""The event loops that programs under test leave behind."""

from __future__ import annotations

import asyncio
import warnings

from tests.conftest import left_loop_closed


def loop():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return asyncio.get_event_loop()
        except RuntimeError:
            return None


def test_a_loop_that_is_left_is_closed():
    with left_loop_closed():
        left = asyncio.new_event_loop()
        asyncio.set_event_loop(left)
    assert left.is_closed()
    assert loop() is not left


def test_a_loop_that_was_there_before_stays():
    before = asyncio.new_event_loop()
    asyncio.set_event_loop(before)
    try:
        with left_loop_closed():
            pass
        with left_loop_closed():
            asyncio.set_event_loop(left := asyncio.new_event_loop())
        assert left.is_closed()
        assert not before.is_closed()
        assert loop() is before
    finally:
        before.close()
        asyncio.set_event_loop(None)
