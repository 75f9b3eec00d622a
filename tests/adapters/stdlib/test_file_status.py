"""The times of files that a program changes are the recorded ones in a replay."""

from __future__ import annotations

import pytest

from tests.conftest import Shell

PROGRAMS = {
    "the newest of several files": """
        for name in ("a", "b", "c"):
            Path(name).write_text(name)
        os.utime("b")
        print(max(["a", "b", "c"], key=os.path.getmtime), [path.stat().st_mtime_ns for path in sorted(Path().glob("[abc]"))])
    """,
    "a cache that grows old": """
        cache = Path("cache.json")
        cache.write_text("1")
        print(time.time() - cache.stat().st_mtime < 60, time.time() - cache.stat().st_mtime > 0.5)
        os.utime(cache, (1, 1))
        print(cache.stat().st_mtime, os.path.getmtime("old"))
    """,
    "an archive": """
        for name in ("a", "b"):
            Path(name).write_text(name * 100)
        with zipfile.ZipFile("both.zip", "w") as archive:
            archive.write("a")
        with tarfile.open("both.tar", "w") as archive:
            archive.add("a")
            archive.add("b")
        print([hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in ("both.zip", "both.tar")])
    """,
    "an open file": """
        with open("a", "w") as file:
            file.write("1")
            file.flush()
            print(os.fstat(file.fileno()).st_mtime_ns)
    """,
    "what a command made": """
        subprocess.run(["sh", "-c", "echo 1 > made"], check=True)
        print(os.stat("made").st_mtime_ns)
    """,
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_the_times_of_changed_files_are_the_recorded_ones(shell: Shell, body: str) -> None:
    shell.write("old", "1")
    lines = [line[8:] for line in body.splitlines()]
    shell.write(
        "agent.py",
        "\n".join(
            ["import hashlib, os, subprocess, tarfile, time, zipfile", "from pathlib import Path", *lines]
        ),
    )
    recorded, _ = shell.record("agent.py")
    for path in shell.folder.glob("*.z*"):
        path.unlink()
    replayed = shell.replay()
    assert (replayed.status, replayed.out) == (0, recorded.out), replayed.err


def test_a_file_that_was_changed_since_the_recording_is_seen_as_it_is_and_is_no_departure(
    shell: Shell,
) -> None:
    shell.write("agent.py", "import os\nprint(os.path.exists(__file__), os.path.getsize('agent.py') > 0)\n")
    shell.record("agent.py")
    shell.write(
        "agent.py",
        "import os\n# a comment\nprint(os.path.exists(__file__), os.path.getsize('agent.py') > 0)\n",
    )
    assert "faithful" in shell.replay().err
