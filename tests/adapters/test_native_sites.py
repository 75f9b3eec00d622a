"""The libraries whose native network code is known."""

from reenact.adapters.native_sites import SITES
from reenact.adapters.writers import DRIVERS


def test_each_library_counts_as_one_that_a_tool_may_write_with():
    assert {module.partition(".")[0] for module in SITES} <= DRIVERS
