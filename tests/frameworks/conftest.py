"""Collects what the cells showed, and writes `docs/frameworks.md` where REENACT_RESULTS is set."""

from __future__ import annotations

import pytest

from tests.frameworks import page

_shown = {}


def pytest_runtest_logreport(report):
    for name, value in report.user_properties:
        if name == "cell" and report.when in {"setup", "call"}:
            _shown[tuple(value)] = page.GREEN if report.passed else page.FAILS


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    # Where pytest runs in several processes, the first of them hears of all.
    if page.WRITING and _shown and not hasattr(session.config, "workerinput"):
        page.write(_shown)
