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


PROGRAMS = {
    "a filter": ('[filter "bad"]\n\tclean = touch {made}; cat\n\trequired = true\n', "*.txt filter=bad\n"),
    "a filter with a sign of equality in its name": (
        '[filter "a=b"]\n\tclean = touch {made}; cat\n',
        "*.txt filter=a=b\n",
    ),
    "a filter that stays": (
        '[filter "bad"]\n\tprocess = touch {made}\n\trequired = true\n',
        "*.txt filter=bad\n",
    ),
    "a hook": ("[core]\n\thooksPath = hooks\n", ""),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_program_of_the_repository_runs_on_changed_files(repository, program):
    made = repository.parent / "made"
    settings, attributes = PROGRAMS[program]
    config = repository / ".git" / "config"
    config.write_text(config.read_text() + settings.format(made=made), encoding="utf-8")
    (repository / ".git" / "info" / "attributes").write_text(attributes, encoding="utf-8")
    hooks = repository / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "pre-auto-gc"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {made}\n", encoding="utf-8")
        (hooks / name).chmod(0o755)
    (repository / "kept.txt").write_text("two", encoding="utf-8")
    os.utime(repository / "kept.txt", (1, 1))
    revision.cache_clear()
    assert revision(str(repository))["dirty"] is True
    assert not made.exists()


def test_the_programs_of_a_submodule_do_not_run(repository):
    made, inner = repository.parent / "made", repository.parent / "inner"
    inner.mkdir()

    def git(*words, folder):
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
        subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)

    (inner / "file.txt").write_text("one", encoding="utf-8")
    for words in (("init",), ("add", "."), ("commit", "-m", "inner")):
        git(*words, folder=inner)
    git("submodule", "add", str(inner), "part", folder=repository)
    git("commit", "-m", "second", folder=repository)
    config = repository / ".git" / "modules" / "part" / "config"
    settings = f'[filter "bad"]\n\tclean = touch {made}; cat\n[core]\n\tfsmonitor = touch {made}\n'
    config.write_text(config.read_text() + settings, encoding="utf-8")
    (config.parent / "info" / "attributes").write_text("*.txt filter=bad\n", encoding="utf-8")
    (repository / "part" / "file.txt").write_text("two", encoding="utf-8")
    revision.cache_clear()
    assert revision(str(repository)) is not None
    assert not made.exists()
