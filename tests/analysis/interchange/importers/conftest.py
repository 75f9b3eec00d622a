"""What the importers' tests share."""

from __future__ import annotations

import pytest

from reenact.analysis.interchange import importers
from reenact.core.store.local import LocalStore


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "home")


@pytest.fixture
def bring(store):
    """Import a file; gives its format and the recordings."""

    def bring(path, **options):
        found, ids = importers.bring(store, path, **options)
        return found, [store.load(id) for id in ids]

    return bring
