"""Recordings verified in parallel, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

import reenact
from reenact.errors import ProgramError, UsageError
from reenact.verbs.verify import Status, verification, verify
from reenact.verbs.verify.engine import Local
from reenact.verbs.verify.outcome import outcome_of
from tests.systems import COPIES

SHOP = """
    import os
    import random
    import signal
    import time

    import reenact

    @reenact.tool
    def price(order):
        return random.randint(1, 10**9)

    @reenact.recorded
    def answer(question, fail=False):
        total = price(question) + price(question + "!")
        if fail:
            raise LookupError(f"no order {question}")
        return total

    @reenact.recorded
    async def aanswer(question):
        return price(question)
"""

BY_PLACE = """
    import random
    import reenact

    @reenact.tool
    def price(order):
        return random.randint(1, 10**9)

    @reenact.recorded
    def answer(question, /):
        return price(question)

    @reenact.recorded
    def several(first, *rest, **names):
        return [price(each) for each in (first, *rest, *names.values())]
"""


@pytest.fixture
def shop(shell, monkeypatch):
    """Five recordings of a program, one of which ended with an error; their ids."""
    monkeypatch.chdir(shell.folder)
    monkeypatch.setenv("REENACT_HOME", str(shell.home))
    shell.write("shop.py", SHOP)
    calls = "\n".join(f"ids.append(made(shop.answer, 'q{number}'))" for number in range(4))
    shell.write(
        "make.py",
        f"""
