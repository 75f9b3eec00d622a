"""Long lists of cases: a few of them in every run, the others in the thorough suite."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def sampled(cases: Iterable[object], every: int) -> list[object]:
    """The cases for `pytest.mark.parametrize`: all but each `every`th are marked as thorough."""
    return [
        case if number % every == 0 else pytest.param(case, marks=pytest.mark.thorough)
        for number, case in enumerate(cases)
    ]
