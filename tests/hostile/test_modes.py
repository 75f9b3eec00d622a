"""Commands and the server write files that only their owner may read, even where new files are open to all (umask 0)."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

AGENT = """
import reenact

@reenact.tool
def look(place):
    return {"place": place, "picture": bytes(range(256)) * 40}

for place in ("Ulm", "Bonn"):
    look(place)
"""

DRIVEN = """
import os, sys, time
os.umask(0)
from reenact.cli import main

def run(*words, status=(0, 1)):
    assert main([*words]) in status, words

run("record", "--name", "one", "--", sys.executable, "agent.py")
run("record", "--name", "two", "--", sys.executable, "agent.py")
run("export", "last", "out/one.reenact")
run("export", "last", "out/whole.reenact", "--salvage")
run("report", "last", "--output", "out/report.md")
run("diff", "last", "last~1", "--html", "out/diff.html", status=(0, 1, 2))
run("keep", "last", "--as", "out/test_kept.py", "--times", "0", status=(0, 1, 2))
run("verify", "--workers", "1", "--junit", "out/v.xml", "--html", "out/v.html")
run("reproduce", "last", "--times", "1")
run("list", "--all")
run("diagnose", "last")
run("trust", "add", "ann", "out/one.reenact")
run("fsck", status=(0, 1, 2))
run("import", "out/one.reenact", "--home", "other")
run("keys", "add", "ci", "--home", "other")

from pathlib import Path
from fastapi.testclient import TestClient
from reenact.server.app import application
from reenact.server.settings import Settings

with TestClient(application(Settings(Path("served"), ("testserver",), keyless=True, running=True))) as client:
    data = Path("out/one.reenact").read_bytes()
    id = client.post("/api/v1/recordings/import", content=data).raise_for_status().json()["id"]
    client.get(f"/api/v1/recordings/{id}/export").raise_for_status()
    job = client.post("/api/v1/jobs", json={"kind": "report", "recording": id, "options": {}})
    address = "/api/v1/jobs/" + job.raise_for_status().json()["id"]
    while client.get(address).json()["status"] in ("queued", "running"):
        time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with all that the commands and the server have written."""
    folder = tmp_path_factory.mktemp("modes")
    (folder / "agent.py").write_text(AGENT)
    (folder / "out").mkdir()
    environ = {
        **os.environ, "REENACT_HOME": str(folder / "home"), "XDG_CONFIG_HOME": str(folder / "config"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", DRIVEN], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.timeout(400)
def test_no_file_and_no_folder_that_is_written_is_open_to_others(folder):
    mine = {folder, folder / "agent.py", folder / "out"}
    found = {path for path in folder.rglob("*") if not path.is_symlink()} - mine
    assert {path.name for path in (folder / "out").iterdir()} >= {
        "one.reenact",
        "report.md",
        "v.html",
        "v.xml",
    }
    assert len(found) > 40
    opened = {
        f"{path.relative_to(folder)} {stat.filemode(path.stat().st_mode)}"
        for path in found
        if path.stat().st_mode & 0o077
    }
    assert sorted(opened) == []
