"""The other processes of a replay, as a waiting one sees them."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_a_child_that_has_ended_and_is_not_waited_for_does_not_count():
    code = """
import subprocess, sys
from reenact.adapters.process_activity import has_children
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(has_children())
child.stdin.close()
child.stdout.read()
while has_children():
    pass
print(child.returncode)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["True", "None"]
