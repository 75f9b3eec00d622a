"""Jobs: each is worked on in a process of its own; what becomes of that never takes the server down."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from pydantic import ValidationError

from reenact.errors import RecordingNotFound, UsageError
from reenact.server import jobs as module
from reenact.server.jobs import ENDED, Jobs
from reenact.server.orders import ORDERS
from reenact.server.projects import Projects
from tests.conftest import Shell

PROGRAM = """
    import pathlib, random, reenact

    @reenact.tool
    def draw(count): return random.SystemRandom().sample(range(100), count)

    print("drawn", draw(3))
    while pathlib.Path("hang").exists():
        pass
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program, and what it recorded."""
    shell = Shell(tmp_path_factory.mktemp("program"))
    shell.write("agent.py", PROGRAM)
    _, recording = shell.record("agent.py")
    return shell, recording.id


@pytest.fixture
def shell(program):
    shell, _ = program
    yield shell
    (shell.folder / "hang").unlink(missing_ok=True)
    shutil.rmtree(shell.home / "jobs", ignore_errors=True)


@pytest.fixture
def recorded(program):
    return program[1]


@pytest.fixture
def jobs(shell):
    jobs = Jobs(Projects(shell.home))
    yield jobs
    jobs.close()


def order(kind, id, **options):
    return ORDERS.validate_python({"kind": kind, "recording": id, "options": options})


def until(jobs, id, holds, seconds=240):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = jobs.find("default", id)
        if holds(job):
            return job
        time.sleep(0.02)
    raise AssertionError(job)


def ended(job):
    return job.status in ENDED


def programs(folder):
    """The processes that run the program. A replay lets it write no file that says so."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if (process / "cwd").readlink() == folder and b"agent.py" in (process / "cmdline").read_bytes():
                found.add(int(process.name))
    return found


def hanging(shell, recorded, jobs):
    """A job whose program runs and does not end."""
    (shell.folder / "hang").touch()
    job = jobs.start("default", order("reproduce", recorded))
    job = until(jobs, job.id, lambda job: ended(job) or programs(shell.folder))
    assert job.status == "running", job
    return job


def gone(folder, seconds=240):
    """Wait until no process runs the program."""
    end = time.monotonic() + seconds
    while programs(folder):
        assert time.monotonic() < end, "it still runs"
        time.sleep(0.02)


def test_a_job_does_what_the_command_does_and_says_how_far_it_is(shell, recorded, jobs):
    heard = []
    jobs.listen(
        lambda project, job: heard.append((project, job.status, job.progress.done, job.progress.total))
    )
    job = until(jobs, jobs.start("default", order("reproduce", recorded, times=2)).id, ended)
    assert (job.status, job.error) == ("done", None)
    assert job.result["result"] == "reproduced"
    assert len(job.result["attempts"]) == 2
    assert job.progress.done == job.progress.total == 2
    assert job.progress.label.startswith("replay 2 of 2: faithful")
    assert [each[1:] for each in heard] == [
        ("running", 0, None), ("running", 1, 2), ("running", 2, 2), ("done", 2, 2),
    ]  # fmt: skip
    # A server that starts later has it too.
    again = Jobs(Projects(shell.home))
    assert again.all("default") == [job]
    again.close()


@pytest.mark.thorough
def test_recordings_are_diagnosed_as_by_the_command(shell, recorded, jobs):
    wanted = {
        "kind": "diagnose",
        "recordings": [recorded],
        "options": {"rules": ["many-steps", "risky-action"]},
    }
    job = until(jobs, jobs.start("default", ORDERS.validate_python(wanted)).id, ended)
    assert (job.status, job.error, job.progress.done) == ("done", None, 1)
    told = json.loads(
        shell.run("diagnose", recorded, "--rule", "many-steps", "--rule", "risky-action", "--json").out
    )
    assert job.result == told
    wanted["options"] = {"rules": ["nonsense"]}
    job = until(jobs, jobs.start("default", ORDERS.validate_python(wanted)).id, ended)
    assert (job.status, "nonsense" in job.error) == ("failed", True)
    # A judge is asked with the server's own key.
    assert ORDERS.validate_python({**wanted, "options": {"judge": "openai:gpt-5"}}).runs


@pytest.mark.thorough
def test_what_cannot_be_done_is_one_line(recorded, jobs):
    job = until(jobs, jobs.start("default", order("fork", recorded, at=99)).id, ended)
    assert job.status == "failed"
    assert "99" in job.error
    with pytest.raises(RecordingNotFound, match="no recording nothing"):
        jobs.start("default", order("keep", "nothing"))
    with pytest.raises(RecordingNotFound):
        jobs.start("another-project", order("keep", recorded))


