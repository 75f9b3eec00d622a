"""A secret that a browser learns when it is filled in leaves what was recorded before, and the replay stays faithful."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import reenact
from reenact.core import boundary, system
from reenact.core.model.event import Effect
from reenact.core.redact import Redactor
from reenact.core.redact.late import LateSecrets
from reenact.core.trust.consent import standing_of
from reenact.core.trust.origin import Seal
from tests.systems import FILES, POSIX

pytestmark = pytest.mark.usefixtures("home")

SECRET = "hunter2"
LONG = "please log in. " * 40


def model(*messages: str) -> str:
    """A model's answer, which holds the password."""
    return boundary.perform(
        Effect("model", "m", {"messages": list(messages), "text": "\n".join(messages)}),
        lambda: json.dumps({"tool": "fill", "element": "I3", "text": SECRET}),
    )


def streamed(*pieces: object) -> list[object]:
    return list(boundary.stream(Effect("model", "streamed", {}), lambda: iter(pieces)))


def secret(value: str) -> str:
    scope = boundary.current()
    assert scope is not None
    return scope.run.handler.secret(value, typed=True)


def fill(value: str) -> None:
    """Fill a secret field, as a browser session does."""
    token = secret(value)
    boundary.perform(Effect("browser", "fill", {"value": token}), lambda: "filled")


def recorded(program: Callable[[], object], *, tracked: object = None) -> reenact.Recording:
    with reenact.record() as run:
        if tracked is not None:
            reenact.track("state", tracked)
        run.output = program()
    return run.load()


def leaks(folder: str, secret: str = SECRET) -> list[Path]:
    files = (path for path in Path(folder).rglob("*") if path.is_file())
    return [path for path in files if secret.encode() in path.read_bytes()]


def assert_hidden_and_faithful(program: Callable[[], object], *, tracked: object = None) -> reenact.Recording:
    recording = recorded(program, tracked=tracked)
    assert leaks(recording.path) == []
    with reenact.replay(recording) as replay:
        replay.output = program()
    assert replay.verdict.faithful
    return recording


def test_it_leaves_the_answer_that_asked_for_the_fill() -> None:
    def program() -> str:
        answer = json.loads(model(LONG))
        fill(answer["text"])
        return model(LONG, json.dumps(answer))

    recording = assert_hidden_and_faithful(program)
    (answer, *_) = (step.call.outcome["value"] for step in recording.steps)
    assert answer.replace(json.loads(answer)["text"], SECRET) == json.dumps(
        {"tool": "fill", "element": "I3", "text": SECRET}
    )


def test_it_leaves_questions_that_the_program_makes_of_its_own_text() -> None:
    def program() -> str:
        task = f"{LONG} The password is {SECRET}. {LONG}"
        model(task)
        model(task, "a", "b")
        fill(SECRET)
        return model(task, "a", "b", "c")

    recording = assert_hidden_and_faithful(program)
    texts = [step.args for step in recording.steps if step.call.kind == "model"]
    assert [len(args["messages"]) for args in texts] == [1, 3, 4]
    assert len({args["messages"][0] for args in texts}) == 1


@pytest.mark.parametrize(
    "pieces",
    [
        ["type hun", "ter", "2 now"],
        [b"type hun", b"ter2 now"],
        [{"delta": {"arguments": part}} for part in ('{"text": "hu', "nter", '2"}')],
        [b'data: {"delta":{"content":"hun"}}\n\ndata: {"del', b'ta":{"content":"ter2"}}\n\n'],
    ],
)
def test_it_leaves_the_pieces_of_a_streamed_answer(pieces: list[object]) -> None:
    def program() -> int:
        given = streamed(*pieces)
        fill(SECRET)
        return len(given)

    recording = assert_hidden_and_faithful(program)
    chunks = [tree for _, _, tree in recording.steps[0].call.pieces]
    assert len(chunks) == len(pieces)
    assert b"hun" not in json.dumps(chunks).encode()


def test_it_leaves_printed_text_and_the_tracked_state() -> None:
    state: dict[str, list[str]] = {"notes": []}

    @reenact.tool
    def think(text: str) -> int:
        print("typing", end=" ")
        print(text)
        return 1

    def program() -> int:
        state["notes"] = [LONG * 20]
        for number in range(6):
            model(str(number))
            state["notes"].append(f"{LONG * 5} {SECRET} {number}")
        think(json.loads(model("now"))["text"])
        fill(SECRET)
        for number in range(6):
            state["notes"].append(str(number))
            model(f"then {number}")
        return 1

    recording = assert_hidden_and_faithful(program, tracked=state)
    last = recording.state()["state"]
    assert len(last["notes"]) == 13
    assert [note for note in last["notes"] if "[[secret:" in note] == last["notes"][1:7]


