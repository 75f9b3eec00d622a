"""Programs that have never heard of Reenact, started under it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

import reenact
from reenact.errors import ProgramError, UsageError
from reenact.run import launch
from reenact.run.output import Output, compare

WORLD = """
    import datetime, os, random, sys, time, uuid
    print("args", sys.argv[1:])
    print(random.random(), uuid.uuid4(), time.time(), datetime.datetime.now(), os.environ.get("CITY"))
    print({"a", "b", "c", "d", "e"}, hash("x"))
"""
AGENT = """
    import sys
    import reenact

    @reenact.tool
    def lookup(order, how="fast"):
        with open("live.txt", "a") as file:
            file.write(f"{order}\\n")
        if order == "bad":
            raise LookupError(order)
        return {"order": order, "state": "open"}

    for order in sys.argv[1:]:
        print(lookup(order))
"""


def test_a_program_that_never_heard_of_reenact_gives_the_same_output_again(shell):
    shell.write("agent.py", WORLD)
    done, recording = shell.record("agent.py", "two words", "ünï ☃", env={"CITY": "Ulm"})
    again = shell.replay()
    assert (done.status, again.status) == (0, 0), again.err
    assert again.out == done.out
    assert "ünï ☃" in done.out
    assert recording.header["entry"] == "program"
    assert recording.header["program"]["hash_seed"]


def test_the_garbage_collector_is_the_programs_and_does_not_visit_what_reenact_has_made(shell):
    packages = shell.folder / "packages"
    packages.mkdir()
    (packages / "sitecustomize.py").write_text("import gc, os\nif 'OFF' in os.environ: gc.disable()\n")
    shell.write(
        "agent.py",
        """
        import gc, sys
        reenact = sys.modules.get("reenact.core.boundary")
        print(gc.isenabled(), reenact is not None, any(each is vars(reenact) for each in gc.get_objects()))
        """,
    )
    for environ, on in (({}, True), ({"OFF": "1"}, False)):
        environ["PYTHONPATH"] = str(packages)
        done, _ = shell.record("agent.py", env=environ)
        assert done.out == f"{on} True False\n", done.err
        assert shell.replay(env=environ).out == done.out


@pytest.mark.thorough
def test_the_hash_seed_of_the_user_is_kept_and_used_again(shell):
    shell.write("agent.py", "print(hash('x'))")
    done, recording = shell.record("agent.py", env={"PYTHONHASHSEED": "7"})
    assert recording.header["program"]["hash_seed"] == "7"
    assert shell.replay(env={"PYTHONHASHSEED": "8"}).out == done.out


@pytest.mark.thorough
def test_the_program_finds_its_environment_path_and_streams_as_they_would_be_without(shell):
    probe = """
        import os, sys
        print(sorted(os.environ), sys.path, sys.argv, sys.flags, sys.stdout.isatty(), sys.stdout.encoding)
        print(sys.stdout.fileno(), sys.stdin.fileno(), sys.stderr.fileno(), sys.stdin.name, sys.stdout.name)
        print(sys.stdout is sys.__stdout__)
        sys.stdout.buffer.write(b"bytes\\n")
        sys.stdout.reconfigure(line_buffering=True)
        print(sys.stdout.line_buffering)
    """
    shell.write("probe.py", probe)
    plain = subprocess.run(
        [sys.executable, "probe.py"],
        cwd=shell.folder,
        env={**shell.environ, "PYTHONPATH": "/nowhere", "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
        input="",
    )
    done, _ = shell.record("probe.py", env={"PYTHONPATH": "/nowhere", "PYTHONHASHSEED": "1"})
    assert done.out == plain.stdout


@pytest.mark.thorough
def test_steps_are_served_and_not_run_again(shell):
    shell.write("agent.py", AGENT)
    done, recording = shell.record("agent.py", "one", "two")
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out)
    assert (shell.folder / "live.txt").read_text() == "one\ntwo\n"
    assert [step.call.address for step in recording] == ["main/tool:lookup#0", "main/tool:lookup#1"]


@pytest.mark.thorough
def test_a_module_and_a_package_are_run_again(shell):
    shell.write("pkg/__init__.py", "")
    shell.write("pkg/__main__.py", "import random, sys; print(sys.argv[1:], random.random())")
    done, _ = shell.record("-m", "pkg", "x")
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out)


@pytest.mark.thorough
def test_code_on_the_command_line_is_run_again(shell):
    done, _ = shell.record("-X", "dev", "-c", "import random; print(random.random())")
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out)


@pytest.mark.thorough
def test_a_replay_runs_in_the_folder_of_the_recording(shell, tmp_path_factory):
    shell.write("agent.py", "import os, random; print(os.getcwd(), random.random())")
    done, _ = shell.record("agent.py")
    again = shell.replay(cwd=tmp_path_factory.mktemp("elsewhere"))
    assert (again.status, again.out) == (0, done.out)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "read", ["sys.stdin.read()", "list(sys.stdin)", "[input('? '), input()]", "sys.stdin.buffer.read()"]
)
def test_what_came_from_standard_input_comes_from_the_recording(shell, read):
    shell.write("agent.py", f"import sys; print({read})")
    done, _ = shell.record("agent.py", text="ein Satz\nnoch einer ☃\n")
    again = shell.replay(text="")
    assert (again.status, again.out) == (0, done.out), again.err
    assert "Satz" in done.out


@pytest.mark.thorough
def test_the_end_of_standard_input_is_the_same_error(shell):
    shell.write("agent.py", "print(input('? '))")
    done, _ = shell.record("agent.py", text="")
    again = shell.replay(text="something\n")
    assert "EOFError" in done.err
    assert "EOFError" in again.err
    assert (done.status, again.status) == (1, 0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("sys.exit(3)", 3),
        ("raise SystemExit(4)", 4),
        ("exit(5)", 5),
        ("sys.exit('no')", 1),
        ("1 / 0", 1),
        ("os._exit(6)", 6),
        ("sys.exit(True)", 1),
        ("sys.exit(False)", 0),
        ("sys.exit(-1)", 255),
        ("sys.exit(256)", 0),
        ("sys.exit(2**70)", 255),
        ("pass", 0),
    ],
)
def test_the_exit_status_passes_through_and_is_kept(shell, code, status):
    shell.write("agent.py", f"import os, sys\n{code}\n")
    done, recording = shell.record("agent.py")
    assert done.status == status
    assert recording.logs[0].sealed["exit"] == status
    assert recording.status == ("error" if status else "ok")
    assert shell.replay().status == 0


@pytest.mark.thorough
def test_a_crash_is_recorded_with_its_error_and_crashes_again_as_it_did(shell):
    shell.write("agent.py", AGENT)
    done, recording = shell.record("agent.py", "one", "bad", "three")
    again = shell.replay()
    assert recording.logs[0].sealed["error"]["type"].endswith("LookupError")
    assert done.status == 1
    assert again.status == 0
    assert "LookupError: bad" in again.err
    assert (shell.folder / "live.txt").read_text() == "one\nbad\n"


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_program_leaves_an_unsealed_recording_that_replays(shell, number):
    shell.write("agent.py", AGENT + "\n    import os\n    os.kill(os.getpid(), int(order))\n")
    done, recording = shell.record("agent.py", int(number))
    assert done.status in {128 + number, -number}
    assert recording.status == "unsealed"
    assert recording.id in done.ours[0]
    assert "unsealed" in done.ours[0]
    assert len(recording.steps) == 1


@pytest.mark.thorough
def test_signals_are_passed_on_to_the_program(shell):
    shell.write(
        "agent.py",
        """
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *a: (print("asked to end", flush=True), sys.exit(9)))
        print("ready", flush=True)
        time.sleep(30)
        """,
    )
    child = subprocess.Popen(
        shell.command("record", "--", sys.executable, "agent.py"),
        cwd=shell.folder, env=shell.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout.readline() == "ready\n"
    child.terminate()
    out, err = child.communicate(timeout=120)
    assert (out, child.returncode) == ("asked to end\n", 9), err
    assert shell.last().logs[0].sealed["exit"] == 9


@pytest.mark.thorough
def test_ctrl_c_reaches_the_program_once_and_the_terminal_is_its_own(shell):
    shell.write(
        "agent.py",
        """
        import sys, time
        print("tty", sys.stdin.isatty(), sys.stdout.isatty(), flush=True)
        print("hello", input("name? "), flush=True)
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            print("interrupted once", flush=True)
            time.sleep(0.3)
            raise SystemExit(7)
        """,
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(shell.folder)
        os.execve(sys.executable, shell.command("record", "--", sys.executable, "agent.py"), shell.environ)
    seen = _until(terminal, b"name? ")
    os.write(terminal, "Zoë\n".encode())
    seen += _until(terminal, "hello Zoë".encode())
    time.sleep(0.2)
    os.write(terminal, b"\x03")
    seen += _until(terminal, b"replay it with")
    _, status = os.waitpid(pid, 0)
    assert b"tty True True" in seen
    assert seen.count(b"interrupted once") == 1
    assert os.waitstatus_to_exitcode(status) == 7
    assert shell.last().steps[0].output == "Zoë"
    again = shell.replay()
    assert "name? Zoë\nhello Zoë\n" in again.out, again.err


LOOKS_AT_STREAMS = """
    import os, sys
    import reenact
    print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty())
    if not sys.stderr.isatty():
        print("no terminal", os.environ.get("SHOP_PROJECT_ID"))
    reenact.tool(len)([1])
