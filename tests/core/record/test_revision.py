"""The revision of a folder is read, and nothing in its repository changes or runs."""

from __future__ import annotations

import os
import subprocess

import pytest

from reenact.core.record.program import revision


@pytest.fixture
def repository(tmp_path):
    def git(*words):
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "kept.txt").write_text("one", encoding="utf-8")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    return tmp_path


def test_a_revision_is_told_with_its_changes(repository):
    revision.cache_clear()
    assert revision(str(repository))["dirty"] is False
    (repository / "kept.txt").write_text("two", encoding="utf-8")
    revision.cache_clear()
    assert revision(str(repository))["dirty"] is True


def test_the_index_stays_as_it_is(repository):
    os.utime(repository / "kept.txt", (1, 1))
    before = (repository / ".git" / "index").read_bytes()
    revision.cache_clear()
    assert revision(str(repository)) is not None
    assert (repository / ".git" / "index").read_bytes() == before


def test_a_program_that_the_repository_names_is_not_run(repository):
    config = repository / ".git" / "config"
    made = repository / "made"
    config.write_text(f"{config.read_text()}[core]\n\tfsmonitor = touch {made}\n", encoding="utf-8")
    revision.cache_clear()
    assert revision(str(repository)) is not None
    assert not made.exists()
