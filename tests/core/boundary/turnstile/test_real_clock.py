"""The turnstile measures real time, whenever it is imported."""

from __future__ import annotations

import subprocess
import sys

IMPORTED_LATE = """
from reenact.adapters.stdlib import clock
clock.install()
import time
from reenact.core.boundary.turnstile import quiet, replaying_turns, working
for module in (quiet, replaying_turns, working):
    assert module.monotonic is not time.monotonic, module
    assert type(module.monotonic).__name__ == "builtin_function_or_method", module
"""


def test_the_clock_of_a_turnstile_is_the_real_one_though_it_is_imported_behind_the_recorded_clock():
    subprocess.run([sys.executable, "-c", IMPORTED_LATE], check=True)
