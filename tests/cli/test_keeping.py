"""export, import, rm and prune: nothing is lost by mistake, and nothing waits for an answer in a script."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

import reenact
from reenact.cli import context, main
from reenact.core.store.local import LocalStore

DATA = Path(__file__).parents[1] / "analysis" / "interchange" / "importers" / "data"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return LocalStore(tmp_path / "home")


@pytest.fixture
def ids(home):
    made = []
    for number in range(4):
        with reenact.record(f"run{number}") as recording:
            pass
        moment = time.time() - (4 - number) * 86400
        os.utime(home.folder(recording.id) / "events.jsonl", (moment, moment))
        made.append(recording.id)
    return made


def test_a_recording_goes_out_and_comes_in_elsewhere(home, ids, tmp_path, capsys):
    assert main(["export", ids[0], "x.reenact"]) == 0
    assert main(["import", "x.reenact", "--home", str(tmp_path / "other")]) == 0
    assert LocalStore(tmp_path / "other").load("last").name == "run0"
    assert main(["show", "x.reenact"]) == 0
    assert main(["import", "x.reenact"]) == 2
    assert "already" in capsys.readouterr().err


def test_one_bad_file_among_good_ones_is_named_and_the_good_ones_come_in(home, capsys):
    Path("bad.json").write_text("{}", encoding="utf-8")
    assert (
        main(["import", str(DATA / "swe_agent.traj"), "bad.json", str(DATA / "tau_bench.jsonl"), "--json"])
        == 2
    )
    out, err = capsys.readouterr()
    assert [(Path(row["file"]).name, len(row["ids"])) for row in json.loads(out)] == [
        ("swe_agent.traj", 1),
        ("tau_bench.jsonl", 2),
    ]
    assert "bad.json" in err
    assert len(home.ids()) == 3


def test_a_script_has_to_say_yes(home, ids, capsys):
    assert main(["rm", ids[0]]) == 2
    assert "--yes" in capsys.readouterr().err
    assert len(home.ids()) == 4
    assert main(["rm", ids[0][:6], ids[1], "--yes"]) == 0
    assert sorted(home.ids()) == sorted(ids[2:])


def test_one_mistyped_id_deletes_none(home, ids):
    assert main(["rm", ids[0], "nope", "--yes"]) == 2
    assert len(home.ids()) == 4


def test_what_lies_outside_is_not_deleted(home, ids, capsys):
    main(["export", ids[0], "x.reenact"])
    assert main(["rm", "x.reenact", "--yes"]) == 2
    assert Path("x.reenact").exists()


@pytest.mark.parametrize(("answer", "left"), [(True, 3), (False, 4)])
def test_a_person_is_asked(home, ids, monkeypatch, answer, left):
    monkeypatch.setattr(context.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(context.click, "confirm", lambda *_, **__: answer)
    assert main(["rm", ids[0]]) == 0
    assert len(home.ids()) == left


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--keep", "2"], ["run3", "run2"]),
        (["--keep", "0"], []),
        (["--keep", "9"], ["run3", "run2", "run1", "run0"]),
        (["--older-than", "60h"], ["run3", "run2"]),
        (["--older-than", "1w"], ["run3", "run2", "run1", "run0"]),
        (["--keep", "3", "--older-than", "60h"], ["run3", "run2", "run1"]),
        (["--keep", "0", "--status", "error"], ["run3", "run2", "run1", "run0"]),
    ],
)
def test_prune_deletes_the_old_ones_only(home, ids, options, left):
    before = home.ids()
    assert main(["prune", *options, "--dry-run"]) == 0
    assert home.ids() == before
    assert main(["prune", *options, "--yes"]) == 0
    assert [home.load(id).name for id in home.ids()] == left


def test_prune_without_a_measure_is_refused(home, ids):
    assert main(["prune", "--yes"]) == 2
    assert main(["prune", "--keep", "-1", "--yes"]) == 2
    assert len(home.ids()) == 4