"""


def on_a_terminal(shell, *words):
    """Run a command on a terminal, and return what it showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(shell.folder)
        os.execve(sys.executable, shell.command(*words), shell.environ)
    seen = b""
    with suppress(OSError):
        while data := os.read(terminal, 4096):
            seen += data
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen.decode()


def test_a_run_on_a_terminal_is_the_same_in_a_pipe(shell):
    shell.write("agent.py", LOOKS_AT_STREAMS)
    status, seen = on_a_terminal(shell, "record", "--", sys.executable, "agent.py")
    assert (status, "True True True" in seen) == (0, True)
    again = shell.replay()
    assert (again.status, again.out) == (0, "True True True\n"), again.err


def test_a_run_in_a_pipe_is_the_same_on_a_terminal(shell):
    shell.write("agent.py", LOOKS_AT_STREAMS)
    done, _ = shell.record("agent.py")
    assert done.out == "False False False\nno terminal None\n"
    status, seen = on_a_terminal(shell, "replay", "last")
    assert (status, "False False False\r\nno terminal None" in seen) == (0, True), seen


@pytest.mark.thorough
def test_an_unhandled_ctrl_c_ends_reenact_as_it_ends_the_program(shell):
    shell.write("agent.py", "import time\nprint('up', flush=True)\ntime.sleep(30)")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(shell.folder)
        os.execve(sys.executable, shell.command("record", "--", sys.executable, "agent.py"), shell.environ)
    _until(terminal, b"up")
    time.sleep(0.2)
    os.write(terminal, b"\x03")
    _until(terminal, b"replay it with")
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGINT
    recording = shell.last()
    assert recording.status == "error"
    assert recording.logs[0].sealed["exit"] == -signal.SIGINT
    assert "ended with KeyboardInterrupt" in shell.run("show", "last").out


