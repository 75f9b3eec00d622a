"""Commands are effects: a replay answers them without a start."""

from __future__ import annotations

import asyncio
import ctypes
import os
import select
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

import reenact
from reenact.errors import DivergenceError

NANOSECONDS = ["date", "+%N"]


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch, home):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def starts():
    """How often a command of these programs ran for real."""
    with open("starts", "a+", encoding="utf-8") as file:
        file.seek(0)
        return len(file.read())


LOUD = "printf x >> starts; date +%N; date +%N >&2; exit 3"


def run():
    done = subprocess.run(LOUD, shell=True, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def run_with_input():
    return subprocess.run(
        "printf x >> starts; cat; date +%N", shell=True, input=b"given ", capture_output=True, check=True
    ).stdout


def checked():
    try:
        subprocess.run(LOUD, shell=True, check=True, stdout=subprocess.PIPE)
    except subprocess.CalledProcessError as error:
        return error.returncode, error.output


def check_output():
    return subprocess.check_output("printf x >> starts; date +%N", shell=True)


def getoutput():
    return subprocess.getstatusoutput("printf x >> starts; date +%N")


def call():
    return subprocess.call("printf x >> starts; exit $(date +%N | cut -c1 )", shell=True)


def system():
    return os.system("printf x >> starts; exit $(date +%N | cut -c1 )")


def popen_of_os():
    with os.popen("printf x >> starts; date +%N") as output:
        return output.read()


def too_late():
    try:
        subprocess.run(
            "printf x >> starts; date +%N; exec sleep 60",
            shell=True,
            capture_output=True,
            timeout=0.5,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return error.output


def communicated():
    command = subprocess.Popen(LOUD, shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return command.communicate(), command.returncode


def communicated_late():
    command = subprocess.Popen(
        "printf x >> starts; date +%N; sleep 1; date +%N", shell=True, stdout=-1, text=True
    )
    try:
        command.communicate(timeout=0.1)
    except subprocess.TimeoutExpired:
        return command.communicate(), command.returncode


def dialogue():
    said = []
    with subprocess.Popen(
        "printf x >> starts; while read line; do echo $line $(date +%N); done",
        shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    ) as command:  # fmt: skip
        for line in ("one", "two"):
            command.stdin.write(f"{line}\n")
            said.append(command.stdout.readline())
        command.stdin.close()
    return said, command.returncode


def unbuffered():
    with subprocess.Popen(
        "printf x >> starts; date +%N", shell=True, stdout=subprocess.PIPE, bufsize=0
    ) as command:
        return command.stdout.read(4), command.stdout.read(), command.wait()


def two_threads():
    lines = []
    command = subprocess.Popen(
        "printf x >> starts; for i in 1 2 3; do date +out%N; date +err%N >&2; done",
        shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    threads = [
        threading.Thread(target=lines.extend, args=(each,)) for each in (command.stdout, command.stderr)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    command.stdout.close()
    command.stderr.close()
    return lines, command.wait()


def pipeline():
    first = subprocess.Popen("printf x >> starts; date +%N", shell=True, stdout=subprocess.PIPE)
    second = subprocess.Popen(["rev"], stdin=first.stdout, stdout=subprocess.PIPE)
    first.stdout.close()
    return second.communicate()[0], first.wait()


def polled_and_ended():
    looks = 0
    command = subprocess.Popen("printf x >> starts; exec sleep 60", shell=True)
    while command.poll() is None:
        looks += 1
        time.sleep(0.01)
        if looks == 3:
            command.terminate()
    return command.returncode == -signal.SIGTERM


def killed_by_number():
    text = "printf x >> starts; echo; exec sleep 60"
    with subprocess.Popen(text, shell=True, start_new_session=True, stdout=subprocess.PIPE) as command:
        command.stdout.readline()
        os.kill(command.pid, 0)
        os.killpg(os.getpgid(command.pid), signal.SIGKILL)
        return command.wait()


def into_a_file():
    with open("log", "w", encoding="utf-8") as file:
        file.write("before ")
        command = subprocess.Popen(LOUD, shell=True, stdout=file, stderr=subprocess.STDOUT)
    command.wait()
    with open("log", encoding="utf-8") as file:
        return file.read()


def into_a_temporary_file():
    with tempfile.TemporaryFile() as file:
        subprocess.run("printf x >> starts; date +%N", shell=True, stdout=file, check=True)
        file.seek(0)
        return file.read()


def not_there():
    with open("starts", "a", encoding="utf-8") as file:
        file.write("x")
    try:
        subprocess.run(["no-such-command", "argument"], check=False)
    except FileNotFoundError as error:
        return str(error), error.errno
    finally:
        with open("starts", "r+", encoding="utf-8") as file:
            file.truncate(1)


PROGRAMS = [
    run, run_with_input, checked, check_output, getoutput, call, system, popen_of_os, too_late, communicated,
    communicated_late, dialogue, unbuffered, two_threads, pipeline, polled_and_ended, killed_by_number, into_a_file,
    into_a_temporary_file, not_there,
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.__name__ for program in PROGRAMS])
def test_a_command_is_answered_without_a_start(program):
    with reenact.record("command") as recording:
        said = program()
    assert starts() == 1
    with reenact.replay(recording.id) as replay:
        assert program() == said
    assert replay.verdict.faithful, str(replay.verdict)
    assert starts() == 1, "the command ran again"


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.__name__ for program in PROGRAMS])
def test_a_command_without_a_recording_does_what_it_does(program):
    # The hooks stay when a run is over.
    assert program() is not None
    assert starts() == 1


@pytest.mark.parametrize("mode", ["w", "a"])
def test_text_that_is_still_in_the_programs_buffer_comes_behind_a_commands_output(mode):
    def program():
        with open("log", mode, encoding="utf-8") as file:
            file.write("one\n")
            subprocess.run("echo two", shell=True, stdout=file, check=True)
        text = Path("log").read_text(encoding="utf-8")
        Path("log").unlink()
        return text

    assert program() == "two\none\n"
    with reenact.record("command") as recording:
        assert program() == "two\none\n"
    with reenact.replay(recording.id) as replay:
        assert program() == "two\none\n"
    assert replay.verdict.faithful, str(replay.verdict)


def read_by_threads(first, second):
    """Read output and errors in a thread each, which begins after some seconds of native work."""
    found = {}
    with subprocess.Popen(
        "echo out; echo err >&2", shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:

        def read(stream, seconds, name):
            ctypes.CDLL(None).usleep(round(seconds * 1e6))
            found[name] = stream.read()

        threads = [
            threading.Thread(target=read, args=(command.stdout, first, "out")),
            threading.Thread(target=read, args=(command.stderr, second, "err")),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


def test_threads_may_ask_for_the_parts_of_a_command_in_any_order():
    with reenact.record() as recording:
        said = read_by_threads(0, 0.05)
    with reenact.replay(recording.id) as replay:
        assert read_by_threads(1, 0) == said
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_thread_that_asks_for_the_parts_of_a_command_in_another_order_is_found():
    def program(*names):
        with subprocess.Popen(
            "echo out; echo err >&2", shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as command:
            return {name: getattr(command, name).read() for name in names}

    with reenact.record() as recording:
        program("stdout", "stderr")
    with pytest.raises(DivergenceError, match="REORDERED"), reenact.replay(recording.id):
        program("stderr", "stdout")


def test_a_changed_command_is_found():
    with reenact.record("command") as recording:
        subprocess.run(["git", "--version"], capture_output=True, check=False)
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        subprocess.run(["git", "push"], capture_output=True, check=False)
    assert "args.command[1]" in str(caught.value)


def test_changed_input_environment_and_folder_are_found():
    def work(given, variable, folder):
        subprocess.run(
            ["cat"],
            check=True,
            input=given,
            capture_output=True,
            env={**os.environ, "X": variable},
            cwd=folder,
        )

    os.mkdir("other")
    with reenact.record("command") as recording:
        work(b"a", "1", ".")
    for changed, place in (
        ((b"b", "1", "."), "input"),
        ((b"a", "2", "."), "env.X"),
        ((b"a", "1", "other"), "cwd"),
    ):
        with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
            work(*changed)
        assert f"args.{place}" in str(caught.value)


def test_what_is_written_to_a_command_is_compared():
    def talk(text):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as command:
            command.stdin.write(text)
            command.stdin.close()
            return command.stdout.read()

    with reenact.record("talk") as recording:
        assert talk(b"yes") == b"yes"
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        talk(b"no")
    assert "process:cat input" in str(caught.value)


def test_a_secret_in_output_that_comes_in_pieces_is_not_kept():
    secret = "sk-ant-" + "a1B2c3D4" * 6
    half = len(secret) // 2
    Path("first").write_text(secret[:half], encoding="utf-8")
    Path("second").write_text(f"{secret[half:]}\n", encoding="utf-8")
    with reenact.record("secret") as recording:
        command = subprocess.Popen(
            "cat first; sleep 0.2; cat second", shell=True, stdout=subprocess.PIPE, bufsize=0
        )
        pieces = list(iter(lambda: command.stdout.read(4096), b""))
        command.stdout.close()
        command.wait()
    assert len(pieces) == 2
    kept = b"".join(path.read_bytes() for path in Path(recording.path).rglob("*") if path.is_file())
    assert secret[:half].encode() not in kept
    assert secret[half:].encode() not in kept


def read_by_number():
    with subprocess.Popen(["date", "+%N"], stdout=subprocess.PIPE) as command:
        return os.read(command.stdout.fileno(), 100), os.read(command.stdout.fileno(), 100)


SLOWLY = "for i in 1 2 3; do date +%N; sleep 0.1; done"


def read_without_waiting():
    with subprocess.Popen(SLOWLY, shell=True, stdout=subprocess.PIPE) as command:
        os.set_blocking(command.stdout.fileno(), False)
        found, empty = [], 0
        while command.poll() is None:
            piece = command.stdout.read()
            found += [piece] if piece else []
            empty += piece is None
            time.sleep(0.02)
        return found, empty, command.stdout.read()


def read_until_it_would_block():
    with subprocess.Popen(SLOWLY, shell=True, stdout=subprocess.PIPE) as command:
        number, empty, found = command.stdout.fileno(), 0, []
        os.set_blocking(number, False)
        while not found or found[-1]:
            try:
                found.append(os.read(number, 100))
            except BlockingIOError:
                empty += 1
                time.sleep(0.01)
        return found, empty


def select_from_two_pipes():
    both = f"date +%N >&2; {SLOWLY}"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(both, shell=True, **pipes) as command:
        names = {command.stdout: "output", command.stderr: "errors"}
        found, late = [], 0
        while names:
            ready, _, _ = select.select(list(names), [], [], 0.03)
            late += not ready
            for pipe in ready:
                piece = os.read(pipe.fileno(), 1024)
                found.append((names[pipe], piece))
                if not piece:
                    names.pop(pipe)
        return found, late, command.wait()


def talk_to_a_shell():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(["sh"], **pipes) as shell, selectors.DefaultSelector() as selector:
        selector.register(shell.stdout, selectors.EVENT_READ)
        said, late = [], 0
        for line in ("date +%N", "sleep 0.2; date +%N", "false"):
            os.write(shell.stdin.fileno(), f"{line}; echo done $?\n".encode())
            said.append(b"")
            while b"done" not in said[-1]:
                ready = selector.select(0.05)
                late += not ready
                said[-1] += b"".join(os.read(key.fd, 4096) for key, _ in ready)
        return said, late


def poll_a_pipe():
    with subprocess.Popen(SLOWLY, shell=True, stdout=subprocess.PIPE) as command:
        poll = select.poll()
        poll.register(command.stdout, select.POLLIN)
        found = []
        while not found or found[-1] != [b""]:
            found.append([os.read(number, 100) for number, _ in poll.poll(30)])
        return found


def select_in_a_coroutine():
    async def work():
        with subprocess.Popen(SLOWLY, shell=True, stdout=subprocess.PIPE) as command:  # noqa: ASYNC220
            found, late = [], 0
            while not found or found[-1]:
                ready, _, _ = select.select([command.stdout], [], [], 0.03)
                if ready:
                    found.append(os.read(command.stdout.fileno(), 1024))
                else:
                    late += 1
                    await asyncio.sleep(0)
            return found, late

    return asyncio.run(work())


@pytest.mark.parametrize(
    "work",
    [
        select_in_a_coroutine,
        read_by_number,
        read_without_waiting,
        read_until_it_would_block,
        select_from_two_pipes,
        talk_to_a_shell,
        poll_a_pipe,
    ],
)
def test_a_pipe_that_is_read_by_its_number_is_answered(twice, work):
    recorded, replayed, verdict = twice(work)
    assert replayed == recorded
    assert verdict.faithful


def test_another_input_by_number_is_a_departure():
    def talk(text):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as command:
            os.write(command.stdin.fileno(), text)
            command.stdin.close()
            return os.read(command.stdout.fileno(), 100)

    with reenact.record("talk") as recording:
        assert talk(b"yes") == b"yes"
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        talk(b"no")
    assert "process:cat input" in str(caught.value)


def test_a_number_that_is_another_file_by_now_is_read_for_real(tmp_path):
    def work():
        with subprocess.Popen(["date"], stdout=subprocess.PIPE) as command:
            number = command.stdout.fileno()
            os.read(number, 100)
        ours, theirs = os.pipe()
        if ours != number:
            os.dup2(ours, number)
            os.close(ours)
        os.write(theirs, b"mine")
        try:
            return os.read(number, 100)
        finally:
            os.close(number)
            os.close(theirs)

    with reenact.record("reused") as recording:
        assert work() == b"mine"
    with reenact.replay(recording.id):
        assert work() == b"mine"


def test_a_pipe_that_an_event_loop_watches_is_named_and_refused():
    async def work():
        loop = asyncio.get_running_loop()
        with subprocess.Popen(["date"], stdout=subprocess.PIPE) as command:  # noqa: ASYNC220
            reader = asyncio.StreamReader()
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), command.stdout)
            return await reader.read()

    with reenact.record("watched") as recording:
        asyncio.run(work())
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        asyncio.run(work())
    assert "an event loop watches its output" in str(caught.value)


def test_a_command_that_shares_more_than_pipes_is_refused_in_a_replay(capfd):
    def work():
        ours, theirs = os.pipe()
        subprocess.run(
            ["dd", f"of=/dev/fd/{theirs}"], input=b"hello", pass_fds=[theirs], stderr=-3, check=True
        )
        os.close(theirs)
        with open(ours, "rb") as file:
            return file.read()

    with reenact.record("shared") as recording:
        assert work() == b"hello"
    assert "a replay needs --live process" in capfd.readouterr().err
    with pytest.raises(DivergenceError), reenact.replay(recording.id):
        work()


def test_with_live_process_the_command_runs_for_real():
    with reenact.record("command") as recording:
        run()
    with reenact.replay(recording.id, live=["process"], policy=["sh=live"]) as replay:
        run()
    assert starts() == 2
    assert replay.verdict.live


def test_a_python_program_joins_and_is_no_command():
    with reenact.record("python") as recording:
        subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, check=True)
    assert [step.kind for step in reenact.load(recording.id)] == []


def test_a_tool_that_runs_a_command_runs_again_and_gets_its_recorded_output():
    @reenact.tool
    def clock():
        return subprocess.run(
            "printf x >> starts; date +%N", shell=True, capture_output=True, text=True, check=True
        ).stdout

    with reenact.record("tool") as recording:
        said = clock()
    with reenact.replay(recording.id) as replay:
        assert clock() == said
    assert replay.verdict.faithful, str(replay.verdict)
    assert starts() == 1


def test_a_file_that_is_too_large_to_keep_is_named(monkeypatch):
    monkeypatch.setattr("reenact.adapters.stdlib.redirection._MOST", 5)
    with reenact.record("large") as recording, open("log", "wb") as file:
        subprocess.run(["printf", "123456789"], stdout=file, check=True)
    assert (
        "a command wrote 9 bytes into a file; 5 of them are recorded" in reenact.load(recording.id).notes[0]
    )


def test_the_number_of_a_command_of_another_run_is_no_longer_its():
    with reenact.record("left") as recording:
        left = subprocess.Popen(["sleep", "60"])
        left.kill()
    with reenact.record("other") as other:
        os.kill(left.pid, 0)
    left.wait()
    assert len(list(reenact.load(recording.id))) == 2
    assert not list(reenact.load(other.id))


def ended_by(limit, way):
    """Wait for a command that takes longer than a short limit."""
    command = subprocess.Popen(["sleep", "60"]) if way != "run" else None
    try:
        if way == "run":
            subprocess.run(["sleep", "60"], timeout=limit, check=False)
        elif way == "wait":
            command.wait(limit)
        else:
            command.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return "too late"
    finally:
        if command is not None:
            command.kill()
            command.wait()


@pytest.mark.parametrize("way", ["run", "wait", "communicate"])
def test_another_time_limit_behind_a_wait_that_it_ended_is_a_departure(way):
    with reenact.record("slow") as recording:
        assert ended_by(0.2, way) == "too late"
    with reenact.replay(reenact.load(recording.id)) as again:
        assert ended_by(0.2, way) == "too late"
    assert again.verdict.faithful, again.verdict
    with pytest.raises(DivergenceError) as found, reenact.replay(reenact.load(recording.id)):
        ended_by(30, way)
    divergence = found.value.divergence
    assert [(one.path, one.recorded, one.actual) for one in divergence.mismatches] == [
        ("args.timeout", 0.2, 30.0)
    ]


INHERITED = """
    import os, subprocess, sys
    os.mkdir("one"), os.mkdir("two")
    os.environ["MODE"] = "one"
    os.environ["GONE"] = "one"
    del os.environ["GONE"]
    os.chdir("one")
    def command(**more):
        return subprocess.run(["sh", "-c", "pwd > /dev/null; echo $MODE | wc -c"], capture_output=True, **more).stdout
    print(command(), command(cwd=".."), command(env={"A": "1"}), command(env={**os.environ, "A": "1"}))
    text = "import os; os.system('echo $MODE > /dev/null')"
    print(subprocess.call([sys.executable, "-c", text]), os.system("true"))
"""


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(
    ("part", "other", "named"),
    [
        ('"MODE"] = "one"', '"MODE"] = "two"', "args.variables.MODE"),
        ('chdir("one")', 'chdir("two")', "args.folder"),
        ('del os.environ["GONE"]', "pass", "args.variables.GONE"),
        ('os.environ["MODE"] = "one"', "os.environ.update(MODE='two')", "args.variables.MODE"),
    ],
)
def test_a_command_is_asked_with_what_it_inherits(shell, part, other, named):
    shell.write("agent.py", INHERITED)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err
    shell.write("agent.py", INHERITED.replace(part, other))
    replay = shell.replay()
    assert replay.status == 1
    assert "CHANGED  step 1  main/process:sh#0" in replay.err, replay.err
    assert f"    {named}\n" in replay.err, replay.err


def test_a_temporary_folder_that_a_command_inherits_may_have_another_name(home, tmp_path, monkeypatch):
    def run(name):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        os.environ["PLACE"] = str(folder)
        return subprocess.run(["true"], check=True).returncode

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("PLACE", "")
    monkeypatch.chdir("/usr")
    with reenact.record("folders") as recording:
        assert run("job-1234abcd") == 0
    monkeypatch.chdir("/usr")
    with reenact.replay(recording.id) as replay:
        assert run("job-5678wxyz") == 0
    assert replay.verdict.faithful, str(replay.verdict)
