"""The modules that a command and a recorded program import: what they do not need delays each start."""

import json
import subprocess
import sys

import pytest

PROGRAM = "import json, sys; print(json.dumps(sorted(sys.modules)))"

TOOL = f"import reenact\n@reenact.tool\ndef look(number): return number\nlook(1)\n{PROGRAM}"

# Replays, forks, the debugger and all readers of recordings.
OF_REPLAYS = (
    "reenact.analysis", "reenact.core.messages", "reenact.core.query.facts", "reenact.core.query.recorded_run",
    "reenact.core.replay", "reenact.core.store.reading", "reenact.run.api.forking", "reenact.run.api.replaying",
    "reenact.run.debugger", "reenact.run.files", "reenact.run.fork", "reenact.run.members",
    "reenact.run.replayed_processes", "reenact.verbs",
)  # fmt: skip
# Packages that other commands or libraries need.
HEAVY = ("httpx", "pdb", "pydantic", "rich", "sqlite3")
# Modules of the standard library with adapters of their own: the adapters come when the program imports them.
OF_PROGRAMS = (
    "asyncio", "concurrent", "decimal", "fractions", "http", "logging", "multiprocessing", "socket", "ssl", "sysconfig",
    "traceback", "zipfile",
)  # fmt: skip

COMMAND = """
import json, sys
from reenact.cli import main
main(sys.argv[1:])
print(json.dumps(sorted(sys.modules)))
"""


def loaded(text, *unwanted):
    names = json.loads(text.strip().splitlines()[-1])
    return [name for name in names if any(name == each or name.startswith(f"{each}.") for each in unwanted)]


def test_a_recorded_program_imports_no_replay_and_no_reader(shell):
    done = shell.run("record", "--", sys.executable, "-c", PROGRAM)
    assert loaded(done.out, *OF_REPLAYS, *HEAVY, *OF_PROGRAMS) == []
    assert "reenact.core.record.recorder" in json.loads(done.out)


def test_a_tool_brings_no_socket_and_few_texts_no_engine_that_searches_for_secrets(shell):
    shell.write("tool.py", TOOL)
    done = shell.run("record", "--", sys.executable, "tool.py")
    assert loaded(done.out, "hyperscan", "re2", "socket", *OF_REPLAYS) == []


def test_a_replayed_program_imports_no_command(shell):
    shell.run("record", "--", sys.executable, "-c", "print(1)")
    found = shell.replay("--", sys.executable, "-c", PROGRAM)
    assert (
        loaded(
            found.out,
            "pdb",
            "reenact.analysis",
            "reenact.cli",
            "reenact.core.messages",
            "reenact.run.child.debug",
            "reenact.run.debugger.breaks",
            "reenact.run.files.replayed",
            "reenact.run.fork",
            "difflib",
            "reenact.core.replay.mixing",
            "reenact.core.replay.realignment",
            "reenact.run.guarding",
            *HEAVY,
            *OF_PROGRAMS,
        )
        == []
    )
    assert "reenact.core.replay.replayer" in json.loads(found.out)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("command", "unwanted"),
    [
        (
            ("list",),
            ("asyncio", "logging", "pydantic", "reenact.adapters", "reenact.browser", "typer",
             "reenact.core.record.recorder", "reenact.core.redact", "reenact.server", "rich"),
        ),
        (
            ("show", "last"),
            ("asyncio", "pydantic", "typer", "reenact.adapters", "reenact.core.record.recorder", "reenact.core.redact", "reenact.server",
             "rich.progress"),
        ),
        (
            ("replay", "last"),
            ("asyncio", "pydantic", "typer", "reenact.adapters", "reenact.analysis.attempts", "reenact.analysis.diff",
             "reenact.core.boundary", "reenact.core.messages", "reenact.core.redact", "reenact.server", "rich", "zipfile"),
        ),
        (
            ("record", "--", sys.executable, "-c", "pass"),
            ("asyncio", "pydantic", "typer", "reenact.adapters", "reenact.core.record.recorder", "reenact.core.redact", "reenact.server",
             "reenact.testing", "reenact.cli.overview", "reenact.core.files", "reenact.core.messages",
             "reenact.core.query.state", "reenact.run.files.disk", "rich", "zipfile"),
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_a_command_imports_no_module_that_it_does_not_need(shell, command, unwanted):
    shell.run("record", "--", sys.executable, "-c", "print(1)")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *command], capture_output=True, text=True, check=True, cwd=shell.folder,
        env=shell.environ,
    )  # fmt: skip
    assert loaded(done.stdout, *unwanted) == []


def test_a_program_that_makes_no_session_imports_no_browser():
    text = f"from reenact import Client; Client(); {PROGRAM}"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert loaded(done.stdout, "playwright", "pydantic", "starlette", "uvicorn", "reenact.browser.page") == []


def test_a_command_that_reads_no_model_call_imports_no_reader_of_one(shell):
    shell.run("record", "--", sys.executable, "-c", "print(1)")
    subprocess.run(
        [sys.executable, "-c", COMMAND, "list"],
        capture_output=True,
        check=True,
        cwd=shell.folder,
        env=shell.environ,
    )
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "list"], capture_output=True, text=True, check=True, cwd=shell.folder,
        env=shell.environ,
    )  # fmt: skip
    readers = [
        f"reenact.core.messages.{name}"
        for name in ("http", "openai", "anthropic", "pydantic_ai", "langchain")
    ]
    assert loaded(done.stdout, *readers, "reenact.core.replay", "reenact.core.store.bundle") == []