def _until(terminal, what):
    seen = b""
    while what not in seen:
        try:
            data = os.read(terminal, 4096)
        except OSError:
            data = b""
        if not data:
            raise AssertionError(seen.decode())
        seen += data
    return seen


@pytest.mark.thorough
def test_pytest_is_a_program_like_any_other(shell):
    shell.write(
        "test_it.py",
        """
        import random, reenact
        @reenact.tool
        def roll(): return random.random()
        def test_it(capsys): print(roll()); assert roll() != roll()
        """,
    )
    done, recording = shell.record("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert "1 passed" in done.out
    assert len(recording.steps) == 3
    again = shell.replay()
    assert "1 passed" in again.out, again.err
    assert again.status == 0, again.err


@pytest.mark.thorough
def test_a_console_script_is_a_program_like_any_other(shell):
    script = shell.write(
        "tool", f"#!{sys.executable}\nimport random, sys\nprint(random.random())\nsys.exit(2)\n"
    )
    script.chmod(0o755)
    done = shell.run("record", "--", "./tool")
    assert done.status == 2
    assert shell.replay().out == done.out


@pytest.mark.thorough
def test_a_shell_that_starts_two_pythons_gives_one_recording_of_both(shell):
    shell.write("agent.py", AGENT)
    done = shell.run(
        "record", "--", "sh", "-c", f"{sys.executable} agent.py one; {sys.executable} agent.py two"
    )
    recording = shell.last()
    assert [log.process for log in recording.logs] == ["main", "main~1"]
    again = shell.replay("--", "sh", "-c", f"{sys.executable} agent.py one; {sys.executable} agent.py two")
    assert (again.status, again.out) == (0, done.out), again.err
    half = shell.replay("--", sys.executable, "agent.py", "one")
    assert half.status == 1
    assert "MISSING" in half.err


def test_a_command_without_a_python_leaves_nothing_behind(shell):
    done = shell.run("record", "--", "echo", "hello")
    assert (done.status, done.out) == (2, "hello\n")
    assert len(done.ours) == 1
    assert "no Python" in done.err
    assert "reenact record --proxy -- echo hello" in done.err
    assert not shell.home.exists()


def test_an_isolated_python_does_not_join_and_that_is_said(shell):
    done = shell.run("record", "--", sys.executable, "-I", "-c", "print(1)")
    assert done.status == 2
    assert not shell.home.exists()


def _venv(shell, *, with_reenact=False):
    folder = shell.folder / "venv"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, env=shell.environ
    )
    return folder, next(folder.glob("lib/python*/site-packages"))


