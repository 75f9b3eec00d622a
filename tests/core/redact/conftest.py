"""The redactor of most tests."""

from __future__ import annotations

import pytest

from reenact.core.redact import Redactor
from tests.core.redact.samples import SALT


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor(salt=SALT)
