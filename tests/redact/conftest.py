"""The redactor of most tests."""

from __future__ import annotations

import pytest

from reenact.redact import Redactor
from tests.redact.samples import SALT


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor(salt=SALT)
