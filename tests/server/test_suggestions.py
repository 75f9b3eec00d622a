"""The commands that a server's answers name, each followed on the machine of its reader."""

from __future__ import annotations

import contextlib
import shutil

import httpx
import pytest

from reenact.analysis.interchange.importers import ImportedRun, keep
from reenact.core import system
from reenact.core.store.local import LocalStore
from reenact.errors import TooLarge
from reenact.server import readers
from reenact.server.readers import ReaderCall, ReaderProcess
from reenact.server.routes import debug
from tests.analysis.conftest import does, says
from tests.cli.test_debugging import Typing
from tests.cli.test_hosting import answered, started
from tests.hints import followed
from tests.server.asking import Asking

AGENT = """
    import reenact

    @reenact.tool
    def look(order):
        return f"order {order}"

    print(look(7))
"""
ORDER = {"kind": "reproduce", "options": {}}


@pytest.fixture
def agent(shell):
    """A terminal of the server's machine, with a recorded program."""
    shell.write("agent.py", AGENT)
    shell.record("agent.py")
    return shell


@pytest.fixture
def foreign(agent):
    """The same program, whose recording comes from another machine."""
    assert agent.run("export", "last", "-o", "bug.reenact").status == 0
    shutil.rmtree(agent.home)
    assert agent.run("import", "bug.reenact").status == 0
    return agent


@contextlib.contextmanager
def serving(shell, *words):
    """A real server on loopback, without keys; gives a function that posts to its API."""
    with started(shell, *words, "--port", 0) as ((url, *_), _process):
        key = shell.run("keys", "add", "test", "--role", "write").out.strip() if words[0] == "serve" else ""
        head = {"Authorization": f"Bearer {key}"} if key else {}
        answered(f"{url.rstrip('/')}/api/v1/health")

        def post(path, **more):
            return httpx.post(f"{url.rstrip('/')}/api/v1{path}", headers=head, timeout=120, **more)

        yield post


def test_a_server_that_starts_no_programs_names_the_console(agent):
    id = agent.last().id
    with serving(agent, "serve") as post:
        refused = post(f"/debug/{id}", json={})
    assert refused.status_code == 403
    words = followed(refused.json()["detail"], "server/routes/debug.py", "console")
    with serving(agent, *words) as post:
        assert post(f"/debug/{id}", json={}).status_code == 200


def test_a_job_that_runs_a_program_names_the_server_that_allows_it(agent):
    order = {**ORDER, "recording": agent.last().id}
    with serving(agent, "serve") as post:
        refused = post("/jobs", json=order)
    assert refused.status_code == 403
    with serving(agent, *followed(refused.json()["detail"], "server/routes/jobs.py", "serve")) as post:
        assert post("/jobs", json=order).status_code == 201


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("way", ["replay", "trust add", "serve"])
def test_a_foreign_program_is_allowed_in_each_way_that_the_refusal_names(foreign, way):
    pytest.importorskip("cryptography")
    id = foreign.last().id
    order = {**ORDER, "recording": id}
    running = ["serve", "--running"]
    with serving(foreign, *running) as post:
        refused = post("/jobs", json=order)
        assert refused.status_code == 409, refused.text
        said = refused.json()["detail"]
        words = {
            "replay": followed(said, "server/permission.py", "replay"),
            "trust add": followed(said, "server/permission.py", "trust add"),
            "serve": followed(said, "server/permission.py", "serve"),
        }[way]
        if way == "replay":
            allow(foreign, words)
        elif way == "trust add":
            assert foreign.run(*words, "ann", id).status == 0
        if way != "serve":
            assert post("/jobs", json=order).status_code == 201
            return
    with serving(foreign, *running, *words[1:]) as post:
        assert post("/jobs", json=order).status_code == 201


def allow(shell, words):
    """Answer the command's question with yes."""
    with Typing(shell, command=words) as at:
        at.until("[y/N]")
        at.type("y\n")
        assert at.end() == 0


EMPTY_ZIP = b"PK\5\6" + bytes(18)


def test_a_body_that_is_no_recording_names_the_export(agent):
    other = agent.folder / "other"
    with Asking(other) as ask:
        said = ask.refused("/recordings/import", 400, "POST", content=EMPTY_ZIP)
        words = followed(said, "server/routes/recording_files.py", "export")
        assert agent.run(*words, "last", "-o", "bug.reenact").status == 0
        content = (agent.folder / "bug.reenact").read_bytes()
        assert ask("/recordings/import", 201, "POST", content=content)["id"] == agent.last().id


def test_a_recording_too_large_for_a_servers_debugger_is_debugged_in_a_terminal(agent, monkeypatch):
    monkeypatch.setattr(debug, "LARGEST", 1)
    id = agent.last().id
    with Asking(agent.home, running=True) as ask:
        said = ask.refused(f"/debug/{id}", 413, "POST", json={})
    words = followed(said, "server/routes/debug.py", "debug")
    assert "order 7" in agent.run(*words, "--plain", text="c\nq\n").out


LONG = ImportedRun("long", [does("fetch_page", {"n": 1}, "all of it " * 7_000_000), says("done")])


@pytest.mark.thorough
def test_an_answer_too_large_for_a_server_is_shown_on_the_readers_machine(shell, monkeypatch):
    monkeypatch.setattr(readers, "_PATIENCE", 120.0)
    keep(LocalStore(shell.home), LONG)
    id = shell.last().id
    with Asking(shell.home) as ask:
        said = ask.refused(f"/recordings/{id}/steps/1", 413)
    done = shell.run(*followed(said, "server/reader.py", "show"), id, "1", "--full")
    assert (done.status, done.out.count("all of it") > 6_000_000) == (0, True)


ONE_CALL = pytest.param(
    ReaderCall(sum, (range(10**15),)),
    marks=pytest.mark.skipif(system.PORTABLE, reason="without timers' signals, one call in C is not ended"),
    id="time of one call",
)
MEMORY = pytest.param(ReaderCall(bytearray, (1 << 40,)), id="memory")
TIME = pytest.param(ReaderCall(exec, ("while True: pass",)), id="time")


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("job", [TIME, ONE_CALL, MEMORY])
def test_a_recording_that_takes_a_servers_limits_is_shown_on_the_readers_machine(agent, job):
    process = ReaderProcess(longest=2, memory=600 << 20)
    try:
        with pytest.raises(TooLarge) as refused:
            process.submit(job).result()
    finally:
        process.close()
    said = str(refused.value)
    done = agent.run(*followed(said, "server/readers.py", "show"), "last")
    assert (done.status, "look" in done.out) == (0, True)


@pytest.mark.parametrize("kind", ["id", "file"])
def test_a_recording_without_a_tool_server_names_what_shows_it(agent, kind):
    pytest.importorskip("mcp")
    if kind == "file":
        assert agent.run("export", "last", "-o", "a bug.reenact").status == 0
        assert agent.run("rm", "last", "--yes").status == 0
    refused = agent.run("mcp", "last" if kind == "id" else "a bug.reenact")
    assert "look" in agent.run(*followed(refused.err, "server/mcp_answers.py", "show")).out


def test_a_folder_without_a_recording_names_the_list(agent):
    id = agent.last().id
    torn = agent.home / "recordings" / "torn000000"
    torn.mkdir()
    (torn / "events.jsonl").write_text("")
    with Asking(agent.home) as ask:
        said = ask.refused("/recordings/torn000000", 400)
    listed = agent.run(*followed(said, "core/store/following.py", "list"))
    assert id in listed.out
