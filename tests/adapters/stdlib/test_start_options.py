"""A command is asked with where its streams lead, and with the options of its process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import reenact
from reenact.core.boundary import current

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a shell")

PROGRAM = """
    import os, signal, subprocess, sys
    LINE = "echo out; echo err >&2; umask; locale > /dev/null"
    print(subprocess.run(LINE, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout)
    print(subprocess.run(LINE, shell=True, capture_output=True, encoding="latin-1").stdout)
    print(subprocess.run(LINE, shell=True, capture_output=True, umask=0o27, start_new_session=True).stdout)
    print(subprocess.run(LINE, shell=True, capture_output=True, preexec_fn=lambda: os.chdir("/")).stdout)
    print(subprocess.run(["cat"], stdin=subprocess.DEVNULL, capture_output=True).stdout)
    print(subprocess.check_output(LINE, shell=True, stderr=subprocess.DEVNULL))
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cat:
        print(cat.communicate("given"))
    os.putenv("PUT", "one")
    print(subprocess.run("echo $PUT", shell=True, capture_output=True).stdout)
    os.umask(0o77)
    print(subprocess.run(LINE, shell=True, capture_output=True).stdout)
    os.umask(0o22)
    action = [(os.POSIX_SPAWN_OPEN, 1, "one.txt", os.O_WRONLY | os.O_CREAT, 0o644)] if sys.platform == "linux" else ()
    print(os.waitpid(os.posix_spawn("/bin/echo", ["echo", "x"], os.environ, file_actions=action), 0)[1])
"""

EDITS = {
    "the errors are left out": ("stderr=subprocess.STDOUT", "stderr=subprocess.DEVNULL", "REORDERED  step 2"),
    "the errors come by themselves": ("stderr=subprocess.STDOUT", "stderr=subprocess.PIPE", "args.streams"),
    "the errors go to the terminal": (", stderr=subprocess.DEVNULL", "", "args.streams.stderr"),
    "another encoding": ('"latin-1"', '"utf-16-le"', "args.encoding"),
    "another mask": ("umask=0o27", "umask=0o22", "args.umask"),
    "another session": ("start_new_session=True", "start_new_session=False", "args.start_new_session"),
    "another function before": ('chdir("/")', 'chdir("/tmp")', "args.preexec_fn"),
    "no function before": (', preexec_fn=lambda: os.chdir("/")', "", "args.preexec_fn"),
    "input of the program": ("stdin=subprocess.DEVNULL, ", "", "args.streams"),
    "bytes": (
        'stdout=subprocess.PIPE, text=True) as cat:\n        print(cat.communicate("given"',
        'stdout=subprocess.PIPE) as cat:\n        print(cat.communicate(b"given"',
        "args.text",
    ),
    "the program's own mask": ("os.umask(0o77)", "os.umask(0o27)", "args.umask"),
    "a variable past os.environ": ('"one")', '"two")', "args.variables.PUT"),
    "another file of a spawned command": ('"one.txt"', '"two.txt"', "args.file_actions[0][2]"),
}  # fmt: skip


@pytest.mark.parametrize(
    "edit", [pytest.param(name, marks=pytest.mark.sampled(every=4)) for name in ("", *EDITS)]
)
def test_a_changed_stream_or_option_of_a_command_is_found(shell, edit):
    shell.write("agent.py", PROGRAM)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    old, new, named = EDITS.get(edit, ("", "", ""))
    shell.write("agent.py", PROGRAM.replace(old, new, 1) if edit else PROGRAM)
    replay = shell.replay()
    if not edit:
        assert (replay.status, replay.out) == (0, done.out), replay.err
    elif edit != "another file of a spawned command" or sys.platform == "linux":
        assert replay.status == 1, replay.err
        assert named in replay.err, replay.err


def test_an_older_recording_is_asked_without_them(home):
    def errors(where):
        return subprocess.run(
            ["sh", "-c", "echo err >&2"], stdout=subprocess.PIPE, stderr=where, check=True
        ).stdout

    with reenact.record() as recording:
        scope = current()
        assert scope is not None
        scope.run.rules = 7
        said = errors(subprocess.STDOUT)
    lines = Path(recording.path, "events.jsonl").read_text(encoding="utf-8")
    assert "streams" not in lines
    assert said == b"err\n"


def test_output_of_a_command_behind_a_replaced_descriptor_is_written_again(shell):
    shell.write(
        "agent.py",
        """
        import os, subprocess, sys
        own = os.dup(1)
        file = os.open("log.txt", os.O_RDWR | os.O_CREAT)
        os.dup2(file, 1)
        print(os.system("echo system"), flush=True)
        subprocess.run(["echo", "run"])
        started = subprocess.Popen(["echo", "popen"])
        started.wait()
        os.dup2(own, 1)
        print(open("log.txt").read())
        """,
    )
    done, _ = shell.record("agent.py")
    assert done.out.split() == ["system", "0", "run", "popen"]
    (shell.folder / "log.txt").unlink()
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err


@pytest.mark.parametrize(("piped", "other"), [(1, 2), (2, 1)])
def test_a_command_that_writes_into_a_pipe_of_the_program_by_its_own_output_is_named_and_refused(
    shell, piped, other
):
    shell.write(
        "agent.py",
        f"""
        import os, subprocess
        own, (ours, theirs), file = [os.dup(1), os.dup(2)], os.pipe(), os.open("log", os.O_WRONLY | os.O_CREAT)
        os.dup2(theirs, {piped}), os.dup2(file, {other})
        assert subprocess.run(["echo", "captured"], capture_output=True).stdout == b"captured\\n"
        os.system("echo piped >&{piped}")
        os.dup2(own[0], 1), os.dup2(own[1], 2)
        print(os.read(ours, 1000))
        """,
    )
    done, recording = shell.record("agent.py")
    assert "piped" in done.out
    assert any(f"'echo piped >&{piped}'" in str(note) for note in recording.notes), recording.notes
    replay = shell.replay()
    assert replay.status == 1
    assert f"EXTRA  main/process:'echo piped >&{piped}'" in replay.err


def test_the_mask_of_modes_is_set_as_without_a_recording(home):
    before = os.umask(0o22)
    try:
        with reenact.record():
            assert os.umask(0o27) == 0o22
            assert os.umask(0o22) == 0o27
    finally:
        os.umask(before)
