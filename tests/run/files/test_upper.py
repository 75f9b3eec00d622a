"""The changed layer of an overlay, written by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reenact.core.files.states import FileState
from reenact.run.files.upper import Upper, close, hidden, is_opaque


@pytest.fixture
def upper(tmp_path):
    (tmp_path / "root" / "a" / "b").mkdir(parents=True)
    (tmp_path / "root" / "a" / "b" / "file").write_text("below")
    (tmp_path / "upper").mkdir()
    return Upper(tmp_path / "root", tmp_path / "upper")


def copied(upper, folder):
    """Return what the overlay shows, as texts by name."""
    upper.copy(folder, ())
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_folder_that_is_hidden_stays_so_when_what_is_in_it_is_hidden_too(upper, tmp_path):
    for name in ("a", "a/b", "a/b/file"):
        assert upper.hide(Path(name))
    assert hidden(upper.path / "a")
    assert copied(upper, tmp_path / "shown") == {}


def test_a_file_in_a_hidden_folder_shows_nothing_else_of_it(upper, tmp_path):
    upper.hide(Path("a"))
    assert upper.write(Path("a/new"), b"new", FileState("file", mode=0o640))
    assert copied(upper, tmp_path / "shown") == {"a/new": "new"}
    assert (tmp_path / "shown" / "a" / "new").stat().st_mode & 0o777 == 0o640


def test_what_does_not_exist_below_needs_no_mark(upper):
    assert upper.hide(Path("nothing"))
    assert os.listdir(upper.path) == []


def test_a_folder_on_the_way_shows_what_is_below(upper, tmp_path):
    upper.write(Path("a/b/second"), b"two", FileState("file", mode=0o600))
    assert copied(upper, tmp_path / "shown") == {"a/b/file": "below", "a/b/second": "two"}


def test_a_folder_that_is_to_be_renamed_is_copied_whole(upper, tmp_path):
    upper.hide(Path("a/b/file"))
    (upper.root / "a" / "link").symlink_to("b")
    upper.own(Path("a"))
    assert is_opaque(upper.path / "a")
    assert os.readlink(upper.path / "a" / "link") == "b"
    assert copied(upper, tmp_path / "shown") == {}


def test_a_folder_that_is_copied_whole_holds_no_marks(upper):
    # The kernel would list them as names, and removing such a folder would fail.
    upper.hide(Path("a/b/file"))
    upper.own(Path("a"))
    assert os.listdir(upper.path / "a" / "b") == []


def test_what_is_hidden_in_a_closed_folder_needs_no_mark(upper):
    upper.own(Path("a"))
    assert upper.hide(Path("a/b/file"))
    assert os.listdir(upper.path / "a" / "b") == []


def test_what_is_hidden_in_a_folder_that_was_hidden_before_needs_no_mark(upper):
    upper.hide(Path("a"))
    upper.folder(Path("a/b"))
    assert upper.hide(Path("a/b/file"))
    assert os.listdir(upper.path / "a" / "b") == []


@pytest.mark.parametrize("name", ["../out", "/etc/x", "link/out"])
def test_no_path_leads_out_of_the_layer(upper, tmp_path, name):
    upper.link(Path("link"), str(tmp_path))
    assert not upper.write(Path(name), b"x", FileState("file", mode=0o600))
    assert not upper.folder(Path(name))
    assert not (tmp_path / "out").exists()


def test_a_file_takes_the_place_of_a_folder_and_the_other_way_round(upper, tmp_path):
    upper.write(Path("a"), b"file", FileState("file", mode=0o600))
    assert copied(upper, tmp_path / "one") == {"a": "file"}
    upper.folder(Path("a"), 0o755)
    upper.write(Path("a/x"), b"x", FileState("file", mode=0o600))
    assert copied(upper, tmp_path / "two")["a/x"] == "x"


def test_a_folder_that_was_copied_whole_gets_nothing_more_from_below(upper):
    upper.hide(Path("a/b"))
    upper.own(Path("a"))
    upper.own(Path("a"))
    assert os.listdir(upper.path / "a") == []


def test_a_python_without_extended_attributes_marks_and_knows_a_closed_folder(tmp_path, monkeypatch):
    marked = tmp_path / "marked"
    marked.mkdir()
    close(marked)
    if not is_opaque(marked):
        pytest.skip("this file system keeps no extended attributes")
    # As in Python 3.11 and 3.12 on musl.
    for name in ("getxattr", "setxattr"):
        monkeypatch.delattr(os, name, raising=False)
    (tmp_path / "own").mkdir()
    assert (is_opaque(marked), is_opaque(tmp_path / "own"), is_opaque(tmp_path / "none")) == (
        True,
        False,
        False,
    )
    close(tmp_path / "own")
    assert is_opaque(tmp_path / "own")
