"""Run commands of Reenact in this process, and report what each did: one line of JSON for each.

    python -m tests.hostile.drive SCRATCH <orders >reports

An order is `{"words": [...], "home": "...", "cwd": "..."}`. An audit hook notes programs that are started, and files
outside SCRATCH that are opened for writing, removed or renamed.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback

from tests.hostile.corpus import MARK

CPU = 20
WALL = 60
MEMORY = 6 << 30

seen: list[str] = []
scratch = os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else ""


class Late(BaseException):
    """A command took too long."""


def outside(path: object) -> bool:
    if isinstance(path, int) or path is None:
        return False
    real = os.path.realpath(os.fsdecode(path))
    return not real.startswith((scratch, "/dev/", "/proc/")) and "__pycache__" not in real


STARTING = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn"}
CHANGING = {
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "os.link",
    "os.symlink",
    "os.truncate",
}


def watch(event: str, args: tuple) -> None:
    if event == "os.system" or (event in STARTING and MARK in repr(args)):
        seen.append(f"ran {event} {args!r}"[:300])
    elif event == "open" and writes(args[1], args[2]) and outside(args[0]):
        seen.append(f"opened {args[0]} to write")
    elif event in CHANGING and any(outside(arg) for arg in args[:2] if isinstance(arg, (str, bytes))):
        seen.append(f"{event} {args!r}"[:300])


def writes(mode: str | None, flags: int) -> bool:
    return bool(set(mode) & set("wax+")) if mode else bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def late(*_: object) -> None:
    raise Late


def stub() -> None:
    """Let what would serve until it is told to end return at once, and what asks a person get no answer."""
    import uvicorn

    uvicorn.Server.run = lambda *_, **__: None
    os.environ |= {"BROWSER": "true", "VISUAL": "true", "EDITOR": "true"}
    os.makedirs(os.path.join(scratch, "tmp"))
    os.environ["TMPDIR"] = tempfile.tempdir = os.path.join(scratch, "tmp")


def one(order: dict, into: int) -> dict:
    from reenact.cli import main

    os.environ["REENACT_HOME"] = order["home"]
    os.chdir(order["cwd"])
    for number in (1, 2):
        os.ftruncate(into, 0)
        os.lseek(into, 0, os.SEEK_SET)
        os.dup2(into, number)
    seen.clear()
    problem, status = "", None
    signal.setitimer(signal.ITIMER_PROF, CPU)
    signal.alarm(WALL)
    begun = time.process_time()
    try:
        status = main(order["words"])
    except Late:
        problem = "hangs: " + "".join(traceback.format_stack()[-2:])
    except BaseException:
        problem = traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, UnicodeError) as error:
            problem = problem or f"{error!r}"
    with open(into, "rb", closefd=False) as said:
        said.seek(0)
        text = said.read(1 << 20).decode(errors="replace")
    return {
        "status": status,
        "problem": problem,
        "seen": list(seen),
        "said": text,
        "cpu": time.process_time() - begun,
    }


def main() -> None:
    orders = [json.loads(line) for line in sys.stdin]
    reports = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    into = os.open(os.path.join(scratch, "said"), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, late)
    signal.signal(signal.SIGALRM, late)
    stub()
    sys.addaudithook(watch)
    for order in orders:
        reports.write(json.dumps({"begins": order["name"]}) + "\n")
        reports.flush()
        reports.write(json.dumps({"name": order["name"], **one(order, into)}) + "\n")
        reports.flush()


if __name__ == "__main__":
    main()
