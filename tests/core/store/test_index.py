"""The index says what the files say: after changes, deletions, damage, and beside a writer."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import reenact
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.filter import Filter
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.core.store.tables import created
from tests.systems import POSIX


@reenact.tool
def cancel_order(order_id, note=""):
    if order_id == "ORD-0":
        raise ValueError("no such order: it was delivered")
    return {"cancelled": order_id, "note": note}


@reenact.tool
def lookup(order_id):
    return {"total": 12.5, "items": ["Tee", "Käse"], "order": order_id}


@reenact.tool(kind="model", name="gpt-4o")
def ask(messages):
    usage = {"prompt_tokens": 1000 * len(messages), "completion_tokens": 10}
    text = "I refund the order" if len(messages) > 2 else "Which order?"
    return {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}


def run(store, name, orders, tags=(), questions=0):
    with reenact.record(name, tags=tags, home=store.root) as recording:
        messages = [{"role": "system", "content": "x" * 100}]
        for number in range(questions):
            messages.append({"role": "user", "content": f"question {number}"})
            ask(list(messages))
        for order in orders:
            lookup(order)
            try:
                cancel_order(order, note="long " * (2000 if order == "ORD-9" else 1) + "Zebra")
            except ValueError:
                pass
    return recording.id


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    return filled(LocalStore(tmp_path_factory.mktemp("store")))


@pytest.fixture
def store(tmp_path):
    return filled(LocalStore(tmp_path / "home"))


def filled(store):
    run(store, "first", ["ORD-1", "ORD-9"], ["a"])
    run(store, "second", ["ORD-0"], ["a", "b"], questions=4)
    run(store, "third", [], ["task:3"])
    return store


FILTERS = [
    "", "error", "not error", "tool", "tool:cancel_*", "tool:cancel_order error", "model", "model:gpt*", "model == gpt-4o",
    "tokens > 2500", "tokens > 2500 or error", "cost > 0.001", "step > 2", "step = 1", "text ~ zebra", '"Zebra"', "'zebra'",
    "text ~ 'z.bra'", 'text ~ "ord-[01]"', "args.order_id == ORD-9", 'args.order_id == "ORD-0"', "args.order_id:ord*",
    "args.note ~ zebra", "output.total > 12", "output.items[1] == Käse", "output.items ~ käse", 'text ~ "KÄSE"',
    "error ~ delivered", "tag:a", "tag:b and tool", "tag:task:3", "name:second", "status:ok and not tool", "not model not error",
    "not (model or error)", "kind == tool", "kind:t*", "duration >= 0", "calls:x", "scope:main*", "args.none == 1", "id:zz*",
    "args ~ zebra", "output ~ cancelled", "unanswered", "text !~ zebra", "tool:lookup or args.order_id == ORD-0",
]  # fmt: skip


def plainly(store, text):
    """The same question, answered by reading every recording."""
    wanted = Filter(text)
    found = []
    for id in store.ids():
        facts = RecordingFacts(store.load(id))
        steps = wanted.select(facts, facts.steps)
        if steps is not None:
            found.append((id, tuple(step.step.number for step in steps)))
    return sorted(found)


@pytest.mark.parametrize("text", FILTERS)
def test_the_index_answers_as_the_files_do(untouched, text):
    store = untouched
    found = [(hit.summary.id, hit.steps) for hit in Index(store).search(Filter(text))]
    assert sorted(found) == plainly(store, text)


def test_filters_joined_answer_as_the_files_do(untouched):
    store = untouched
    index = Index(store)
    for one, other in itertools.product(FILTERS[1:24:3], FILTERS[25::4]):
        for text in (f"({one}) and not ({other})", f"({one}) or ({other})"):
            found = [(hit.summary.id, hit.steps) for hit in index.search(Filter(text))]
            assert sorted(found) == plainly(store, text), text


def test_a_summary_has_the_run_on_one_line(store):
    line = next(line for line in Index(store).summaries() if line.name == "second")
    assert (line.status, line.steps, line.failed, line.tags, line.models) == (
        "ok",
        6,
        1,
        ("a", "b"),
        ("gpt-4o",),
    )
    assert (line.input_tokens, line.output_tokens) == (14000, 40)


def test_the_last_begun_comes_first_whenever_its_file_was_written(store):
    os.utime(store.folder(store.ids()[-1]) / "events.jsonl")
    assert [line.name for line in Index(store).summaries()] == ["third", "second", "first"]


def test_of_those_begun_in_turn_the_last_comes_first(store):
    assert [line.name for line in Index(store).summaries()] == ["third", "second", "first"]
    assert [line.id for line in Index(store).summaries()] == store.ids()


def test_only_what_changed_is_read_again(store, monkeypatch):
    Index(store).refresh()
    read = []
    monkeypatch.setattr(
        "reenact.core.store.summarised.load", lambda path: read.append(path.name) or store.load(str(path))
    )
    assert Index(store).refresh() == 0
    new = run(store, "fourth", ["ORD-1"])
    removed = store.remove("last") if store.ids()[0] != new else None
    assert removed is None
    shutil.rmtree(store.folder(store.ids()[-1]))
    assert Index(store).refresh() == 2
    assert read == [new]
    assert len(Index(store).summaries()) == 3


def test_a_recording_whose_events_are_gone_is_listed_no_more(store):
    Index(store).refresh()
    gone = store.ids()[0]
    (store.folder(gone) / "events.jsonl").unlink()
    assert Index(store).lost() == [gone]
    assert [line.id for line in Index(store).summaries()] == store.ids()


def test_a_recording_under_way_is_followed_as_it_grows(store):
    with reenact.record("slow", home=store.root) as recording:
        counts = []
        for _ in range(3):
            lookup("ORD-1")
            line = next(line for line in Index(store).summaries() if line.id == recording.id)
            counts.append((line.steps, line.status))
    assert counts == [(1, "unsealed"), (2, "unsealed"), (3, "unsealed")]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "damage",
    [b"", b"nonsense\n", b'{"event":"opened","format":99}\n', b'{"event":"opened","format":1}\nxx\n{}\n'],
)
def test_a_broken_recording_is_listed_with_a_word(store, damage):
    path = store.folder("broken1") / "events.jsonl"
    path.parent.mkdir()
    path.write_bytes(damage)
    lines = {line.id: line for line in Index(store).summaries()}
    assert lines["broken1"].broken
    assert len(lines) == 4
    assert all(hit.summary.id != "broken1" for hit in Index(store).search(Filter("")))


@pytest.mark.sampled
@pytest.mark.parametrize("damage", ["missing", "nonsense", "emptied", "old"])
def test_a_damaged_index_is_made_anew(store, damage):
    Index(store).refresh()
    file = store.root / "index.sqlite"
    if damage == "missing":
        file.unlink()
    elif damage == "old":
        subprocess.run(
            [
                sys.executable,
                "-c",
                f"import sqlite3; d = sqlite3.connect({str(file)!r}); d.execute('PRAGMA user_version = 77')",
            ],
            check=True,
        )
    else:
        data = file.read_bytes()
        file.write_bytes(b"nonsense" * 1000 if damage == "nonsense" else data[: len(data) // 2])
    assert len(Index(store).summaries()) == 3
    assert len(list(Index(store).search(Filter("tool")))) == 2


def test_without_leave_to_write_the_index_is_in_memory(store, monkeypatch):
    def refuse(path, *rest, **options):
        if str(path) != ":memory:":
            raise connect_error("unable to open database file")
        return connect(path, *rest, **options)

    import sqlite3

    connect, connect_error = sqlite3.connect, sqlite3.OperationalError
    monkeypatch.setattr("reenact.core.store.index.sqlite3.connect", refuse)
    assert len(Index(store).summaries()) == 3
    assert not (store.root / "index.sqlite").exists()


def test_no_store_is_an_empty_one_and_stays_unmade(tmp_path):
    store = LocalStore(tmp_path / "none")
    assert Index(store).summaries() == []
    assert list(Index(store).search(Filter("error"))) == []
    assert not store.root.exists()


@pytest.mark.thorough
def test_several_processes_may_refresh_at_once(store):
    code = f"from reenact.core.store.index import Index; from reenact.core.store.local import LocalStore; print(len(Index(LocalStore({str(store.root)!r})).summaries()))"
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    answers = [process.communicate() for process in running]
    assert [out for out, _ in answers] == [b"3\n"] * 3, answers


def test_several_threads_may_refresh_at_once(store):
    found = []
    threads = [threading.Thread(target=lambda: found.append(len(Index(store).summaries()))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [3] * 6


def test_a_database_whose_tables_another_process_makes_is_closed(tmp_path):
    other = created(sqlite3.connect(tmp_path / "index.sqlite"))
    refused = sqlite3.connect(tmp_path / "index.sqlite")
    with pytest.raises(sqlite3.OperationalError):
        created(refused)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        refused.execute("SELECT 1")
    other.close()


@POSIX
def test_the_index_is_as_private_as_the_recordings(store):
    Index(store).refresh()
    assert (store.root / "index.sqlite").stat().st_mode & 0o077 == 0


def test_find_gives_recordings_and_steps(store, monkeypatch):
    from reenact.verbs.find import find

    monkeypatch.setenv("REENACT_HOME", str(store.root))
    (found,) = find("tool:cancel_order error")
    assert found.recording.name == "second"
    assert [(step.call.label, type(step.error)) for step in found.steps] == [
        ("tool:cancel_order", ValueError)
    ]
    assert len(find("tool", limit=1)) == 1
    with pytest.raises(reenact.ReenactError):
        find("tokens >")


def test_a_copied_recording_goes_by_its_folder(store):
    id = store.ids()[0]
    shutil.copytree(store.folder(id), store.recordings / "copy")
    os.utime(Path(store.recordings / "copy" / "events.jsonl"))
    assert Index(store).summaries()[0].id == "copy"
