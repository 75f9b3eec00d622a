"""Processes that wait for each other after a change of the program: the replay goes on, and names the change."""

from __future__ import annotations

import sys

import pytest

from tests.run.test_recorded_servers import LOOK, PROGRAMS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by signals of POSIX")


def test_a_thread_that_leaves_out_a_call_answers_the_process_that_waits_for_it(shell):
    shell.write("client.py", LOOK + "print(ask(sys.argv[1], sys.stdin.read()))")
    program = LOOK + PROGRAMS["processes ask the program"]
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    shell.write("agent.py", program.replace("look(seen[-1])", "1"))
    again = shell.replay("--json")
    assert again.status == 1, again.out
    found = {
        (each["kind"], each["address"].rpartition("/")[2]) for each in again.json["verdict"]["divergences"]
    }
    assert ("CHANGED", "ask#0") in found


def test_a_process_whose_parent_is_gone_ends(shell, tmp_path):
    shell.write(
        "server.py",
        LOOK
        + """
import os, pathlib
server = HTTPServer(("127.0.0.1", 0), Handler)
pathlib.Path(sys.argv[1], str(os.getpid())).touch()
print(server.server_port, flush=True)
server.serve_forever()
""",
    )
    program = LOOK + PROGRAMS["a server that is killed"].replace('"0"', repr(str(tmp_path)))
    shell.write("agent.py", program)
    shell.record("agent.py")
    shell.write("agent.py", program.replace('"abc"', '"abd"'))
    assert shell.replay().status == 1
    from reenact.core import system

    for number in (int(path.name) for path in tmp_path.iterdir() if path.name.isdigit()):
        while system.runs(number):
            pass