@FILES
@pytest.mark.parametrize("lines", [1, 500])
def test_it_leaves_large_bytes_and_the_files_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("task.txt").write_text(f"log in with {SECRET}\n" * lines, encoding="utf-8")

    def program() -> int:
        task = Path("task.txt").read_text(encoding="utf-8")
        boundary.perform(Effect("model", "bytes", {}), lambda: b"\x80\x81\x00\x01" * 8000 + SECRET.encode())
        fill(SECRET)
        with Path("task.txt").open("r+", encoding="utf-8"):
            pass  # Looked at again, it is no other file than before.
        return len(task)

    recording = recorded(program)
    assert leaks(recording.path) == []
    states = [state for _, _, line in recording.logs[0].files for state in line["states"].values()]
    assert {state.get("why") for state in states if state["kind"] == "file"} == {"secret"}


def test_it_leaves_the_arguments_of_the_recorded_function(home: str) -> None:
    @reenact.recorded
    def agent(password: str) -> str:
        fill(password)
        return "done"

    agent(SECRET)
    (folder,) = (Path(home) / "recordings").iterdir()
    assert leaks(str(folder)) == []
    standing = standing_of(reenact.load(folder.name), Path(home))
    assert standing.at_home
    assert standing.seal is Seal.SEALED


def test_it_leaves_what_a_fork_repeats_of_its_parent() -> None:
    def program(*, fills: bool) -> None:
        model(LONG)
        model(LONG, "end")
        if fills:
            fill(SECRET)
        model(LONG, "end", "last")

    parent = recorded(lambda: program(fills=False))
    with reenact.fork(parent, at=2) as fork:
        program(fills=True)
    child = fork.recording
    assert leaks(child.path) == []
    assert len(child.steps) == 4
    assert leaks(parent.path) != []


def test_a_recording_without_the_value_is_not_written_again() -> None:
    with reenact.record() as run:
        boundary.perform(Effect("model", "m", {}), lambda: "nothing")
        before = Path(run.path, "events.jsonl").stat().st_ino
        fill(SECRET)
        assert Path(run.path, "events.jsonl").stat().st_ino == before


def test_no_event_of_another_thread_is_lost() -> None:
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            model(LONG, "thread")

    with reenact.record() as run:
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(20):
            model(LONG, f"secret-{number}")
            scope = boundary.current()
            assert scope is not None
            scope.run.handler.secret(f"secret-{number}", typed=True)
        stop.set()
        for thread in threads:
            thread.join()
        scope.run.handler.secret(SECRET, typed=True)
    recording = run.load()
    assert recording.notes == ()
    assert leaks(recording.path) == []
    assert not [path for number in range(20) for path in leaks(recording.path, f'secret-{number}"')]
    assert all(len(step.args["messages"]) == 2 for step in recording.steps)


def test_a_secret_is_filled_in_while_another_thread_looks_at_the_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looking, filling = threading.Event(), threading.Event()
    late = Redactor.late

    def look() -> str:
        if threading.current_thread() is asks:
            looking.set()
            filling.wait(0.5)  # It begins meanwhile only if it need not wait for this look.
        return "open"

    def begun(redactor: Redactor) -> LateSecrets | None:
        filling.set()
        return late(redactor)

    with reenact.record() as run:
        model(LONG)
        asks, fills = (threading.Thread(target=work, args=(SECRET,), daemon=True) for work in (model, secret))
        reenact.track("state", get=look, set=str)
        monkeypatch.setattr(Redactor, "late", begun)
        asks.start()
        looking.wait()
        fills.start()
        for thread in (asks, fills):
            thread.join(30)
            assert not thread.is_alive()
    assert leaks(run.load().path) == []


KILLED = """
    import json, os, signal
    import reenact
    from tests.core.record.test_rewriting import LONG, fill, model

    with reenact.record():
        answer = json.loads(model(LONG))
        fill(answer["text"])
        model(LONG, "after")
        os.kill(os.getpid(), signal.SIGKILL)
"""


@POSIX
def test_a_killed_run_has_it_no_longer_once_it_was_filled_in(tmp_path: Path) -> None:
    environment = {**os.environ, "REENACT_HOME": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED)], env=environment, check=False)
    assert run.returncode == -signal.SIGKILL
    (folder,) = (tmp_path / "recordings").iterdir()
    assert leaks(str(folder)) == []
    assert [step.call.label for step in reenact.load(str(folder)).steps] == [
        "model:m",
        "browser:fill",
        "model:m",
    ]


def test_a_failure_leaves_the_file_as_it_was_and_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with reenact.record() as run:
        json.loads(model(LONG))
        with monkeypatch.context() as patched:
            patched.setattr(system, "put_in_place", fail)
            fill(SECRET)
        model(LONG, "after")
    recording = run.load()
    assert len(recording.steps) == 3
    assert [note for note in recording.notes if "a secret stands in what was recorded before" in note]
    assert "a secret stands in what was recorded before" in capsys.readouterr().err