@pytest.mark.thorough
def test_a_job_that_is_ended_leaves_no_program_behind(shell, recorded, jobs):
    job = hanging(shell, recorded, jobs)
    jobs.cancel("default", job.id)
    assert until(jobs, job.id, ended).status == "cancelled"
    gone(shell.folder)


@pytest.mark.thorough
def test_a_process_that_is_killed_is_a_failed_job_and_no_more(shell, recorded, jobs):
    job = hanging(shell, recorded, jobs)
    os.kill(jobs._children[job.id]._process.pid, signal.SIGKILL)
    job = until(jobs, job.id, ended)
    assert (job.status, job.error) == ("failed", "its process was ended by signal 9; see its log")
    (shell.folder / "hang").unlink()
    gone(shell.folder)


@pytest.mark.thorough
def test_a_server_that_ends_ends_its_jobs_and_says_so(shell, recorded):
    jobs = Jobs(Projects(shell.home), at_once=1)
    first = hanging(shell, recorded, jobs).id
    waiting = jobs.start("default", order("reproduce", recorded)).id
    jobs.close()
    gone(shell.folder)
    again = Jobs(Projects(shell.home))
    assert {job.id: (job.status, job.error) for job in again.all("default")} == {
        first: ("failed", "the server ended"),
        waiting: ("failed", "the server ended"),
    }
    again.close()


@pytest.mark.thorough
def test_of_two_servers_neither_takes_the_others_jobs_for_lost(shell, recorded, jobs):
    job = hanging(shell, recorded, jobs)
    beside = Jobs(Projects(shell.home))
    assert beside.find("default", job.id).status == "running"
    beside.close()


def test_few_run_at_once_and_one_that_waits_can_be_taken_back(shell, recorded, monkeypatch):
    (shell.folder / "hang").touch()
    monkeypatch.setattr(module, "WAITING", 1)
    jobs = Jobs(Projects(shell.home), at_once=1)
    first = jobs.start("default", order("reproduce", recorded))
    until(jobs, first.id, lambda job: job.status == "running")
    second = jobs.start("default", order("keep", recorded))
    with pytest.raises(UsageError, match="1 jobs wait already"):
        jobs.start("default", order("keep", recorded))
    jobs.cancel("default", second.id)
    assert jobs.find("default", second.id).status == "cancelled"
    jobs.close()


# -- over HTTP ---------------------------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_a_report_and_a_test_are_files_at_signed_addresses(shell, recorded, served):
    _, client = served(shell.home, keyless=True)
    report = await finished(client, {"kind": "report", "recording": recorded})
    assert (report["status"], report["error"]) == ("done", None)
    (page,) = report["files"]
    assert page["name"] == f"{recorded}.html"
    answer = await client.get(page["url"])
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src" not in answer.headers["content-security-policy"]
    assert "sandbox" in answer.headers["content-security-policy"]
    kept = await finished(client, {"kind": "keep", "recording": recorded})
    names = [file["name"] for file in kept["files"]]
    assert names[-1] == "test_recordings.py"
    assert names[0].endswith(".reenact")
    assert "def test_" in (await client.get(kept["files"][-1]["url"])).text


async def finished(client, order):
    """A job that is begun and followed to its end."""
    begun = await client.post("/api/v1/jobs", json=order)
    assert begun.status_code == 201, begun.text
    async with asyncio.timeout(240):
        text = (await client.get(f"/api/v1/jobs/{begun.json()['id']}/live")).text
    told = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert told[-1] == (await client.get(f"/api/v1/jobs/{begun.json()['id']}")).json() | {
        "files": told[-1]["files"]
    }
    return told[-1]


@pytest.mark.thorough
async def test_who_follows_the_project_is_told_of_its_jobs(shell, recorded, served):
    app, client = served(shell.home, keyless=True)
    feed = app.state.library.feed
    job = await finished(client, {"kind": "keep", "recording": recorded})
    told = [news.tell() for news in feed.since(0) if news.kind == "job"]
    assert [(each["id"], each["status"], len(each["files"]), each["result"]) for each in told] == [
        (job["id"], "done", 2, None)
    ]