@pytest.mark.thorough
def test_a_venv_without_reenact_and_with_its_own_sitecustomize(shell):
    folder, packages = _venv(shell)
    (packages / "sitecustomize.py").write_text("import builtins, sys\nbuiltins.CUSTOM = __file__\n")
    shell.write(
        "agent.py",
        """
        import random, sys
        print(CUSTOM, sys.modules["sitecustomize"].__file__, random.random())
        try:
            import rich
        except ImportError as error:
            print(error)
        """,
    )
    done = shell.run("record", "--", folder / "bin" / "python", "agent.py")
    assert done.status == 0, done.err
    assert str(packages / "sitecustomize.py") in done.out
    assert "No module named 'rich'" in done.out
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


@pytest.mark.thorough
def test_a_failing_sitecustomize_of_the_users_does_what_it_does_without(shell):
    folder, packages = _venv(shell)
    (packages / "sitecustomize.py").write_text("1 / 0\n")
    shell.write("agent.py", "print('runs')")
    done = shell.run("record", "--", folder / "bin" / "python", "agent.py")
    assert (done.status, done.out) == (0, "runs\n")
    assert "ZeroDivisionError" in done.err
    assert shell.last().status == "ok"


# -- output --------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_output_is_kept_with_its_hash_and_compared(shell):
    shell.write("agent.py", "import os; print('state', open('state').read())")
    (shell.folder / "state").write_text("one\ntwo")
    done, recording = shell.record("agent.py")
    kept = recording.logs[0].sealed["stdout"]
    assert kept["text"] == done.out
    assert kept["length"] == len(done.out)
    shell.write("agent.py", "print('state one'); print('2')")
    again = shell.replay("--json")
    (divergence,) = again.json["verdict"]["divergences"]
    assert again.status == 1
    assert divergence["address"] == "main/stdout"
    assert divergence["mismatches"][0]["recorded"] == "two"
    ignored = shell.replay("--ignore", "stdout", "--json")
    assert ignored.status == 0
    assert ignored.json["verdict"]["rules"] == ["ignore stdout"]


def _written(text, width):
    heard = Output()
    heard.heard(text)
    return heard.tree() | {"width": width}


def test_a_plain_output_is_compared_on_another_terminal_too():
    assert compare("main", _written("well\n", 150), _written("well\n", 0)) == (None, "")
    found, rule = compare("main", _written("well\n", 150), _written("ill\n", 0))
    assert found.address == "main/stdout"
    assert rule == ""


@pytest.mark.parametrize(
    ("recorded", "actual", "rule"),
    [
        ("one two three\n", "one two\nthree\n", "ignore the layout of stdout"),
        ("\x1b[31mred\x1b[0m \N{BOX DRAWINGS LIGHT HORIZONTAL}\n", "red\n", "ignore the layout of stdout"),
        ("\x1b[31mred\x1b[0m\n", "blue\n", "ignore stdout"),
        ("cut sh…\n", "cut short\n", "ignore stdout"),
    ],
)
def test_what_a_terminal_makes_of_an_output_is_let_pass_by_a_rule_that_is_named(recorded, actual, rule):
    found, said = compare("main", _written(recorded, 150), _written(actual, 0))
    assert found is None
    assert said == f"{rule} (recorded on a terminal of 150 columns, replayed on no terminal)"


@pytest.mark.thorough
def test_a_long_output_is_compared_to_its_end(shell):
    shell.write("agent.py", "import sys; print('x' * 100_000 + (sys.argv[1:] or ['a'])[0])")
    _, recording = shell.record("agent.py")
    assert len(recording.logs[0].sealed["stdout"]["text"]) == 65536
    assert shell.replay().status == 0
    other = shell.replay("--", sys.executable, "agent.py", "b")
    assert other.status == 1
    assert "main/stdout" in other.err


