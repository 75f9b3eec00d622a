"""Recordings kept as tests: the tests are written, and run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import reenact
from reenact.errors import UsageError
from reenact.verbs.keep_test import add, entry_of, kept

PROGRAM = """
    import sys
    import reenact

    @reenact.tool
    def cancel(order):
        with open("live.txt", "a") as file:
            file.write(order)
        return f"{order} cancelled"

    if __name__ == "__main__":
        print(cancel(sys.argv[1]))
"""
RECORDED = """
    import asyncio
    import random
    import reenact

    @reenact.tool
    def draw(limit):
        return random.randint(0, limit)

    @reenact.recorded
    def answer(question, limit=10**9):
        return {"question": question, "drawn": draw(limit)}

    @reenact.recorded
    async def aanswer(question):
        await asyncio.sleep(0.01)
        return draw(10**9)
"""


def run_tests(shell, *words):
    """Run pytest in the folder."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", *words],
        cwd=shell.folder,
        env={**shell.environ, "PYTHONPATH": str(shell.folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_recorded_command_is_kept_as_a_test_that_runs_it_again_from_the_recording(shell):
    shell.write("agent.py", PROGRAM)
    done = shell.run("record", "--name", "Cancel it!", "--", sys.executable, "agent.py", 'ORD-1 "x"')
    assert done.status == 0
    assert shell.run("keep", "last", "--as", "tests/test_orders.py").status == 0
    text = (shell.folder / "tests" / "test_orders.py").read_text()
    assert "def test_cancel_it():" in text
    assert "1  tool:cancel" in text
    assert str(shell.folder) not in text
    status, said = run_tests(shell, "tests")
    assert status == 0, said
    assert (shell.folder / "live.txt").read_text() == 'ORD-1 "x"'
    shell.write("agent.py", PROGRAM.replace("cancel(sys.argv[1])", "cancel(sys.argv[1] + '!')"))
    status, said = run_tests(shell, "tests")
    assert status == 1
    assert "CHANGED at step 1" in said


@pytest.mark.thorough
def test_with_its_tool_live_the_test_is_about_the_tool(shell):
    shell.write("agent.py", PROGRAM)
    shell.run("record", "--", sys.executable, "agent.py", "ORD-1")
    words = ("--live", "tool", "--policy", "cancel=live", "--times", "0")
    shell.run("keep", "last", "--as", "test_orders.py", *words)
    text = (shell.folder / "test_orders.py").read_text()
    assert 'live=["tool"]' in text
    assert 'policy=["cancel=live"]' in text
    assert run_tests(shell)[0] == 0
    assert (shell.folder / "live.txt").read_text() == "ORD-1"
    shell.write("agent.py", PROGRAM.replace("cancelled", "lost"))
    assert run_tests(shell)[0] == 1


@pytest.mark.thorough
def test_a_recorded_function_is_kept_as_a_marked_test_of_its_output(shell):
    shell.write("shop.py", RECORDED)
    shell.write("use.py", "import shop, asyncio\nshop.answer('a \"b\" ☃')\nasyncio.run(shop.aanswer('x'))\n")
    subprocess.run([sys.executable, "use.py"], cwd=shell.folder, env=shell.environ, check=True)
    first, second = sorted(
        (found.recording for found in reenact.find("tool", home=shell.home)), key=lambda each: each.started
    )
    for recording, call in ((first, "answer(question='a')"), (second, "aanswer('x')")):
        words = ["--entry", f"shop:{call}", *(["--async"] if call.startswith("aa") else [])]
        done = shell.run("keep", recording.id, "--as", "test_shop.py", *words)
        assert done.status == 0, done.err
    text = (shell.folder / "test_shop.py").read_text()
    assert text.count("import pytest") == 1
    assert "from shop import answer" in text
    assert "assert await aanswer('x') ==" in text
    shell.write("pytest.ini", "[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    status, said = run_tests(shell)
    assert status == 1
    assert "::test_answer - assert" in said
    assert "1 failed, 1 passed" in said
    (shell.folder / "test_shop.py").write_text(
        text.replace("answer(question='a')", "answer(question='a \"b\" ☃')")
    )
    status, said = run_tests(shell)
    assert status == 0, said


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("keep", "last", "--as", "notes.txt"), "--as notes.txt: a test is a Python file"),
        (
            ("keep", "last", "--as", "t.py", "--entry", "nonsense"),
            "--entry nonsense: write it as pkg.module:",
        ),
        (("keep", "last", "--as", "t.py", "--name", "!"), "--name !: a test's name is made of letters"),
        (("keep", "nothere", "--as", "t.py"), "no recording 'nothere'"),
        (("keep", "last", "--as", "broken.py"), "the test file does not parse (line 1"),
    ],
)
def test_what_cannot_be_kept_costs_one_line_and_writes_nothing(shell, words, said):
    shell.write("agent.py", PROGRAM)
    shell.write("broken.py", "def (:\n")
    shell.run("record", "--", sys.executable, "agent.py", "ORD-1")
    before = sorted(path for path in shell.folder.rglob("*") if shell.home not in path.parents)
    done = shell.run(*words)
    assert done.status == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    after = sorted(path for path in shell.folder.rglob("*") if shell.home not in path.parents)
    assert after == before


@pytest.mark.thorough
def test_a_test_of_the_same_name_is_not_written_twice(shell):
    shell.write("agent.py", PROGRAM)
    shell.run("record", "--", sys.executable, "agent.py", "ORD-1")
    assert shell.run("keep", "last", "--as", "test_x.py").status == 0
    done = shell.run("keep", "last", "--as", "test_x.py")
    assert done.status == 2
    assert "--name gives this test another name" in done.err


def test_a_test_is_added_behind_the_imports_of_what_is_there(home):
    with reenact.record("thing") as session:
        reenact.tool(lambda: 1, name="one")()
    recording = reenact.load(session.id)
    test = kept(recording, Path("tests/test_x.py"), entry=entry_of("pkg.mod:run(1, b='c')"))
    text = add('"""Mine."""\n\nimport os\n\n\ndef test_mine():\n    assert os\n', test)
    head = text.splitlines()[:6]
    assert head == ['"""Mine."""', "", "import os", "import pytest", "from pkg.mod import run", ""]
    assert "def test_mine" in text
    assert text.rstrip().endswith("run(1, b='c')")
    with pytest.raises(UsageError, match="has a test test_thing already"):
        add(text, test)


def test_an_imported_recording_needs_to_be_told_what_to_call(shell):
    shell.write("chat.json", '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]')
    shell.run("import", "chat.json")
    done = shell.run("keep", "last", "--as", "t.py")
    assert done.status == 2
    assert "has no recorded program (was it imported?); say what to call: --entry" in done.err
