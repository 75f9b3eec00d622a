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
ASKED_FOR = """
    import os, subprocess, time
    from pathlib import Path
    open("lock", "w").close()
    line = "sleep 0.2; date > t; mv t ready; sleep 0.2; mkdir d; date > d/y; sleep 0.2; rm lock; sleep 0.2"
    command = subprocess.Popen(["sh", "-c", line])
    slept, seen = 0, []
    while os.path.exists("lock"):
        time.sleep(0.04)
        slept += 1
        seen.append((os.access("ready", os.R_OK), Path("d/y").is_file(), os.path.isdir("d"), os.path.lexists("t")))
    print(slept, seen)
    command.wait()
"""
INTO_A_FILE = """
    import subprocess, time
    from pathlib import Path
    with open("server.log", "a") as log:
        log.write("starting\\n")
        log.flush()
        line = "date +%N; sleep 0.2; date +%N; echo ready; sleep 100"
        server = subprocess.Popen(["sh", "-c", line], stdout=log, stderr=log)
        slept = 0
        while "ready" not in Path("server.log").read_text():
            time.sleep(0.03)
            slept += 1
        print(slept, Path("server.log").read_text())
        server.terminate()
        print(server.wait())
        log.write("stopped\\n")
    print(Path("server.log").read_text())
"""
READ_ON = """
    import subprocess, time
    log = open("log", "w")
    line = "for i in 1 2 3; do date +%N; sleep 0.2; done; echo end"
    command = subprocess.Popen(["sh", "-c", line], stdout=log, stderr=subprocess.STDOUT)
    follower, lines, slept = open("log"), [], 0
    while not lines or lines[-1] != "end\\n":
        if line := follower.readline():
            lines.append(line)
        else:
            time.sleep(0.05)
            slept += 1
    print(slept, lines)
    command.wait()
"""
IN_A_LOOP_INTO_A_FILE = """
    import asyncio, os
    async def main():
        line = "for i in 1 2 3; do date +%N; sleep 0.1; done; touch ready; sleep 100"
        with open("log", "wb") as log:
            server = await asyncio.create_subprocess_exec("sh", "-c", line, stdout=log)
            sizes = []
            while not os.path.exists("ready"):
                await asyncio.sleep(0.03)
                sizes.append(os.path.getsize("log"))
            print(sizes, open("log").read())
            server.terminate()
            print(await server.wait())
    asyncio.run(main())
"""
IN_A_THREAD = """
    import os, subprocess, threading, time
    def work():
        subprocess.run(["sh", "-c", "sleep 0.3; date +%N > out; sleep 0.3; rm lock"])
    open("lock", "w").close()
    thread = threading.Thread(target=work)
    thread.start()
    seen = []
    while os.path.exists("lock"):
        time.sleep(0.03)
        seen.append(open("out").read() if os.path.exists("out") else None)
    thread.join()
    print(seen, sorted(os.listdir(".")))
"""
IN_THE_BACKGROUND = """
    import subprocess, time
    from pathlib import Path
    line = "(for i in 1 2 3; do sleep 0.1; date +%N >> log; done; touch up) > /dev/null 2>&1 &"
    subprocess.run(line, shell=True)
    slept = 0
    while not Path("up").exists():
        time.sleep(0.04)
        slept += 1
    print(slept, Path("log").read_text())
"""
IN_A_FOLDER = """
    import glob, os, subprocess, time
    from pathlib import Path
    line = (
        "mkdir -p box/in; for i in 1 2 3; do date +%N > box/in/$i.tmp; mkdir box/in/d$i; "
        "mv box/in/$i.tmp box/in/$i.msg; sleep 0.15; done; touch box/end"
    )
    sender = subprocess.Popen(line, shell=True)
    seen = []
    while not Path("box/end").exists():
        for name in sorted(glob.glob("box/in/*.msg")):
            print(name, Path(name).read_text().strip(), sorted(entry.name for entry in os.scandir("box/in")))
            os.remove(name)
        seen.append(len(os.listdir("box")) if Path("box").exists() else None)
        time.sleep(0.03)
    sender.wait()
    print(seen, sorted(path.name for path in Path("box").rglob("*")))
"""
BEFORE_IT_PRINTS = """
    import ctypes, os, subprocess
    libc = ctypes.CDLL(None)
    open("gone", "w").close()
    shell = subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    shell.stdin.write("rm gone\\n")
    for _ in range(100):
        if libc.access(b"gone", 0) != 0:
            break
        libc.usleep(10_000)
    shell.stdin.write("echo done\\n")
    print(shell.stdout.readline(), os.path.exists("gone"))
    shell.stdin.close()
    shell.wait()
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


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(SHELL, id="shell"),
        pytest.param(AT_ITS_PACE, id="pace"),
        pytest.param(BY_TIME, id="time"),
        pytest.param(IN_A_LOOP, id="loop"),
        pytest.param(IN_SILENCE, id="silence"),
        pytest.param(ASKED_FOR, id="asked for"),
        pytest.param(INTO_A_FILE, id="into a file"),
        pytest.param(READ_ON, id="read on"),
        pytest.param(IN_A_LOOP_INTO_A_FILE, id="loop into a file"),
        pytest.param(IN_A_THREAD, id="thread"),
        pytest.param(IN_A_FOLDER, id="folder"),
        pytest.param(IN_THE_BACKGROUND, id="background"),
        pytest.param(AT_A_TERMINAL, id="terminal"),
        pytest.param(BEFORE_IT_PRINTS, id="before it prints"),
    ],
)
def test_the_program_sees_each_change_when_it_saw_it_first(shell, program):
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err
    assert replay.err.startswith("faithful"), replay.err
    assert "compared: calls, files, standard output" in replay.err
