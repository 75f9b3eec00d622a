"""The map from the video's time to the session's."""

from __future__ import annotations

import pytest

from reenact.browser.video.pace import Pace


def map_of(kind, moments, holds=()):
    pace = Pace(kind, moments[0])
    for moment in moments[1:]:
        if moment in holds:
            pace.hold(moment, 0.6)
        else:
            pace.happened(moment)
    pace.end(moments[-1], rest=1.0)
    return pace


def test_real_time_is_one_line_whatever_happens():
    pace = map_of("real", [2.0, 2.5, 60.0, 61.0], holds={60.0})
    assert pace.knots == [(0.0, 2.0), (60.0, 62.0)]
    assert pace.video(32.0) == 30.0
    assert pace.session(30.0) == 32.0


def test_compact_time_squeezes_what_is_idle_into_a_second_and_a_half():
    pace = map_of("compact", [0.0, 1.0, 101.0, 102.0])
    assert pace.video(101.0) == pytest.approx(2.5)
    assert pace.video(51.0) == pytest.approx(1.75)
    assert pace.session(1.75) == pytest.approx(51.0)
    assert pace.speed(2.0) == pytest.approx(100 / 1.5)
    assert pace.speed(0.5) == 1.0


def test_compact_time_stands_still_before_an_action():
    pace = map_of("compact", [0.0, 1.0, 2.0], holds={1.0})
    assert pace.video(1.0) == 1.0
    assert pace.video(1.0, after=True) == pytest.approx(1.6)
    assert pace.session(1.3) == 1.0
    assert pace.video(1.5) == pytest.approx(2.1)


def test_two_actions_at_one_moment_are_both_waited_for():
    pace = Pace("compact", 0.0)
    pace.hold(1.0, 0.6)
    pace.hold(1.0, 0.6)
    pace.end(1.0, rest=1.0)
    assert pace.video(1.0, after=True) == pytest.approx(2.2)


@pytest.mark.parametrize("kind", ["real", "compact"])
def test_there_and_back_is_the_same_moment(kind):
    pace = map_of(kind, [3.0, 3.2, 9.0, 9.1, 40.0], holds={9.0})
    for tenth in range(30, 410):
        assert pace.session(pace.video(tenth / 10)) == pytest.approx(tenth / 10)


def test_moments_outside_are_its_ends():
    pace = map_of("real", [5.0, 6.0])
    assert (pace.video(0.0), pace.video(99.0)) == (0.0, 2.0)
    assert (pace.session(-1.0), pace.session(99.0)) == (5.0, 7.0)
