"""Run Postgres's client programs, such as pg_dump, on a team's database."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from reenact.errors import UsageError
from reenact.team.location import TeamPlace

_BLOCK = 1 << 20
_LOCAL = ("/usr/lib/postgresql", "/usr/local/opt/libpq", "/opt/homebrew/opt/libpq")


def dumped(program: str, place: TeamPlace, words: list[str]) -> Iterator[bytes]:
    """Yield the output of a dump program in blocks.

    Raises UsageError if the program fails, so that the output is dropped.
    """
    with (
        tempfile.TemporaryFile() as said,
        _started([program, *words, *database_of(place)], place, said) as process,
    ):
        assert process.stdout is not None
        while block := process.stdout.read(_BLOCK):
            yield block
        _ended(process, said)


def run(words: list[str], place: TeamPlace) -> None:
    with tempfile.TemporaryFile() as said, _started(words, place, said) as process:
        process.communicate()
        _ended(process, said)


def _started(words: list[str], place: TeamPlace, said: IO[bytes]) -> subprocess.Popen[bytes]:
    password = conninfo_to_dict(place.database).get("password")
    # Other users of the machine can see a program's arguments.
    environ = {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=said, env=environ)  # noqa: S603 - Postgres's own


def _ended(process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    if process.wait():
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
        hint = "; --tools names the folder of newer ones" if "version" in lines[0] else ""
        name = Path(str(process.args[0])).name  # type: ignore[index]
        raise UsageError(f"{name} failed: {' '.join(lines[:2])[:300]}{hint}")


def database_of(place: TeamPlace) -> list[str]:
    parts = conninfo_to_dict(place.database)
    parts.pop("password", None)
    return [f"--dbname={make_conninfo('', **parts)}"]


def tool(name: str, folder: Path | None) -> str:
    """Return the path of one of Postgres's programs. Raises UsageError if missing."""
    if folder is not None:
        places = [folder]
    else:
        known = [
            one for place in _LOCAL if Path(place).is_dir() for one in sorted(Path(place).glob("**/bin"))
        ]
        places = [*map(Path, os.get_exec_path()), *reversed(known)]
    found = next((str(one / name) for one in places if os.access(one / name, os.X_OK)), None)
    if found is None:
        where = f"in {folder}" if folder is not None else "here"
        raise UsageError(
            f"there is no {name} {where}: install Postgres's client programs (Debian: postgresql-client), of the "
            "server's version or newer, or say where they are with --tools"
        )
    return found
