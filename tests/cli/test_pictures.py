"""The pictures that steps gave, named beside them and written as files."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import reenact
from reenact.cli import main

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 80
JPEG = b"\xff\xd8\xff\xe0 small"


@dataclass
class Screen:
    fields: bytes
    title: str = "Shop"


@reenact.tool
def look(at):
    return {"screen": Screen(PNG), "thumbs": [b"\x00no picture", JPEG]}


@reenact.tool
def count():
    return {"n": 1}


@pytest.fixture
def run(home, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with reenact.record() as recording:
        look("shop")
        count()

    def run(*words):
        status = main(["show", recording.id, *map(str, words)])
        return status, *capsys.readouterr()

    return run


def test_a_step_names_its_pictures_with_their_sizes_wherever_they_are_kept(run):
    _, out, _ = run(1)
    assert f"screen.fields: image/png, {len(PNG):,} bytes" in out
    assert "thumbs[1]: image/jpeg, 10 bytes" in out
    assert "picture" not in run(2)[1]


def test_the_pictures_of_a_recording_come_out_as_they_went_in(run, tmp_path):
    folder = tmp_path / "deep" / "shots"
    status, _, err = run("--pictures", folder)
    assert status == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "0001-screen-fields.png": PNG,
        "0001-thumbs-1.jpeg": JPEG,
    }
    assert err.count("bytes") == 2


def test_steps_without_pictures_write_nothing_and_say_so(run, tmp_path):
    status, _, err = run(2, "--pictures", tmp_path / "none")
    assert (status, err) == (0, "no pictures in 1 step\n")
    assert not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_made_is_one_line(run, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, err = run("--pictures", tmp_path / "file" / "shots")
    assert status == 2
    assert len(err.splitlines()) == 1
    assert "file/shots" in err
