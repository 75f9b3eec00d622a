"""A Python that the program starts, and gives input: a replay compares what it is given."""

from __future__ import annotations

import pytest

CHILD = """
    import sys
    if sys.argv[1:] == ["lines"]:
        for line in sys.stdin:
            print(len(line), flush=True)
    else:
        print(len(sys.stdin.buffer.read()))
"""
AT_ONCE = """
    import subprocess, sys
    done = subprocess.run([sys.executable, "child.py"], input="hello\\n" * 1000, capture_output=True, text=True)
    print(done.stdout)
"""
LINE_BY_LINE = """
    import subprocess, sys
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    child = subprocess.Popen([sys.executable, "child.py", "lines"], text=True, bufsize=1, **pipes)
    for number in range(3):
        child.stdin.write(f"hello {number}\\n")
        print(child.stdout.readline())
    child.stdin.close()
    child.wait()
"""
MUCH = """
    import subprocess, sys
    child = subprocess.Popen([sys.executable, "child.py"], stdin=subprocess.PIPE)
    for _ in range(200):
        child.stdin.write(b"hello\\n" * 1000)
    child.stdin.close()
    print(child.wait())
"""
BY_A_SHELL = """
    import os, subprocess, sys
    from pathlib import Path
    Path("table").write_text("hello\\n")
    print(subprocess.getoutput(f"{sys.executable} child.py < table"))
    os.remove("table")
"""
FROM_A_FILE = """
    import os, subprocess, sys
    from pathlib import Path
    Path("table").write_text("hello\\n")
    with open("table") as table:
        print(subprocess.check_output([sys.executable, "child.py"], stdin=table, text=True))
    os.remove("table")
"""
IN_A_LOOP = """
    import asyncio, sys
    async def main():
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
        child = await asyncio.create_subprocess_exec(sys.executable, "child.py", **pipes)
        print(await child.communicate(b"hello"))
    asyncio.run(main())
"""
PROGRAMS = {
    "at once": AT_ONCE, "line by line": LINE_BY_LINE, "much": MUCH, "by a shell": BY_A_SHELL,
    "from a file": FROM_A_FILE, "loop": IN_A_LOOP,
}  # fmt: skip


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_other_input_of_a_python_departs_at_its_read(shell, program):
    shell.write("child.py", CHILD)
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err
    assert replay.err.startswith("faithful"), replay.err
    for text in ("jello", "hell", "hello!"):
        shell.write("agent.py", program.replace("hello", text))
        replay = shell.replay()
        assert replay.status == 1, text
        assert "the program gives this process other input than recorded" in replay.err, replay.err


def test_the_input_of_the_program_itself_is_answered_to_its_children(shell):
    shell.write("child.py", CHILD)
    shell.write("agent.py", "import subprocess, sys\nprint(subprocess.call([sys.executable, 'child.py']))")
    done, _ = shell.record("agent.py", text="hello")
    assert done.status == 0, done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err