@pytest.mark.thorough
def test_lines_of_two_threads_may_come_in_another_order(shell):
    shell.write(
        "agent.py",
        """
        import os, threading, time
        def say(n):
            if os.environ.get("FIRST") == n: time.sleep(0)
            print("line", n)
        order = open("order").read()
        threads = {n: threading.Thread(target=say, args=(n,)) for n in "ab"}
        for n in order: threads[n].start(); threads[n].join()
        """,
    )
    (shell.folder / "order").write_text("ab")
    shell.record("agent.py")
    (shell.folder / "order").write_text("ba")
    again = shell.replay("--json")
    assert not any(d["address"] == "main/stdout" for d in again.json["verdict"]["divergences"])


# -- divergence ----------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_divergence_ends_the_program_promptly_with_one_line(shell):
    shell.write("agent.py", AGENT)
    shell.record("agent.py", "one", "two")
    again = shell.replay("--", sys.executable, "agent.py", "one", "TWO")
    assert again.status == 1
    assert "Traceback" not in again.err
    assert "CHANGED" in again.err
    assert '"two"' in again.err
    assert '"TWO"' in again.err
    assert (shell.folder / "live.txt").read_text() == "one\ntwo\n"


@pytest.mark.thorough
def test_a_program_that_swallows_a_divergence_and_goes_on_for_ever_is_ended(shell):
    shell.write("agent.py", AGENT)
    shell.record("agent.py", "one")
    shell.write(
        "agent.py",
        AGENT.replace(
            "print(lookup(order))",
            "\n        while True:\n            try: lookup(order)\n            except BaseException: import time; time.sleep(.01)",
        ),
    )
    again = shell.replay("--", sys.executable, "agent.py", "other")
    assert again.status == 1
    assert "CHANGED" in again.err


@pytest.mark.thorough
def test_a_divergence_in_a_thread_or_task_is_no_noise(shell):
    shell.write(
        "agent.py",
        """
        import asyncio, sys, threading, reenact
        @reenact.tool
        def look(x): return x
        @reenact.tool
        async def alook(x): return x
        async def main():
            async with asyncio.TaskGroup() as group:
                for n in range(3): group.create_task(alook((sys.argv[1], n)))
        thread = threading.Thread(target=look, args=(sys.argv[2],))
        thread.start(); thread.join()
        asyncio.run(main())
        """,
    )
    shell.record("agent.py", "a", "b")
    for words in (("a", "B"), ("A", "b")):
        again = shell.replay("--", sys.executable, "agent.py", *words)
        assert again.status == 1
        assert "Traceback" not in again.err
        assert "CHANGED" in again.err


@pytest.mark.thorough
def test_a_missing_step_is_named(shell):
    shell.write("agent.py", AGENT)
    shell.record("agent.py", "one", "two")
    again = shell.replay("--json", "--", sys.executable, "agent.py", "one")
    assert again.status == 1
    assert [d["kind"] for d in again.json["verdict"]["divergences"]] == ["MISSING"]


@pytest.mark.thorough
def test_options_reach_the_replay(shell):
    shell.write("agent.py", AGENT)
    shell.record("agent.py", "one", "two")
    live = shell.replay("--json", "--live", "tool", "--policy", "lookup=live")
    assert (live.status, live.json["verdict"]["live"]) == (1, {"tool:lookup": 2})
    assert (shell.folder / "live.txt").read_text() == "one\ntwo\n"
    ignored = shell.replay("--ignore", "args.order", "--", sys.executable, "agent.py", "one", "TWO")
    assert (ignored.status, "args.order" in ignored.err) == (0, True), ignored.err
    realigned = shell.replay(
        "--json",
        "--on-divergence",
        "realign",
        "--inserted",
        "live",
        "--policy",
        "lookup=live",
        "--",
        sys.executable,
        "agent.py",
        "new thing",
        "one",
        "two",
    )
    first, *others = realigned.json["verdict"]["divergences"]
    assert (first["kind"], first["address"]) == ("EXTRA", "main/tool:lookup")
    assert not any(other["address"].startswith("main/") for other in others)


def test_a_command_may_follow_at_once(shell):
    """The last recording is meant then."""
    shell.write("agent.py", AGENT)
    shell.record("agent.py", "one")
    done = shell.run("replay", "--json", "--", sys.executable, "agent.py", "one")
    assert (done.status, done.json["verdict"]["faithful"]) == (0, True), done.err
    other = shell.run("replay", "--", sys.executable, "agent.py", "two")
    assert (other.status, "CHANGED" in other.err) == (1, True)


