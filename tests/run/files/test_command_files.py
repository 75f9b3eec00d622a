"""A command is answered for the files that it found: a replay in which they are others departs there."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from reenact.core.store.chain import chained

SCRIPT = """
    import subprocess, tempfile
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
        script.write("echo 1\\n")
        script.flush()
        print(subprocess.run(["sh", script.name], capture_output=True, text=True).stdout)
"""
OVERWRITTEN = """
    import os
    from pathlib import Path
    Path("table").write_text("2\\n1\\n")
    os.system("sort -o table table")
    print(len(Path("table").read_text()))
"""
OF_A_COMMAND = """
    import subprocess
    from pathlib import Path
    subprocess.run("echo a > notes", shell=True)
    with Path("notes").open("a") as notes:
        notes.write("1\\n")
    print(subprocess.getoutput("wc -l < notes"))
    Path("notes").unlink()
"""
SHELL = """
    import subprocess
    from pathlib import Path
    shell = subprocess.Popen(["sh"], text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for name in ("a", "b"):
        Path("script").write_text(f"echo {name} 1\\n")
        shell.stdin.write("x=$(sh script); rm script; echo $x\\n")
        print(len(shell.stdout.readline()))
    shell.stdin.close()
    shell.wait()
"""
IN_A_LOOP = """
    import asyncio
    from pathlib import Path
    async def main():
        Path("words").write_text("1\\n")
        command = await asyncio.create_subprocess_exec("wc", "words", stdout=asyncio.subprocess.PIPE)
        print(await command.communicate())
        Path("words").unlink()
    asyncio.run(main())
"""
IN_A_TOOL = """
    import concurrent.futures, reenact, subprocess
    from pathlib import Path
    @reenact.tool
    def run(name):
        Path(name).write_text(f"echo {name} 1")
        done = subprocess.run(["sh", name], capture_output=True, text=True)
        Path(name).unlink()
        return len(done.stdout)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        print(list(pool.map(run, ["a", "b", "c"])))
"""
OF_A_PYTHON = """
    import os, subprocess, sys
    from pathlib import Path
    Path("notes").write_text("1\\n")
    text = "from pathlib import Path; notes = Path('notes'); notes.write_text('a' + notes.read_text())"
    subprocess.run([sys.executable, "-c", text])
    print(subprocess.getoutput("wc -c < notes"))
    os.remove("notes")
"""
PROGRAMS = {
    "script": SCRIPT, "overwritten": OVERWRITTEN, "of a command": OF_A_COMMAND, "shell": SHELL, "loop": IN_A_LOOP,
    "tool": IN_A_TOOL, "of a Python": OF_A_PYTHON,
}  # fmt: skip


def record(shell, program):
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_another_content_of_a_file_departs_at_the_command_that_finds_it(shell, program):
    record(shell, program)
    shell.write("agent.py", program.replace("1\\n", "7\\n").replace('1")', '7")'))
    found = shell.replay("--json").json["verdict"]["divergences"][0]
    assert found["kind"] == "CHANGED"
    assert "/file:" in found["address"]
    assert found["step"]
    assert "in another state than recorded" in found["detail"]
    assert found["mismatches"][0]["recorded"].endswith("1")
    assert found["mismatches"][0]["actual"].endswith("7")


def test_a_file_that_is_left_out_or_made_beside_departs_there(shell):
    record(shell, OVERWRITTEN)
    shell.write("agent.py", OVERWRITTEN.replace('    Path("table")', '    None and Path("table")', 1))
    assert "in another state than recorded" in shell.replay().err
    more = '    Path("more").write_text("")\n    os.system'
    text = OVERWRITTEN.replace("    os.system", more) + '    Path("more").unlink()\n'
    shell.write("agent.py", text)
    assert "which the recorded run did not use (process:sort)" in shell.replay().err


def test_a_realigned_replay_names_it_and_goes_on(shell):
    record(shell, SCRIPT)
    shell.write("agent.py", SCRIPT.replace("echo 1", "echo 7"))
    replay = shell.replay("--on-divergence", "realign")
    assert (replay.status, replay.out) == (1, "1\n\n")
    assert "in another state than recorded" in replay.err


def test_threads_that_write_beside_a_command_are_no_departure(shell):
    record(
        shell,
        """
    import subprocess, threading
    end = threading.Event()
    def write():
        for number in range(400):
            with open("lines", "a") as file:
                file.write(f"{number}\\n")
            if end.wait(0.001):
                break
    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(3):
        subprocess.run(["sleep", "0.02"])
    end.set()
    writer.join()
""",
    )


def test_the_number_of_the_process_may_differ_in_a_file(shell):
    program = """
    import os
    from pathlib import Path
    for name in ("lock", "pid"):
        Path(name).write_text(f"{os.getpid()}\\n1\\n")
    os.system("true")
    Path("lock").unlink()
"""
    record(shell, program)
    left_out = shell.replay("--json").json["verdict"]["uncompared"]
    assert sorted(text.rpartition("/")[2] for text in left_out) == ["lock", "pid"]
    assert all(text.startswith("the number of the process in ") for text in left_out)
    shell.write("agent.py", program.replace("1\\n", "2\\n"))
    assert shell.replay("--json").json["verdict"]["divergences"]


def told(event, name, call, *, within=None, **more):
    """A line of a recording in which three threads run a tool each: `a` is the first one's."""
    number = "acb".index(name) + 1
    asked = {"event": event, "call": call, "in": within, "at": f"main/thread:run.{'abc'.index(name)}"}
    if event == "called" and within is None:
        return {**asked, "kind": "tool", "name": "run", "n": 0, "args": {"name": name}, **more}
    if event == "called":
        command = {"command": ["sh", name], "text": True}
        return {
            **asked,
            "at": f"{asked['at']}/tool:run#0",
            "kind": "process",
            "name": "sh",
            "n": 0,
            "args": command,
        }
    return {"event": "files", "call": call, "root": "", "within": number, **more}


def test_a_file_that_a_tool_has_removed_does_not_come_back_with_another_threads_command(shell):
    shell.write("agent.py", IN_A_TOOL)
    _, recording = shell.record("agent.py")
    events = Path(recording.path) / "events.jsonl"
    lines = [orjson.loads(line) for line in events.read_bytes().splitlines()]
    source = next(line["source"] for line in lines if "source" in line)

    def file(name, kind, how="change"):
        state = (
            {"kind": "file", "mode": 0o644, "size": 8, "text": f"echo {name} 1"}
            if kind == "file"
            else {"kind": kind}
        )
        return {"how": how, "root": str(shell.folder), "states": {name: state}}

    def given(call, value):
        return {"event": "returned", "call": call, "value": value}

    ended = {"exit": 0, "errors": ""}
    whole = {"unrecorded": ["writes the file"], "files": ["writes the file"]}
    told_file = {**told("files", "a", 4, **file("a", "file"))}
    # Another thread's command was under way: it was not known who had written the file.
    del told_file["within"]
    body = [
        told("called", "a", 1, source=source), told("called", "c", 2, source=source),
        told("called", "b", 3, source=source), told("files", "a", 3, **file("a", "none", "first")),
        told("files", "c", 3, **file("c", "none", "first")), told("files", "c", 3, **file("c", "file")),
        told("called", "c", 4, within=2), told("files", "b", 4, **file("b", "none", "first")), told_file,
        told("files", "b", 4, **file("b", "file")), told("called", "b", 6, within=3),
        told("called", "a", 5, within=1), given(5, {**ended, "output": "a 1\n"}),
        told("files", "a", 5, **file("a", "none")), {**given(1, 4), **whole},
        given(6, {**ended, "output": "b 1\n"}), told("files", "b", 5, **file("b", "none")), {**given(3, 4), **whole},
        given(4, {**ended, "output": "c 1\n"}), told("files", "c", 5, **file("c", "none")), {**given(2, 4), **whole},
    ]  # fmt: skip
    timed = [{**line, "t": place / 100} for place, line in enumerate(body)]
    drawn = [line for line in lines if line["event"] == "drew"]
    sealed = {name: value for name, value in lines[-1].items() if name != "signed"}
    events.write_bytes(chained(map(orjson.dumps, [lines[0], *drawn, *timed, {**sealed, "t": 1.0}])))
    done = shell.replay("--run-foreign")
    assert done.status == 0, done.err
