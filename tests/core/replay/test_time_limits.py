"""The time limits of a call that one of them ended."""

from __future__ import annotations

import pytest

from reenact.core.model.event import Effect
from reenact.core.model.log import CallRecord
from reenact.core.replay.match import Rules
from reenact.core.replay.time_limits import differing


def differences(recorded, actual):
    called = {"kind": "http", "name": "GET /x", "at": "main", "n": 0, "in": None, "t": 0.0}
    call = CallRecord(1, called, limits=recorded)
    return [
        (one.path, one.recorded, one.actual)
        for one in differing(call, Effect("http", "GET /x", limits=actual), Rules())
    ]


@pytest.mark.parametrize(
    ("recorded", "actual", "found"),
    [
        ({"read": 2}, {"read": 2.0}, []),
        ({"read": 2}, {"read": 30}, [("args.timeout.read", 2.0, 30.0)]),
        ({"read": 2}, {"read": None}, [("args.timeout.read", 2.0, None)]),
        ({"timeout": 2}, {"timeout": 3}, [("args.timeout", 2.0, 3.0)]),
        ({"read": 1.98765432}, {"read": 1.98811111}, []),
        ({"read": 2}, None, []),
        (None, {"read": 2}, []),
        ({"read": "x"}, {"read": 2}, []),
    ],
)
def test_limits_that_a_person_wrote_are_compared(recorded, actual, found):
    assert differences(recorded, actual) == found
