"""The redactor of most tests, with each of the two engines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reenact.core.redact import Redactor, marks
from reenact.core.redact.find import finder
from tests.core.redact.samples import SALT


@pytest.fixture(scope="module", params=["hyperscan", "re2"])
def redactor(request: pytest.FixtureRequest) -> Iterator[Redactor]:
    """A redactor that searches by hyperscan, and one that searches by RE2."""
    if request.param == "hyperscan" and not marks._HYPERSCAN:
        pytest.skip("hyperscan is not installed: pip install 'reenact[speed]'")
    engine = marks._Automata if request.param == "re2" else marks._Hyperscan
    with pytest.MonkeyPatch.context() as patch:
        for module in ("find", "known"):
            patch.setattr(f"reenact.core.redact.{module}.Database", engine)
        finder.cache_clear()
        yield Redactor(salt=SALT)
    finder.cache_clear()
