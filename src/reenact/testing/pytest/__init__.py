"""The pytest plugin: run a test on its recording, offline and exactly.

    @pytest.mark.reenact                       # recordings/<file>/<test>.reenact, beside the test
    def test_cancelling_a_shipped_order():
        assert "cannot" in agent.run_sync("Cancel my order ORD-5521").output

By default a test is replayed, and fails if it leaves its recording. `pytest --reenact=record` records the tests that
have no recording yet, `--reenact=update` records all of them again, `--reenact=off` runs them without a recording.

Every pytest run loads this module, so it is small; the replay code is imported with the first marked test.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

MODES = ("replay", "record", "update", "off")
ALLOWED = "REENACT_RECORD_IN_CI"
"""The environment variable that, set to 1, lets tests run live although `CI` is set."""

_TAPED = "reenact.testing.pytest.taped"


def mode(config: pytest.Config) -> str:
    """Return the mode for marked tests, one of `MODES`."""
    return str(config.getoption("--reenact") or config.getini("reenact"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--reenact`."""
    group = parser.getgroup("reenact", "recorded runs of agents")
    group.addoption(
        "--reenact",
        choices=MODES,
        default=None,
        help="replay: from the recordings (the default); record: make those that are missing; "
        "update: make all anew; off: run without",
    )
    parser.addini("reenact", "the default of --reenact", default="replay")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and refuse accidental live runs in CI."""
    config.addinivalue_line(
        "markers",
        "reenact(file=None, *, live, ignore, on_divergence, inserted, pace, tools, policy): run the test "
        "on a recording; options as for reenact.replay()",
    )
    chosen = mode(config)
    if chosen not in MODES:
        raise pytest.UsageError(f"reenact = {chosen} in the ini file: it is one of {', '.join(MODES)}")
    if chosen != "replay" and _true("CI") and not _true(ALLOWED):
        raise pytest.UsageError(
            f"--reenact={chosen} would let tests reach the world, and this is CI; "
            f"set {ALLOWED}=1 if that is meant"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Let a marked test run on its recording, if it was marked by its setup at the latest."""
    if isinstance(item, pytest.Function) and item.get_closest_marker("reenact") is not None:
        _taping(item.config).wrap(item)


@pytest.hookimpl(tryfirst=True, wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a marked test that passed without its recording, or left it as an xfail."""
    report = yield
    if call.when == "call" and item.get_closest_marker("reenact") is not None:
        _taping(item.config).check(item, report)
    return report


@pytest.fixture(name="reenact")
def _fixture(request: pytest.FixtureRequest) -> Any:
    """Return the test's recording; only for tests that are marked `reenact`."""
    if request.node.get_closest_marker("reenact") is None:
        pytest.fail("the fixture `reenact` is for tests that are marked: @pytest.mark.reenact", pytrace=False)
    return _taping(request.config).taped(request.node)


def _taping(config: pytest.Config) -> Any:
    manager = config.pluginmanager
    if not manager.has_plugin(_TAPED):
        manager.import_plugin(_TAPED)
    return manager.get_plugin(_TAPED)


def _true(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in ("", "0", "false", "no")
