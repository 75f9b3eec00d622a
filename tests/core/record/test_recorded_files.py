"""What a recording keeps of the files that a program uses: each state at each step, and nothing secret."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reenact
from reenact.core import boundary
from reenact.core.files import trees
from reenact.core.files.keeping import FileKeeper, Keeping
from reenact.core.files.restore import restore
from reenact.core.files.states import FileState
from reenact.core.model.event import Effect
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.record import walk
from reenact.core.record.file_events import FileEvents
from reenact.core.record.places import Place
from reenact.errors import UsageError
from tests.systems import FILES

pytestmark = FILES


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of the recorded block; the store lies elsewhere."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    return work


def _recorded(program: Callable[[], object], **options: object) -> RecordedRun:
    with reenact.record(**options) as recording:  # type: ignore[arg-type]
        program()
    return reenact.load(recording.id)


def _step(name: str = "step") -> None:
    boundary.perform(Effect("tool", name), lambda: None)


def _content(recording: RecordedRun, states: object) -> dict[str, str]:
    """The texts of the files in the working folder, by path; other kinds and reasons in brackets."""
    blobs = recording.logs[0]._blob
    found = {}
    for path, state in states.items():  # type: ignore[attr-defined]
        name = os.path.relpath(path)
        if state.kind == "file":
            found[name] = state.content(blobs).decode() if state.blob else f"[{state.why}]"
        else:
            found[name] = f"[{state.kind}]"
    return found


def _events(recording: RecordedRun) -> list[tuple[str, list[str]]]:
    return [
        (change.how, sorted(path.name for path in change.states))
        for change in trees.changes(recording.logs[0])
    ]


def test_a_run_that_uses_no_files_records_none() -> None:
    assert not trees.has_files(_recorded(_step))


def test_a_file_is_kept_as_it_was_first_read_and_as_each_step_left_it(folder: Path) -> None:
    (folder / "memory.txt").write_text("old", encoding="utf-8")

    def program() -> None:
        assert Path("memory.txt").read_text(encoding="utf-8") == "old"
        _step()
        Path("memory.txt").write_text("new", encoding="utf-8")
        _step()
        Path("memory.txt").write_text("newest", encoding="utf-8")
        Path("more.txt").write_text("more", encoding="utf-8")

    recording = _recorded(program)
    assert _content(recording, trees.first_states(recording)) == {"memory.txt": "old", "more.txt": "[none]"}
    assert _content(recording, trees.states_at(recording, 1)) == {"memory.txt": "new", "more.txt": "[none]"}
    assert _content(recording, trees.states_at(recording, 2)) == {"memory.txt": "newest", "more.txt": "more"}
    assert trees.final_states(recording) == trees.states_at(recording, 2)
    assert trees.roots(recording) == (folder,)


def test_the_state_before_the_run_was_seen_before_its_time_and_a_change_after_it(folder: Path) -> None:
    (folder / "kept.txt").write_text("before")
    clock = itertools.count(1.0)
    lines: list[dict[str, Any]] = []
    keeper = FileKeeper(Keeping(lambda _: "", bytes, b"", print))
    events = FileEvents(keeper, lines.append, lambda: None, lambda: next(clock))
    events.look()
    state = FileState("none")
    place = Place(str(folder), "kept.txt", str(folder / "kept.txt"))
    seen_at = next(clock)
    events.write("first", {place: state})
    events.write("change", {place: state})
    events.write("command", {place: state}, since=0.5)
    assert [line["t"] > seen_at for line in lines] == [True, False, False]
    assert [line.get("since") for line in lines] == [None, None, 0.5]


def test_what_a_command_made_has_the_time_at_which_it_was_not_there(folder: Path) -> None:
    (folder / "old.txt").write_text("before")

    def program() -> None:
        _step()
        subprocess.run("echo new > made.txt; echo after > old.txt", shell=True, check=True)
        subprocess.run("echo more >> made.txt", shell=True, check=True)

    recording = _recorded(program)
    step, first, second = recording.logs[0].calls.values()
    found = {
        (change.how, path.name): change.since
        for change in trees.changes(recording.logs[0])
        for path in change.states
        if change.since is not None
    }
    assert found.keys() == {("first", "old.txt"), ("command", "made.txt")}
    assert all(step.began < since < first.outcome["t"] < second.began for since in found.values())


def test_a_change_is_announced_once_before_it_is_made(folder: Path) -> None:
    Path("read.txt").write_text("old", encoding="utf-8")

    def program() -> None:
        Path("read.txt").read_text(encoding="utf-8")
        for _ in range(2):
            Path("read.txt").write_text("new", encoding="utf-8")
            Path("made.txt").write_text("new", encoding="utf-8")
            _step()

    log = _recorded(program).logs[0]
    announced = [change for change in trees.changes(log) if change.how == "first" and change.own]
    assert [[path.name for path in change.states] for change in announced] == [["read.txt"], ["made.txt"]]
    assert [state.kind for change in announced for state in change.states.values()] == ["file", "none"]
    assert all(change.began == 0 for change in announced)


def _stored(recording: RecordedRun) -> list[bytes]:
    return [path.read_bytes() for path in Path(recording.path, "blobs").rglob("*") if path.is_file()]


def test_each_content_is_stored_once(folder: Path) -> None:
    (folder / "a").write_text("same" * 2000)

    def program() -> None:
        for name in ("b", "c", "d"):
            shutil.copyfile("a", name)
            _step()

    assert _stored(_recorded(program)) == [b"same" * 2000]


def test_a_short_text_stands_in_the_events_and_other_bytes_beside_them(folder: Path) -> None:
    texts = {"empty": b"", "short": "Grüße\0\n".encode(), "long": b"x" * 4097, "bytes": b"\xff\x00"}
    for name, data in texts.items():
        (folder / name).write_bytes(data)

    recording = _recorded(lambda: [Path(name).read_bytes() for name in texts])
    states = trees.first_states(recording)
    assert {path.name: state.content(recording.logs[0].blob) for path, state in states.items()} == texts
    assert sorted(_stored(recording)) == sorted((texts["long"], texts["bytes"]))


def test_short_texts_are_stored_beside_the_events_when_those_have_many(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reenact.core.files.keeping.TEXT_LIMIT", 10)
    for name in ("a", "b", "c"):
        (folder / name).write_text(f"{name} has 9.")
    (folder / "again").write_text("a has 9.")

    recording = _recorded(lambda: [Path(name).read_text("utf-8") for name in ("a", "b", "c", "again")])
    assert sorted(_stored(recording)) == [b"a has 9.", b"b has 9.", b"c has 9."]
    assert _content(recording, trees.first_states(recording))["again"] == "a has 9."


def test_many_short_files_of_one_command_are_several_events(folder: Path) -> None:
    recording = _recorded(
        lambda: subprocess.run("for n in $(seq 250); do echo $n > f$n; done", shell=True, check=True)
    )
    assert max(len(line["states"]) for _, _, line in recording.logs[0].files) <= 100
    assert _content(recording, trees.final_states(recording))["f250"] == "250\n"


def test_a_file_that_did_not_exist_is_recorded_as_such() -> None:
    def program() -> None:
        with pytest.raises(FileNotFoundError):
            Path("absent.txt").read_text(encoding="utf-8")

    recording = _recorded(program)
    assert _content(recording, trees.first_states(recording)) == {"absent.txt": "[none]"}


def test_renames_deletions_links_and_folders_are_recorded(folder: Path) -> None:
    (folder / "old" / "deep").mkdir(parents=True)
    (folder / "old" / "deep" / "x.txt").write_text("x")

    def program() -> None:
        os.rename("old", "new")
        _step()
        os.symlink("deep/x.txt", "new/link")
        os.chmod("new/deep/x.txt", 0o600)
        _step()
        shutil.rmtree("new")
        os.makedirs("empty/inner")
        os.rmdir("empty/inner")

    recording = _recorded(program)
    one, two = trees.states_at(recording, 1), trees.states_at(recording, 2)
    first = _content(recording, trees.first_states(recording))
    assert first["old/deep/x.txt"] == "x"
    assert first["new/deep/x.txt"] == "[none]"
    assert _content(recording, one)["new/deep/x.txt"] == "x"
    assert _content(recording, one)["old/deep/x.txt"] == "[none]"
    assert one[folder / "new" / "deep" / "x.txt"].mode == 0o644 & one[folder / "new" / "deep" / "x.txt"].mode
    left = {name for name, what in _content(recording, two).items() if what != "[none]"}
    assert left == {"empty"}


def test_a_change_of_mode_and_a_link_belong_to_their_step(folder: Path) -> None:
    (folder / "x.txt").write_text("x")

    def program() -> None:
        _step()
        os.chmod("x.txt", 0o600)
        os.symlink("x.txt", "link")
        _step()

    changed = trees.changed_states(_recorded(program), 1)
    assert {path.name: new.kind for path, (_, new) in changed.items()} == {"x.txt": "file", "link": "link"}
    assert changed[folder / "x.txt"][1].mode == 0o600
    assert changed[folder / "link"][1].target == "x.txt"


def test_a_file_that_is_held_open_is_seen_at_each_step() -> None:
    def program() -> None:
        with open("log.txt", "w", encoding="utf-8") as log:
            for line in ("one\n", "two\n", "three\n"):
                log.write(line)
                log.flush()
                _step()

    recording = _recorded(program)
    texts = [_content(recording, trees.states_at(recording, step))["log.txt"] for step in (1, 2, 3)]
    assert texts == ["one\ntwo\n", "one\ntwo\nthree\n", "one\ntwo\nthree\n"]


def test_a_database_is_recorded_at_each_step(tmp_path: Path) -> None:
    def program() -> None:
        connection = sqlite3.connect("memory.db")
        connection.execute("create table note (text)")
        connection.commit()
        for text in ("one", "two"):
            _step()
            connection.execute("insert into note values (?)", (text,))
            connection.commit()
        _step()
        connection.close()

    recording = _recorded(program)
    for step, expected in ((1, ["one"]), (2, ["one", "two"])):
        state = trees.states_at(recording, step)[Path.cwd() / "memory.db"]
        (tmp_path / "copy.db").write_bytes(state.content(recording.logs[0].blob))
        with sqlite3.connect(tmp_path / "copy.db") as copy:
            assert [text for (text,) in copy.execute("select text from note")] == expected
        copy.close()


@pytest.mark.parametrize("ignored", [False, True], ids=["kept", "ignored"])
def test_locks_of_a_database_stay_while_it_is_recorded(tmp_path: Path, *, ignored: bool) -> None:
    """A process that closes a file loses all of its locks on it, also those of SQLite."""
    other = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('insert into note values (2)')"
    )

    Path(".gitignore").write_text("memory.db" if ignored else "", encoding="utf-8")

    def program() -> None:
        connection = sqlite3.connect("memory.db", isolation_level=None)
        connection.execute("create table note (text)")
        connection.execute("begin immediate")
        connection.execute("insert into note values (1)")
        _step()
        tried = subprocess.run(
            ["python3", "-c", other, "memory.db"], capture_output=True, check=False, text=True
        )
        assert "locked" in tried.stderr
        connection.execute("commit")
        connection.close()

    _recorded(program)


def test_a_change_from_outside_is_recorded_where_it_was_first_seen(folder: Path) -> None:
    (folder / "inbox.txt").write_text("one")

    def program() -> None:
        Path("inbox.txt").read_text(encoding="utf-8")
        _step()
        with boundary.entered(None):
            Path("inbox.txt").write_text("two, from outside", encoding="utf-8")
            Path("arrived.txt").write_text("also", encoding="utf-8")
        os.listdir(".")
        _step()
        Path("inbox.txt").read_text(encoding="utf-8")
        with boundary.entered(None):
            Path("later.txt").write_text("later", encoding="utf-8")
        os.listdir(".")

    recording = _recorded(program)
    assert ("outside", ["inbox.txt"]) in _events(recording)
    assert ("outside", ["later.txt"]) in _events(recording)
    assert _content(recording, trees.states_at(recording, 1))["inbox.txt"] == "one"
    assert _content(recording, trees.final_states(recording))["inbox.txt"] == "two, from outside"


def test_a_listed_folder_has_the_names_from_before_the_run(folder: Path) -> None:
    (folder / "was").mkdir()
    (folder / "gone.txt").write_text("")

    def program() -> None:
        Path("mine.txt").write_text("", encoding="utf-8")
        os.remove("gone.txt")
        os.listdir(".")

    recording = _recorded(program)
    assert trees.first_states(recording)[folder].names == ("gone.txt", "was/")


def test_what_the_program_makes_among_temporary_files_is_recorded() -> None:
    def program() -> None:
        with tempfile.TemporaryDirectory() as made:
            Path(made, "draft.txt").write_text("draft", encoding="utf-8")
            _step()

    recording = _recorded(program)
    assert trees.roots(recording) == (Path(tempfile.gettempdir()).resolve(),)
    assert "draft.txt" in {path.name for path in trees.final_states(recording)}


@pytest.mark.parametrize(
    "name", [".env", "deploy.pem", "id_rsa", "credentials.json", "ignored.txt", "cache/x.txt", ".aws/config"]
)
def test_nothing_of_an_ignored_file_is_stored(folder: Path, name: str) -> None:
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("ignored.txt\ncache/\n")
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("canary-4711")

    def program() -> None:
        Path(name).read_text(encoding="utf-8")
        _step()
        Path(name).write_text("canary-4712", encoding="utf-8")
        subprocess.run(["true"], check=True)

    recording = _recorded(program)
    assert {
        one.why for one in (trees.first_states(recording)[path], trees.final_states(recording)[path])
    } == {"ignored"}
    assert trees.first_states(recording)[path].print != trees.final_states(recording)[path].print
    assert not [
        one for one in Path(recording.path).rglob("*") if one.is_file() and b"canary-471" in one.read_bytes()
    ]


def test_a_file_with_a_secret_is_not_stored(folder: Path) -> None:
    secret = "sk-proj-" + "Ab3" * 16
    (folder / "notes.txt").write_text(f"my key is {secret}")
    recording = _recorded(lambda: Path("notes.txt").read_text(encoding="utf-8"))
    assert trees.first_states(recording)[folder / "notes.txt"].why == "secret"
    assert not [
        one
        for one in Path(recording.path).rglob("*")
        if one.is_file() and secret.encode() in one.read_bytes()
    ]


def test_binary_files_with_bytes_like_secrets_are_kept_and_restored(folder: Path) -> None:
    made = random.Random(20)
    data = b"".join(
        made.randbytes(made.randrange(20_000)) + name for name in [b"oTp=", b"pwd:", b"key="] * 20
    )
    (folder / "a.bin").write_bytes(data)

    recording = _recorded((folder / "a.bin").read_bytes)

    states = trees.first_states(recording)
    assert [state.why for state in states.values()] == [""]
    restored = folder.parent / "restored"
    restore(states, restored, relative_to=folder, blobs=recording.logs[0]._blob)
    assert [path.read_bytes() for path in restored.rglob("a.bin")] == [data]


def test_a_secret_in_a_file_name_is_not_stored(folder: Path) -> None:
    secret = "sk-proj-" + "Ab3" * 16
    (folder / secret).write_text("x")
    recording = _recorded(lambda: (Path(secret).read_text(encoding="utf-8"), os.listdir(".")))
    assert trees.has_files(recording)
    assert secret.encode() not in Path(recording.path, "events.jsonl").read_bytes()


def test_files_named_like_secrets_are_recorded_as_they_are(folder: Path) -> None:
    (folder / "password").write_text("plain")
    (folder / "api_key").mkdir()
    recording = _recorded(
        lambda: (Path("password").read_text(encoding="utf-8"), os.listdir("."), os.listdir("api_key"))
    )
    assert _content(recording, trees.first_states(recording)) == {
        "password": "plain",
        ".": "[folder]",
        "api_key": "[folder]",
    }


def test_a_command_s_changes_belong_to_its_effect(folder: Path) -> None:
    (folder / "kept.txt").write_text("before")
    (folder / "gone.txt").write_text("gone")

    def program() -> None:
        _step()
        subprocess.run(
            "echo after > kept.txt; rm gone.txt; mkdir made; echo new > made/new.txt", shell=True, check=True
        )
        _step()

    recording = _recorded(program)
    assert _content(recording, trees.first_states(recording))["kept.txt"] == "before"
    assert _content(recording, trees.first_states(recording))["gone.txt"] == "gone"
    assert {path.name for path in trees.changed_states(recording, 2)} == {
        "kept.txt",
        "gone.txt",
        "made",
        "new.txt",
    }
    assert _content(recording, trees.states_at(recording, 2)) == {
        "kept.txt": "after\n", "gone.txt": "[none]", "made": "[folder]", "made/new.txt": "new\n",
    }  # fmt: skip
    commands = [change for change in trees.changes(recording.logs[0]) if change.how == "command"]
    assert {change.call for change in commands} == {2}


def test_a_folder_that_grows_too_large_leaves_the_others_recorded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "MOST", 5)
    (folder / "kept.txt").write_text("before")

    def program() -> None:
        made = tempfile.mkdtemp()
        try:
            subprocess.run(f"touch {made}/1 {made}/2; echo 1 > kept.txt", shell=True, check=True)
            subprocess.run(
                f"touch {made}/3 {made}/4 {made}/5 {made}/6; echo 2 > kept.txt", shell=True, check=True
            )
            subprocess.run("echo 3 > kept.txt", shell=True, check=True)
        finally:
            shutil.rmtree(made)

    recording = _recorded(program)
    states = [trees.states_at(recording, step) for step in (1, 2, 3)]
    assert [_content(recording, state)["kept.txt"] for state in states] == ["1\n", "2\n", "3\n"]
    assert [path.name for path in states[0]].count("1") == 1
    notes = [note["text"] for note in recording.logs[0].notes if "files that commands change" in note["text"]]
    assert len(notes) == 1


def test_a_command_that_changes_nothing_leaves_no_entry(folder: Path) -> None:
    (folder / "a.txt").write_text("a")
    assert not trees.has_files(_recorded(lambda: subprocess.run(["ls"], check=True, capture_output=True)))


def test_changes_of_commands_of_all_kinds_are_recorded() -> None:
    async def loop() -> None:
        process = await asyncio.create_subprocess_shell("echo 3 > three.txt")
        await process.wait()

    def program() -> None:
        os.system("echo 1 > one.txt")
        with subprocess.Popen(["sh", "-c", "cat > two.txt"], stdin=subprocess.PIPE) as popen:
            popen.communicate(b"2")
        asyncio.run(loop())

    recording = _recorded(program)
    assert _content(recording, trees.final_states(recording)) == {
        "one.txt": "1\n",
        "two.txt": "2",
        "three.txt": "3\n",
    }
    assert [how for how, _ in _events(recording)] == ["command"] * 3


def test_files_are_not_recorded_if_the_user_says_so(folder: Path) -> None:
    (folder / "a.txt").write_text("a")
    assert not trees.has_files(_recorded(lambda: Path("a.txt").read_text(encoding="utf-8"), files=False))


def test_further_folders_are_recorded_and_others_not(tmp_path: Path) -> None:
    for name in ("more", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
    recording = _recorded(
        lambda: [(tmp_path / name / "a.txt").read_text() for name in ("more", "other")],
        files=[tmp_path / "more"],
    )
    assert list(trees.first_states(recording)) == [tmp_path / "more" / "a.txt"]


def test_a_further_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        reenact.record(files=[tmp_path / "absent"])


def test_modules_that_are_imported_are_no_files_of_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "imported_by_program.py").write_text("x = 1")
    monkeypatch.syspath_prepend(str(folder))
    recording = _recorded(lambda: __import__("imported_by_program"))
    assert not trees.has_files(recording)


def test_source_that_the_program_reads_as_text_is_recorded(folder: Path) -> None:
    (folder / "code.py").write_text("x = 1")
    recording = _recorded(lambda: Path("code.py").read_text(encoding="utf-8"))
    assert _content(recording, trees.first_states(recording)) == {"code.py": "x = 1"}


def test_a_file_that_is_too_large_is_named_and_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reenact.core.files.keeping.FILE_LIMIT", 10)
    monkeypatch.setattr("reenact.core.files.keeping._RUN_LIMIT", 100)
    (folder / "large.bin").write_bytes(b"x" * 11)
    recording = _recorded(lambda: Path("large.bin").read_bytes())
    assert trees.first_states(recording)[folder / "large.bin"].why == "large"
    assert any("large.bin has 11 bytes" in source for source in recording.sources)


def test_files_above_the_limit_of_a_run_are_not_kept_and_it_is_said_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reenact.core.files.keeping.FILE_LIMIT", 50)
    monkeypatch.setattr("reenact.core.files.keeping._RUN_LIMIT", 100)
    for number in range(5):
        (folder / str(number)).write_text(f"{number}" * 40)
    recording = _recorded(lambda: [Path(str(number)).read_text(encoding="utf-8") for number in range(5)])
    assert [state.why for state in trees.first_states(recording).values()] == [
        "",
        "",
        "large",
        "large",
        "large",
    ]
    assert len([source for source in recording.sources if "more than 100 bytes" in source]) == 1


def test_a_fault_of_the_recorder_costs_a_note_and_not_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("a")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("reenact.core.files.keeping.FileKeeper.state", broken)
    recording = _recorded(lambda: Path("a.txt").read_text(encoding="utf-8"))
    assert recording.status == "ok"
    assert any("broken" in note for note in recording.notes)


def test_a_file_that_may_not_be_read_stays_the_program_s_error(folder: Path) -> None:
    path = folder / "closed.txt"
    path.write_text("x")
    path.chmod(0)

    def program() -> None:
        if os.access(path, os.R_OK):
            return
        with pytest.raises(PermissionError):
            path.read_text(encoding="utf-8")

    assert _recorded(program).status == "ok"


def test_what_a_command_changed_is_shown_to_others_until_its_own_outcome_is_recorded() -> None:
    def command() -> None:
        files, scope = boundary.current().run.files, boundary.current()
        files.command_begins()
        with boundary.entered(None):
            Path("made").write_text("new", encoding="utf-8")
        files.command_ended(scope.call)
        _step("of another thread")
        Path("made").exists()

    def program() -> None:
        boundary.perform(Effect("process", "sh"), command)
        Path("made").exists()

    events = [data for _, _, data in _recorded(program).logs[0].files if data["how"] == "command"]
    assert [(data.get("ended", False), list(data["states"])) for data in events] == [
        (True, ["made"]),
        (False, ["made"]),
    ]
