"""Replaced functions of the standard library are pickled and copied as before."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import Shell

PROGRAM = """
import asyncio, concurrent.futures, copy, multiprocessing.connection, os, pickle, queue, random, select, shutil, signal
import sqlite3, subprocess, sys, tempfile, threading, time, uuid

def kept(value):
    try:
        return pickle.loads(pickle.dumps(value)) is value and copy.deepcopy(value) is value
    except Exception:
        return False

for name, module in sorted(sys.modules.items()):
    if name.partition(".")[0] in sys.stdlib_module_names and not name.startswith("_"):
        print(*(f"{name}.{key}" for key, value in sorted(vars(module).items()) if not key.startswith("_") and key == getattr(value, "__name__", "") and kept(value)))
"""

POOL = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import Pool

if __name__ == "__main__":
    with Pool(1) as pool:
        print(pool.map(os.path.exists, ["."]), pool.apply(time.sleep, (0.001,)), pool.map(os.system, ["exit 3"]))
    with ProcessPoolExecutor(1) as pool:
        print(pool.submit(time.sleep, 0).result(), len(pool.submit(os.urandom, 4).result()))
"""


def test_a_function_that_can_be_pickled_and_copied_can_be_while_it_is_recorded(shell: Shell) -> None:
    shell.write("program.py", PROGRAM)
    alone = subprocess.run(
        [sys.executable, "program.py"], cwd=shell.folder, capture_output=True, text=True, check=True
    )
    recorded = shell.run("record", "--", sys.executable, "program.py")
    assert recorded.status == 0
    assert "time.sleep" in recorded.out.split()
    assert set(alone.stdout.split()) - set(recorded.out.split()) == set()


def test_a_pool_of_processes_takes_functions_of_the_standard_library(shell: Shell) -> None:
    shell.write("program.py", POOL)
    recorded = shell.run("record", "--", sys.executable, "program.py")
    assert recorded.out == "[True] None [768]\nNone 4\n", recorded.err
    assert shell.run("replay").out == recorded.out
