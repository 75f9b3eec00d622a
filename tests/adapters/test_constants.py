"""A changed constant of a tool that a replay answers is named; values that change as the program runs are none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reenact.adapters import constants
from tests.conftest import Shell

AGENT = """
from pathlib import Path

import reenact
import rates
from rates import LIMIT as most

RATE = 3
NAMES: dict[str, str] = {"tea": "Tea"}
OTHER = 1
count = 0
if RATE:
    MODE = "strict"

class Prices:
    factor = 2

    class Inner:
        extra = 5

prices = Prices()

@reenact.tool
def price(item):
    global count
    count += 1
    Path(".env").read_text()
    return [RATE, NAMES[item], MODE, prices.factor, Prices.Inner.extra, rates.VAT, most]

print(price("tea"), price("tea"), count)
"""
RATES = """
VAT = 19
LIMIT = 100
UNUSED = 1
"""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("RATE = 3", "RATE = 4"),
        ('"Tea"', '"Green tea"'),
        ('"strict"', '"loose"'),
        ("factor = 2", "factor = 7"),
        ("extra = 5", "extra = 6"),
        ("VAT = 19", "VAT = 7"),
        ("LIMIT = 100", "LIMIT = 200"),
    ],
)
def test_a_changed_constant_of_a_tool_that_is_answered_is_named(shell: Shell, old: str, new: str) -> None:
    shell.write(".env", "NAME=1")
    shell.write("agent.py", AGENT)
    shell.write("rates.py", RATES)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done
    shell.write("agent.py", AGENT.replace("OTHER = 1", "OTHER = 2"))
    shell.write("rates.py", f"# a remark\n{RATES.replace('UNUSED = 1', 'UNUSED = 2')}")
    assert (
        shell.replay().status == 1
    )  # its standard output has the count, which an answered tool does not change
    verdict = shell.replay("--ignore", "stdout", "--json").json["verdict"]
    assert verdict["faithful"], verdict
    assert list(verdict["answered"]) == ["tool:price"]
    shell.write("agent.py", AGENT.replace(old, new))
    shell.write("rates.py", RATES.replace(old, new))
    verdict = shell.replay("--ignore", "stdout", "--json").json["verdict"]
    assert not verdict["faithful"], verdict
    assert verdict["notes"] == [
        "tool:price did not run (reads the file .env), and constants that it uses have changed"
    ]


def test_the_source_of_a_name_is_found_through_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "__init__.py").write_text(
        "from .inner import A as B\nfrom math import pi\nC = B\nC += 1\n"
    )
    (tmp_path / "given" / "inner.py").write_text("A = 1  # one\n\ndef f(): pass\n")
    given = __import__("given")
    assert constants.of_module(vars(given), "B") == "A = 1\n"
    assert constants.of_module(vars(given), "C") == "C = B\nC += 1\n"
    assert not constants.of_module(vars(given), "pi")
    assert not constants.of_module(vars(given), "none")
    assert not constants.of_class(dict)
    for name in ("given", "given.inner"):
        sys.modules.pop(name)
