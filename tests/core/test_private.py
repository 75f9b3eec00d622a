"""Files with recorded content are for their owner alone."""

from __future__ import annotations

import os
import stat

import pytest

from reenact.core import private


@pytest.fixture(autouse=True)
def open_to_all():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_written_whole_and_for_its_owner(tmp_path):
    private.write(tmp_path / "page.html", "ä \ud800")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "ä ?"
    assert mode(tmp_path / "page.html") == 0o600
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_folder_and_those_above_it_are_for_their_owner(tmp_path):
    private.folder(tmp_path / "home" / "recordings" / "x")
    assert {mode(path) for path in (tmp_path / "home").rglob("*")} == {0o700}
    assert mode(tmp_path / "home") == 0o700
    private.folder(tmp_path / "home")
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "x"):
        with pytest.raises(OSError, match="exists|directory"):
            private.folder(path)


def test_a_file_that_all_may_read_is_replaced_by_one_that_they_may_not(tmp_path):
    (tmp_path / "page.html").write_text("old")
    private.write(tmp_path / "page.html", b"new")
    assert (mode(tmp_path / "page.html"), (tmp_path / "page.html").read_bytes()) == (0o600, b"new")


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    private.write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_device_is_written_to():
    from pathlib import Path

    private.write(Path("/dev/null"), b"x")
    assert Path("/dev/null").is_char_device()


def test_what_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        private.write(tmp_path / "none" / "x", b"")
    assert os.listdir(tmp_path) == []


def test_the_error_names_the_file_and_not_its_part(tmp_path):
    (tmp_path / "file").touch()
    for target in (tmp_path / "missing" / "x.json", tmp_path / "file" / "x.json"):
        with pytest.raises(OSError, match="x.json") as raised:
            private.write(target, b"{}")
        assert raised.value.filename == str(target)


def test_a_copy_is_for_its_owner(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    private.copy(tmp_path / "a", tmp_path / "b")
    assert (mode(tmp_path / "b"), (tmp_path / "b").read_bytes()) == (0o600, b"x")
