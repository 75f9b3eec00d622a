"""The script of a command is code that a replay does not run: another one is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STARTS = {
    "run": "subprocess.run(['sh', 'tool.sh'])",
    "its own file": "subprocess.run(['./tool.sh'])",
    "through a shell": "subprocess.run('sh -e tool.sh 2>&1', shell=True)",
    "in a folder": "subprocess.run(['sh', '../tool.sh'], cwd='sub')",
    "Popen": "subprocess.Popen(['sh', 'tool.sh'], stdout=subprocess.PIPE).communicate()",
    "system": "os.system('sh tool.sh')",
    "spawn": "os.waitpid(os.posix_spawnp('sh', ['sh', 'tool.sh'], os.environ), 0)",
    "asyncio": "asyncio.run(loops())",
}
PROGRAM = """
import asyncio, os, subprocess

async def loops():
    started = await asyncio.create_subprocess_exec("sh", "tool.sh")
    await started.wait()

"""


@pytest.fixture
def recorded(shell, request):
    (shell.folder / "sub").mkdir()
    shell.write("tool.sh", "#!/bin/sh\necho one\n")
    (shell.folder / "tool.sh").chmod(0o755)
    shell.write("agent.py", PROGRAM + STARTS[request.param])
    shell.record("agent.py")
    return shell


@pytest.mark.sampled
@pytest.mark.parametrize("recorded", STARTS, indirect=True)
def test_a_script_that_has_changed_since_is_named_and_the_replay_is_not_faithful(recorded):
    done = recorded.replay()
    assert (done.status, "faithful" in done.err) == (0, True), done.err
    recorded.write("tool.sh", "#!/bin/sh\necho two\n")
    done = recorded.replay("--json")
    (note,) = done.json["verdict"]["notes"]
    assert re.search(r"and its script \S*tool\.sh has changed since", note)
    assert (done.status, done.json["verdict"]["faithful"]) == (1, False)


@pytest.mark.parametrize("recorded", ["run"], indirect=True)
def test_the_option_that_is_named_starts_the_command(recorded):
    recorded.write("tool.sh", "#!/bin/sh\necho two\n")
    option = re.search(r"(--live \S+) starts it", recorded.replay().err)[1]
    assert "two" in recorded.replay(*option.split()).out


@pytest.mark.parametrize("recorded", ["run"], indirect=True)
def test_a_script_that_is_gone_or_the_same_again_is_not_named(recorded):
    recorded.write("tool.sh", "#!/bin/sh\necho one\n")
    assert recorded.replay().status == 0
    (recorded.folder / "tool.sh").unlink()
    assert recorded.replay().status == 0


@pytest.mark.parametrize(
    "command",
    ["sh -c 'true' tool.sh", "cat tool.sh", "env", "/bin/true tool.sh"],
)
def test_other_words_of_a_command_are_no_script(shell, command):
    shell.write("tool.sh", "echo one\n")
    shell.write("agent.py", f"import os\nos.system({command!r})")
    _, recording = shell.record("agent.py")
    assert '"script"' not in (Path(recording.path) / "events.jsonl").read_text()


def test_a_script_that_the_program_writes_itself_is_the_same_in_a_replay(shell):
    shell.write(
        "agent.py",
        """
import pathlib, subprocess, tempfile
with tempfile.NamedTemporaryFile("w", suffix=".sh") as made:
    made.write("echo one")
    made.flush()
    print(subprocess.run(["sh", made.name], capture_output=True, text=True).stdout)
pathlib.Path("made.sh").write_text("echo two")
print(subprocess.run(["sh", "made.sh"], capture_output=True, text=True).stdout)
""",
    )
    shell.record("agent.py")
    assert shell.replay().status == 0
    (shell.folder / "made.sh").write_text("echo three")
    assert shell.replay().status == 0