import shop, reenact
ids = []
def made(function, *args):
    try:
        function(*args)
    except LookupError:
        pass
    return reenact.load("last").id
{calls}
ids.append(made(shop.answer, "q4", True))
print(*ids)
""",
    )
    done = shell.plain("make.py")
    return done.stdout.split()


def statuses(outcomes):
    return [outcome.status for outcome in outcomes]


def test_unchanged_code_runs_all_as_recorded_and_asks_the_world_nothing(shop):
    outcomes = verify(shop, entry="shop:answer")
    assert statuses(outcomes) == [Status.SAME] * 5
    assert [outcome.recording for outcome in outcomes] == shop
    assert verification(outcomes).passed


def test_changed_code_is_found_at_its_step_and_grouped_by_cause(shop, shell):
    shell.write("shop.py", SHOP.replace('question + "!"', 'question + "?!"'))
    outcomes = verify(shop, entry="shop:answer")
    assert statuses(outcomes) == [Status.DIVERGED] * 5
    assert {outcome.step for outcome in outcomes} == {2}
    (found,) = verification(outcomes).failures
    assert (found.status, found.cause) == (Status.DIVERGED, "CHANGED tool:price (args.order)")
    assert len(found.outcomes) == 5


def test_an_error_that_is_gone_is_fixed_and_a_new_one_is_broken(shop, shell):
    shell.write("shop.py", SHOP.replace("if fail:", "if question == 'q1':"))
    outcomes = verify(shop, entry="shop:answer")
    assert statuses(outcomes) == [Status.SAME, Status.BROKEN, Status.SAME, Status.SAME, Status.FIXED]
    assert outcomes[1].detail == "LookupError: no order q1"
    assert outcomes[4].detail == "recorded: LookupError: no order q4"
    assert not verification(outcomes).passed


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("does", "timeout", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", 300, "the process was ended by SIGKILL"),
        ("time.sleep(1)", 12, "no end after 12 seconds"),
        ("os._exit(3)", 300, "the process ended with exit status 3"),
    ],
)
def test_a_crash_or_a_hang_costs_one_recording_only(shop, shell, does, timeout, said):
    shell.write("shop.py", SHOP.replace("if fail:", f"while question == 'q2': {does}\n        if fail:"))
    outcomes = verify(shop, entry="shop:answer", timeout=timeout)
    assert statuses(outcomes) == [Status.SAME, Status.SAME, Status.UNABLE, Status.SAME, Status.SAME]
    assert said in outcomes[2].detail


def test_recordings_that_cannot_run_for_one_reason_are_one_group():
    cannot = "recording {} has no recorded program; say what to run: reenact replay {} -- python agent.py"
    outcomes = [
        outcome_of(id, {"failed": cannot.format(id, id)}) for id in ("abz4phj8n2", "wanfbnnnzz", "0xdag1024y")
    ]
    (found,) = verification(outcomes).failures
    assert (found.status, len(found.outcomes)) == (Status.UNABLE, 3)
    assert (
        found.cause
        == "recording … has no recorded program; say what to run: reenact replay … -- python agent.py"
    )


@COPIES
def test_a_zygote_that_is_killed_costs_one_recording_only(shop, shell):
    shell.write(
        "shop.py", SHOP.replace("if fail:", "if question == 'q2': os.kill(os.getppid(), 9)\n        if fail:")
    )
    outcomes = verify(shop, entry="shop:answer", workers=1)
    assert statuses(outcomes)[:2] == [Status.SAME] * 2
    assert statuses(outcomes)[3:] == [Status.SAME] * 2


def test_async_programs_are_run_too(shell, shop):
    subprocess.run(
        [sys.executable, "-c", "import shop, asyncio; asyncio.run(shop.aanswer('x'))"],
        cwd=shell.folder, env=shell.environ, check=True,
    )  # fmt: skip
    assert statuses(verify(["last"], entry="shop:aanswer")) == [Status.SAME]


@pytest.mark.thorough
def test_an_entry_may_take_the_recording_itself(shop, shell):
    shell.write("again.py", "import shop\ndef run(recording):\n    return shop.answer('q0')\n")
    outcomes = verify(shop[:2], entry="again:run")
    assert statuses(outcomes) == [Status.SAME, Status.DIVERGED]


@pytest.mark.thorough
def test_recordings_of_commands_are_run_as_commands(shell, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(shell.home))
    shell.write("agent.py", "import random\nprint(random.random())\n")
    shell.record("agent.py")
    shell.record("agent.py")
    ids = [found.recording.id for found in reenact.find("", home=shell.home)]
    assert statuses(verify(ids)) == [Status.SAME] * 2
    shell.write("agent.py", "import random\nprint(random.random() + 1)\n")
    assert statuses(verify(ids)) == [Status.DIVERGED] * 2


def test_an_entry_that_cannot_be_imported_is_named_before_anything_runs(shop):
    with pytest.raises(ProgramError, match="nothere:run: ModuleNotFoundError"):
        verify(shop, entry="nothere:run")
    with pytest.raises(ProgramError, match="shop:other: AttributeError"):
        verify(shop, entry="shop:other")
    with pytest.raises(UsageError, match="--entry shop: write it as pkg.module:function"):
        verify(shop, entry="shop")


def test_a_recording_that_is_not_there_or_says_too_little_is_one_outcome(shop, shell):
    shell.write("again.py", "def run(customer):\n    pass\n")
    outcomes = verify(["nothere", shop[0]], entry="again:run")
    assert statuses(outcomes) == [Status.UNABLE] * 2
    assert "no recording 'nothere'" in outcomes[0].detail
    assert "cannot be called with what was recorded" in outcomes[1].detail


def test_arguments_that_a_function_takes_by_place_alone_are_given_so(shell, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(shell.home))
    shell.write("shop.py", BY_PLACE)
    ids = shell.plain(
        "-c",
        "import shop, reenact\n"
        "shop.answer('q'); print(reenact.load('last').id)\n"
        "shop.several('a', 'b', 'c', more='d'); print(reenact.load('last').id)",
    ).stdout.split()
    monkeypatch.chdir(shell.folder)
    for id, entry, call in zip(
        ids, ("answer", "several"), ('answer("q")', 'several("a", "b", "c", more="d")'), strict=True
    ):
        (outcome,) = verify([id], entry=f"shop:{entry}")
        assert outcome.status is Status.SAME, outcome.detail
        done = shell.run("keep", id, "--as", f"test_{entry}.py", "--times", "1")
        assert done.status == 0, done.err
        assert call in (shell.folder / f"test_{entry}.py").read_text()


def test_the_command_shows_a_table_and_writes_junit_and_a_page(shop, shell):
    shell.write("shop.py", SHOP.replace("if fail:", "if question == 'q<1>&':"))
    done = shell.run("verify", *shop, "--entry", "shop:answer", "--junit", "out.xml", "--html", "out.html")
    assert done.status == 0, done.err
    assert "5 recordings: 4 same, 1 fixed" in done.out
    suite = ET.parse(shell.folder / "out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "0", "0")
    assert "1 fixed" in (shell.folder / "out.html").read_text()
    shell.write("shop.py", SHOP.replace("price(question)", "price(question + '<b>')"))
    done = shell.run("verify", "--entry", "shop:answer", "--junit", "out.xml", "--html", "out.html")
    assert done.status == 1
    assert "CHANGED tool:price (args.order)" in done.out
    suite = ET.parse(shell.folder / "out.xml").getroot()
    assert suite.get("failures") == "5"
    assert "<b>'" not in (shell.folder / "out.html").read_text()
    tree = json.loads(shell.run("verify", shop[0], "--entry", "shop:answer", "--json").out)
    assert (tree[0]["status"], tree[0]["step"]) == ("diverged", 1)


def test_a_page_that_cannot_be_written_is_said_before_anything_runs(shell):
    done = shell.run("verify", "--html", "nowhere/page.html")
    assert (done.status, done.out) == (2, "")
    assert done.ours == ["reenact: --html nowhere/page.html: there is no folder nowhere"]


def test_nothing_to_verify_is_one_line(shell):
    done = shell.run("verify")
    assert done.status == 2
    assert done.err == "reenact: there are no recordings to verify; `reenact list` shows what there is\n"
    done = shell.run("verify", "--filter", "tool:(")
    assert done.status == 2


class Counting:
    """An engine that runs here, tells each outcome twice as after a lost worker, and counts what it was given."""

    def __init__(self, told=None):
        self.given = []
        self.told = told

    def run(self, tasks, job, done):
        self.given += [task.ref for task in tasks]

        def twice(task, report):
            if self.told is None or len(self.told) < 2:
                done(task, report)
                done(task, {"failed": "the same one, run again"})
            if self.told is not None:
                self.told.append(task.ref)

        Local().run(tasks, job, twice)


def test_an_outcome_that_comes_twice_counts_once(shop):
    seen = []
    outcomes = verify(shop[:3], entry="shop:answer", engine=Counting(), progress=seen.append)
    assert statuses(outcomes) == [Status.SAME] * 3
    assert len(seen) == 3


@pytest.mark.thorough
def test_a_fleet_that_was_interrupted_goes_on_with_the_rest_until_the_code_changes(shop, shell):
    with pytest.raises(KeyError):  # of the five only two came back
        verify(shop, entry="shop:answer", engine=Counting([]))
    rest = Counting()
    assert statuses(verify(shop, entry="shop:answer", engine=rest, resume=True)) == [Status.SAME] * 5
    assert len(rest.given) == 3
    shell.write("shop.py", SHOP.replace('question + "!"', 'question + "?"'))
    anew = Counting()
    assert statuses(verify(shop, entry="shop:answer", engine=anew, resume=True)) == [Status.DIVERGED] * 5
    assert sorted(anew.given) == sorted(shop)


def test_a_system_that_binds_no_processes_has_a_worker_for_each_processor(monkeypatch):
    from reenact.core.system import cores

    assert cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    assert cores() == 12