@pytest.mark.thorough
def test_the_network_is_shut_in_a_replay(shell):
    shell.write(
        "agent.py",
        """
        import socket, sys
        if sys.argv[1:]: socket.create_connection(("127.0.0.1", 9), timeout=1)
        """,
    )
    shell.record("agent.py")
    again = shell.replay("--", sys.executable, "agent.py", "x")
    assert again.status == 1
    assert "socket:127.0.0.1:9" in again.err


@pytest.mark.thorough
def test_a_program_killed_in_the_replay_gives_no_verdict_and_that_is_said(shell):
    shell.write("agent.py", "import os, sys\nif sys.argv[1:]: os.kill(os.getpid(), 9)")
    shell.record("agent.py")
    again = shell.replay("--", sys.executable, "agent.py", "x")
    assert again.status == 2
    assert len(again.ours) == 1
    assert "without a verdict" in again.err


# -- blocks --------------------------------------------------------------------------------------------------

BLOCKS = """
    import random, sys
    import reenact

    @reenact.tool
    def roll(n):
        return random.random()

    print("before")
    for n in range(2):
        with reenact.record("dice") as recording:
            print(n, roll(n if len(sys.argv) < 2 else 99))
    with reenact.record("other") as recording:
        print("other", roll(7))
    @reenact.recorded
    def agent(x): return roll(x)
    agent(5)
    print("after")
"""


def _blocks(shell):
    plain = shell.plain("agent.py")
    store = reenact.core.store.local.LocalStore(shell.home)
    return plain.stdout.splitlines(), [store.load(name) for name in reversed(store.ids())]


@pytest.mark.thorough
def test_each_block_of_a_program_replays_by_its_name_and_ordinal(shell):
    shell.write("agent.py", BLOCKS)
    lines, recordings = _blocks(shell)
    assert [(r.name, r.header["ordinal"]) for r in recordings] == [
        ("dice", 0),
        ("dice", 1),
        ("other", 0),
        ("agent", 0),
    ]
    for place, recording in enumerate(recordings[:3], 1):
        again = shell.run("replay", recording.id)
        assert again.status == 0, again.err
        assert again.out.splitlines()[place] == lines[place]
        others = [line for i, line in enumerate(again.out.splitlines()) if i in {1, 2, 3} and i != place]
        assert all(line not in lines for line in others)
    assert shell.run("replay", recordings[3].id).status == 0
    assert len(reenact.core.store.local.LocalStore(shell.home).ids()) == 4


@pytest.mark.thorough
def test_a_divergence_in_a_block_ends_the_program(shell):
    shell.write("agent.py", BLOCKS)
    _, recordings = _blocks(shell)
    again = shell.run("replay", recordings[0].id, "--", sys.executable, "agent.py", "x")
    assert again.status == 1
    assert "CHANGED" in again.err
    assert "Traceback" not in again.err
    assert "after" not in again.out


@pytest.mark.thorough
def test_a_program_that_never_comes_to_its_block(shell):
    shell.write("agent.py", BLOCKS)
    _, recordings = _blocks(shell)
    again = shell.run("replay", recordings[0].id, "--", sys.executable, "-c", "print(1)")
    assert again.status == 2
    assert "record('dice')" in again.err


@pytest.mark.thorough
def test_outside_of_the_block_there_is_no_network(shell):
    shell.write("agent.py", BLOCKS)
    _, recordings = _blocks(shell)
    shell.write(
        "agent.py", BLOCKS + "\n    import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)\n"
    )
    again = shell.run("replay", recordings[0].id)
    assert again.status == 1
    assert "outside of the recorded block" in " ".join(again.err.split())


# -- what cannot be run --------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_what_is_gone_is_named(shell):
    path = shell.write("sub/agent.py", "print(1)")
    _, recording = shell.record("agent.py", cwd=path.parent)
    path.rename(path.parent / "other.py")
    with pytest.raises(ProgramError, match="program is gone"):
        launch.replay(recording.id, launch.Options(), home=shell.home)
    path.parent.rename(shell.folder / "moved")
    with pytest.raises(ProgramError, match="folder"):
        launch.replay(recording.id, launch.Options(), home=shell.home)
    with pytest.raises(UsageError, match="no such program"):
        launch.replay(recording.id, launch.Options(), command=["no-such-thing"], home=shell.home)


def test_options_that_cannot_be_meant():
    for options in (
        launch.Options(on_divergence="x"),
        launch.Options(inserted="x"),
        launch.Options(pace="x"),
        launch.Options(ignore=("body",)),
    ):
        with pytest.raises(UsageError):
            options.tree()
