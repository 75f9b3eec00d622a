"""A command changes files while it runs and the program reads its output: a shell, a watcher."""

from __future__ import annotations

import pytest

SHELL = """
    import os, subprocess
    from pathlib import Path
    Path(".gitignore").write_text("build/\\n*.log\\n")
    Path("build").mkdir()
    for name in ("build/old", "keep", "gone"):
        Path(name).write_text(name)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    shell = subprocess.Popen(["sh"], text=True, bufsize=1, **pipes)
    print(Path("build/old").read_text())
    for line in (
        "rm gone; date +%N > new",
        "mkdir -p x/y; date +%N > x/y/z; mv keep kept",
        "chmod 700 new; date +%N >> new; date > build/b.log",
        "rm -r x; ln -s new link",
    ):
        shell.stdin.write(f"{line}; echo done\\n")
        while shell.stdout.readline() != "done\\n":
            pass
        print([name for name in ("gone", "new", "x/y/z", "keep", "kept", "link") if Path(name).exists()])
        print(sorted(os.listdir(".")))
        for name in ("new", "x/y/z", "kept", "link"):
            if Path(name).exists():
                print(name, Path(name).read_text(), oct(Path(name).stat().st_mode))
        with open("mine", "a") as file:
            file.write(f"{line}\\n")
        shell.stdin.write("cat mine >> new; echo done\\n")
        shell.stdout.readline()
        print(Path("new").read_text(), Path("mine").read_text())
    shell.stdin.close()
    shell.wait()
"""
AT_ITS_PACE = """
    import subprocess
    line = "for i in 1 2 3 4; do date +%N > state; echo $i; read x; done"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = subprocess.Popen(["sh", "-c", line], text=True, bufsize=1, **pipes)
    for said in command.stdout:
        print(said, open("state").read())
        command.stdin.write("\\n")
    command.wait()
"""
BY_TIME = """
    import subprocess
    line = "for i in 1 2 3 4; do date +%N > state; echo $i; sleep 0.2; done"
    command = subprocess.Popen(["sh", "-c", line], text=True, stdout=subprocess.PIPE)
    for said in command.stdout:
        print(said, open("state").read())
    command.wait()
"""
IN_A_LOOP = """
    import asyncio
    async def main():
        line = "for i in 1 2 3 4; do date +%N > state; echo $i; sleep 0.2; done"
        command = await asyncio.create_subprocess_exec("sh", "-c", line, stdout=asyncio.subprocess.PIPE)
        async for said in command.stdout:
            print(said, open("state").read())
        await command.wait()
    asyncio.run(main())
"""
IN_SILENCE = """
    import subprocess, time
    from pathlib import Path
    line = "sleep 0.3; date +%N > state; sleep 0.3; date +%N >> state"
    command = subprocess.Popen(["sh", "-c", line])
    slept, seen = 0, set()
    while len(seen) < 2:
        time.sleep(0.05)
        slept += 1
        if Path("state").exists() and Path("state").read_text():
            seen.add(Path("state").read_text())
    command.wait()
    print(slept > 0, sorted(seen))
"""
AT_A_TERMINAL = """
    import os, pexpect
    shell = pexpect.spawn("sh", env={**os.environ, "PS1": "$ "}, encoding="utf-8", timeout=60)
    shell.expect_exact("$ ")
    for line in ("date +%N > state", "date +%N >> state", "mkdir -p deep; date +%N > deep/state"):
        shell.sendline(line)
        shell.expect_exact("$ ")
        print(open("state").read(), sorted(os.listdir(".")))
    print(open("deep/state").read())
    shell.sendline("exit")
    shell.expect(pexpect.EOF)
    shell.close()
"""


@pytest.mark.parametrize(
    "program",
    [SHELL, AT_ITS_PACE, BY_TIME, IN_A_LOOP, IN_SILENCE, AT_A_TERMINAL],
    ids=["shell", "pace", "time", "loop", "silence", "terminal"],
)
def test_the_program_sees_each_change_when_it_saw_it_first(shell, program):
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err
    assert replay.err.startswith("faithful"), replay.err
    assert "compared: calls, files, standard output" in replay.err
