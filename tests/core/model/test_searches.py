"""A daemon thread that searches while Python ends does not abort the process."""

from __future__ import annotations

import subprocess
import sys

SEARCHING = """
import threading, time
from reenact.core.redact.marks import _Automata

automata = _Automata([(b"password", 1), (b"token", 1)], literal=True)
begun = threading.Barrier(5)

def search():
    begun.wait()
    while True:
        automata.scan(b"password token x " * 50, 1e9)

for _ in range(4):
    threading.Thread(target=search, daemon=True).start()
begun.wait()
time.sleep(0.05)
"""
AT_THE_END = """
import atexit
from reenact.core.redact import Redactor

redactor = Redactor(salt=b"salt")
atexit.register(lambda: print(redactor.raw(b"password=hunter22")))
redactor.raw(b"nothing")
"""


def run(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )


def test_searches_that_run_when_python_ends_end_first():
    for _ in range(2):
        done = run(SEARCHING)
        assert (done.returncode, done.stderr) == (0, "")


def test_what_python_runs_at_its_end_may_search():
    done = run(AT_THE_END)
    assert "[[secret:" in done.stdout, done.stderr