@pytest.mark.thorough
async def test_programs_run_only_where_they_may_and_for_who_may(shell, recorded, served):
    app, client = served(shell.home, running=True)
    asked = {"Authorization": f"Bearer {app.state.keys.make(role='read')[1]}"}
    wanted = {"kind": "reproduce", "recording": recorded}
    assert (await client.post("/api/v1/jobs", json=wanted, headers=asked)).status_code == 403
    assert (await client.get("/api/v1/jobs", headers=asked)).json() == {"items": []}
    _, client = served(shell.home, keyless=True)
    for refused in (wanted, {"kind": "report", "recording": recorded, "options": {"times": 1}}):
        answer = await client.post("/api/v1/jobs", json=refused)
        assert (answer.status_code, "reenact serve --running" in answer.text) == (403, True)


@pytest.mark.thorough
async def test_a_project_sees_nothing_of_anothers_recordings_and_jobs(shell, recorded, served):
    app, client = served(shell.home)
    ours, theirs = (
        {"Authorization": f"Bearer {app.state.keys.make(role='admin', project=name)[1]}"}
        for name in ("default", "shop")
    )
    begun = await client.post("/api/v1/jobs", json={"kind": "keep", "recording": recorded}, headers=ours)
    job = f"/api/v1/jobs/{begun.json()['id']}"
    for path in (
        f"/api/v1/recordings/{recorded}",
        f"/api/v1/recordings/{recorded}/steps",
        job,
        f"{job}/live",
    ):
        assert (await client.get(path, headers=theirs)).status_code == 404, path
    assert (await client.delete(job, headers=theirs)).status_code == 404
    assert (await client.get("/api/v1/jobs", headers=theirs)).json() == {"items": []}
    assert (await client.get("/api/v1/recordings", headers=theirs)).json()["total"] == 0
    assert (await client.get(job, headers=ours)).status_code == 200
    assert (await client.get(f"/api/v1/recordings/{recorded}", headers=ours)).status_code == 200


async def test_a_mistyped_address_is_named_without_a_pattern(served):
    _, client = served(keyless=True)
    for address, says in (
        ("jobs/zzz", "'zzz' is not a valid id"),
        ("recordings/%00", "'\\x00' is not a valid id"),
    ):
        answer = await client.get(f"/api/v1/{address}")
        assert (answer.status_code, answer.json()) == (422, {"detail": says})


@pytest.mark.thorough
@pytest.mark.parametrize("id", ["../../x", "a/b", "..", "", "x" * 200])
async def test_an_order_names_recordings_and_no_paths(served, id):
    _, client = served(keyless=True, running=True)
    for order in (
        {"kind": "keep", "recording": id},
        {"kind": "verify", "recordings": [id]},
        {"kind": "bisect", "recording": "abc", "options": {"good": id}},
    ):
        answer = await client.post("/api/v1/jobs", json=order)
        assert (answer.status_code, "String should match pattern" in answer.json()["detail"]) == (422, True)


@pytest.mark.thorough
async def test_a_job_that_has_ended_is_forgotten_with_its_files(shell, recorded, served):
    _, client = served(shell.home, keyless=True)
    job = await finished(client, {"kind": "keep", "recording": recorded})
    url = job["files"][-1]["url"]
    assert (await client.delete(f"/api/v1/jobs/{job['id']}")).status_code == 204
    assert (await client.get(f"/api/v1/jobs/{job['id']}")).status_code == 404
    assert (await client.get(url)).status_code == 404
    assert list((shell.home / "jobs").iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("bisect", {"timeout": 0.08, "good": "a", "check": "b"}),
        ("reproduce", {"times": 0}),
        ("verify", {"timeout": 0}),
        ("report", {"times": -1}),
    ],
)
def test_an_order_has_the_limits_of_the_command(kind, options):
    with pytest.raises(ValidationError, match="greater than or equal to"):
        order(kind, "a", **options)


async def test_an_export_is_written_by_a_job_as_a_page_and_as_a_file(shell, recorded, served, tmp_path):
    _, client = served(shell.home, keyless=True)
    for options, name in (({"html": True}, f"{recorded}.html"), ({}, f"{recorded}.reenact")):
        job = await finished(client, {"kind": "export", "recording": recorded, "options": options})
        assert (job["status"], job["result"]) == ("done", {"file": name}), job
        ((file, url),) = [(each["name"], each["url"]) for each in job["files"]]
        assert file == name
        (tmp_path / name).write_bytes((await client.get(url)).content)
    assert "<h2>What happened</h2>" in (tmp_path / f"{recorded}.html").read_text(encoding="utf-8")
    assert shell.run("show", tmp_path / f"{recorded}.reenact").status == 0
