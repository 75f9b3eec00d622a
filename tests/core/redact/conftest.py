"""The redactor of most tests, with each of the three engines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reenact.core.redact import Redactor, marks
from reenact.core.redact.find import finder
from tests.core.redact.samples import SALT


@pytest.fixture(scope="module", params=["hyperscan", "re2", "literals"])
def redactor(request: pytest.FixtureRequest) -> Iterator[Redactor]:
    """A redactor that searches by hyperscan, one that searches by RE2, and one that searches for each literal."""
    if request.param == "hyperscan" and not marks._HYPERSCAN:
        pytest.skip("hyperscan is not installed: pip install 'reenact[speed]'")
    engine = {"hyperscan": marks._Hyperscan, "re2": marks._Automata, "literals": _literals}[request.param]
    with pytest.MonkeyPatch.context() as patch:
        for module in ("find", "known"):
            patch.setattr(f"reenact.core.redact.{module}.Database", engine)
        finder.cache_clear()
        yield Redactor(salt=SALT)
    finder.cache_clear()


def _literals(texts: list[tuple[bytes, int]], *, literal: bool = False) -> Any:
    return marks._Literals(texts) if literal else marks._Automata(texts)
