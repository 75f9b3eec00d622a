"""The places of a recorded order: which of them have passed."""

from __future__ import annotations

from reenact.core.boundary.turnstile.passed_places import PassedPlaces


def test_the_next_place_is_the_first_that_has_not_passed():
    places = PassedPlaces(4)
    places.take(0)
    assert places.next == 1
    places.skip([2])
    assert places.next == 1
    places.take(1)
    assert places.next == 3


def test_a_place_that_passes_early_ends_the_wait_for_those_before_it():
    places = PassedPlaces(4)
    places.take(2)
    assert places.next == 3


def test_a_skipped_place_does_not_end_the_wait_for_those_before_it():
    places = PassedPlaces(4)
    places.skip([1, 2])
    assert places.next == 0
    places.take(0)
    assert places.next == 3


def test_a_place_behind_the_recorded_ones_changes_nothing():
    places = PassedPlaces(1)
    places.take(1)
    places.take(7)
    assert places.next == 0
