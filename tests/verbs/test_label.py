"""Labels and a note are given after the run, found by filters, and go with the recording."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest

import reenact
from reenact.analysis.pages.html import page_html
from reenact.analysis.pages.markdown import markdown
from reenact.analysis.report.story import page
from reenact.core.query.filter import Filter
from reenact.core.store import bundle
from reenact.core.store.base import Piece
from reenact.core.store.index import Index
from reenact.core.store.intake import LocalIntake
from reenact.core.store.labels import LARGEST, LONGEST_LABEL, LONGEST_NOTE, MOST_LABELS
from reenact.core.store.local import LocalStore
from reenact.core.store.salvage import salvage
from reenact.errors import RecordingError, UsageError
from reenact.verbs import label
from reenact.verbs.interface import Context


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def run(home):
    """The id of a recording with a tag of its own."""
    with reenact.record("support", home=home, tags=["staging"]) as recording:
        reenact.tool(lambda: 7, name="seven")()
    return recording.id


def give(home, ref, *labels, **more):
    return label.run(label.Options(ref=ref, labels=labels, **more), Context(home=home))


def line(home, id):
    return next(one for one in Index(LocalStore(home)).summaries() if one.id == id)


def found(home, filter):
    return [hit.summary.id for hit in Index(LocalStore(home)).search(Filter(filter))]


def test_labels_stand_behind_the_tags_and_the_note_beside_them(home, run):
    assert line(home, run).tags == ("staging",)
    give(home, run, "bad", "#refund", note="Refunded twice")
    assert (line(home, run).tags, line(home, run).note) == (("staging", "bad", "refund"), "Refunded twice")
    recording = LocalStore(home).load(run)
    assert (recording.tags, recording.labels.words) == (("staging",), ("bad", "refund"))


def test_a_later_label_is_added_and_one_can_be_taken_away_and_the_note_stays(home, run):
    give(home, run, "bad", note="Refunded twice")
    give(home, run, "known")
    result = give(home, run, remove=["bad"])
    assert result.tree() == {"id": run, "labels": ["known"], "note": "Refunded twice"}
    assert give(home, run, note="").tree() == {"id": run, "labels": ["known"], "note": None}


def test_nothing_is_written_where_nothing_changes(home, run):
    give(home, run, "bad")
    files = sorted(path.name for path in LocalStore(home).folder(run).iterdir())
    give(home, run, "bad")
    assert sorted(path.name for path in LocalStore(home).folder(run).iterdir()) == files


def test_filters_find_labels_and_notes(home, run):
    with reenact.record("other", home=home) as other:
        reenact.tool(lambda: 7, name="seven")()
    give(home, run, "bad", note="Refunded twice")
    assert found(home, "tag:bad") == [run]
    assert found(home, 'note ~ "TWICE"') == [run]
    assert found(home, "not tag:bad") == [other.id]
    assert found(home, 'note == "Refunded twice"') == [run]


def test_the_seal_still_holds(home, run):
    before = line(home, run).seal
    give(home, run, "bad")
    assert line(home, run).seal == before == "sealed"


def test_a_fork_has_the_tags_of_its_parent_and_not_its_labels(home, run):
    give(home, run, "bad", note="Refunded twice")
    seven = reenact.tool(lambda: 7, name="seven")
    with reenact.fork(reenact.load(run, home=home), at=1, home=home, policy=["seven=live"]) as fork:
        seven()
    child = line(home, fork.id)
    assert (child.tags, child.note) == (("staging",), "")


def test_export_import_and_salvage_carry_labels(home, run, tmp_path):
    give(home, run, "bad", note="Refunded twice")
    file = bundle.export(LocalStore(home), run, tmp_path / "one.reenact")
    assert reenact.load(str(file)).labels.words == ("bad",)
    there = LocalStore(tmp_path / "there")
    bundle.bring(there, file)
    assert line(tmp_path / "there", run).note == "Refunded twice"
    folder = tmp_path / "salvaged" / run
    folder.mkdir(parents=True)
    salvage(LocalStore(home).folder(run), folder)
    assert reenact.load(f"{folder}/").labels.note == "Refunded twice"


def test_an_import_adds_later_labels_to_a_recording_that_is_there(home, run, tmp_path):
    there = LocalStore(tmp_path / "there")
    bundle.bring(there, bundle.export(LocalStore(home), run, tmp_path / "one.reenact"))
    give(home, run, "bad")
    later = bundle.export(LocalStore(home), run, tmp_path / "two.reenact")
    assert bundle.bring(there, later) == run
    assert line(there.root, run).tags == ("staging", "bad")
    with pytest.raises(RecordingError, match="nothing to do"):
        bundle.bring(there, later)


def test_two_people_who_label_the_same_recording_do_not_conflict(home, run, tmp_path):
    there = tmp_path / "there"
    shutil.copytree(home, there)
    give(home, run, "bad")
    give(there, run, "good")
    for file in LocalStore(there).folder(run).glob("labels.*"):
        shutil.copy(file, LocalStore(home).folder(run) / file.name)
    assert line(home, run).tags == ("staging", "good")


@pytest.mark.parametrize(
    ("labels", "more", "said"),
    [
        (["two words"], {}, "one word without spaces"),
        (["#"], {}, "one word without spaces"),
        (["x" * (LONGEST_LABEL + 1)], {}, "letters"),
        ([f"l{n}" for n in range(MOST_LABELS + 1)], {}, "labels at most"),
        ([], {"note": "x" * (LONGEST_NOTE + 1)}, "letters"),
        ([], {"note": "\ud800"}, "cannot be stored"),
        ([], {"remove": ["good"]}, "has no label 'good'"),
    ],
)
def test_labels_that_cannot_be_kept_are_refused_in_one_line(home, run, labels, more, said):
    with pytest.raises(UsageError, match=said):
        give(home, run, *labels, **more)
    assert not list(LocalStore(home).folder(run).glob("labels.*"))


def test_an_exported_file_is_not_labelled(home, run, tmp_path):
    file = bundle.export(LocalStore(home), run, tmp_path / "one.reenact")
    with pytest.raises(UsageError, match="import it first"):
        give(home, str(file), "bad")


DAMAGED = [
    b"",
    b"\n",
    b"not json\n",
    b"[]\n",
    b'{"labels":"bad","note":""}\n',
    b'{"labels":[],"note":7}\n',
    b"[" * 100_000 + b"\n",
    b'{"labels":[],"note":"' + b"x" * LARGEST + b'"}\n',
]


@pytest.mark.parametrize("data", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_is_passed_over_and_named(home, run, data, tmp_path):
    give(home, run, "bad")
    (LocalStore(home).folder(run) / "labels.zzz.jsonl").write_bytes(data)
    file = bundle.export(LocalStore(home), run, tmp_path / "one.reenact")
    for recording in (LocalStore(home).load(run), reenact.load(str(file))):
        assert recording.labels.words == ("bad",)
        assert any("labels.zzz.jsonl is damaged" in note for note in recording.notes)


def test_of_many_damaged_files_few_are_read(home, run):
    for number in range(200):
        (LocalStore(home).folder(run) / f"labels.z{number}.jsonl").write_bytes(b"x")
    recording = LocalStore(home).load(run)
    assert len(recording.notes) == 20
    assert recording.labels.words == ()


def test_hostile_labels_are_cut_to_what_can_be_kept(home, run):
    words = ["x" * 5000, 7, None, "", *(f"l{n}" for n in range(5000))]
    data = orjson.dumps({"labels": words, "note": "n" * 50_000})
    (LocalStore(home).folder(run) / "labels.zzz.jsonl").write_bytes(data + b"\n")
    labels = LocalStore(home).load(run).labels
    assert len(labels.words) <= MOST_LABELS
    assert max(map(len, labels.words)) <= LONGEST_LABEL
    assert len(labels.note) <= LONGEST_NOTE


def test_a_folder_or_a_link_in_the_place_of_a_file_is_passed_over(home, run):
    folder = LocalStore(home).folder(run)
    (folder / "labels.zzz.jsonl").mkdir()
    (folder / "labels.zzy.jsonl").symlink_to(Path("/nowhere"))
    give(home, run, "bad")
    assert LocalStore(home).load(run).labels.words == ("bad",)


def test_a_store_that_takes_pieces_takes_labels(home, run, tmp_path):
    give(home, run, "bad")
    there = LocalStore(tmp_path / "there")
    intake = LocalIntake(there)
    folder = LocalStore(home).folder(run)
    names = sorted((path.name for path in folder.glob("*.jsonl")), key=lambda name: name != "events.jsonl")
    pieces = [Piece(run, name, 0, (folder / name).read_bytes()) for name in names]
    assert [one.status for one in intake.take(pieces)] == ["ok", "ok"]
    intake.close()
    assert there.load(run).labels.words == ("bad",)


def test_a_page_about_the_recording_shows_labels_and_note(home, run):
    give(home, run, "bad", note="Refunded <b>twice</b>")
    about = page(reenact.load(run, home=home))
    assert "\\#bad “Refunded &lt;b&gt;twice&lt;/b&gt;”" in markdown(about)
    assert "#bad “Refunded &lt;b&gt;twice&lt;/b&gt;”" in page_html(about)
