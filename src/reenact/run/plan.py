"""The plan of a process under Reenact: one variable, removed before the program runs."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from reenact.core.dataclass import dataclass
from reenact.core.model.header import program_of
from reenact.core.trust.identity import keys_folder
from reenact.errors import UsageError

VARIABLE = "REENACT_RUN"
"""The variable with the plan, for the first Python of a command."""

JOIN = "REENACT_JOIN"
"""Tells a process that the program starts which scope of the run it is."""

MIX = "mix"
"""The option of a plan for answers from another recording."""

ACTS = "acts"
"""The option with the rules of calls that may run for real."""

SWITCH = "switch"
"""The option of a plan with the switch interval of threads in seconds, for `reenact prove`."""

SHIFTED = "shifted"
"""The beginning of a pace with other delays, for `reenact prove`; the rest chooses them."""

DEBUG = "debug"
"""The option of a plan with the address of the debugger."""

GUARD = "guard"
"""The option of a plan for a process that a fork has started: the fork's policy."""

FILES = "files"
"""The option of a plan for the scratch folder of the process's files."""

STDIN = "stdin"
"""The option of a plan for the standard input of the process that starts the others."""

RECORDED, LIVE = "recorded", "live"
"""The values of the option `files`: on the recorded files in scratch, or on the user's own."""

RESUME = "resume"
"""The mode of a plan that resumes a recording."""

BOOTSTRAP = Path(__file__).parent / "bootstrap"
"""The folder whose `sitecustomize` makes a Python join."""

_NEEDED = (
    "_cffi_backend",
    "cryptography",
    "hyperscan",
    "orjson",
    "re2",
    "_time_machine",
    "time_machine",
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a process.

    Attributes:
        mode: `record` or `replay`.
        id: The recording's id.
        folder: The recording's folder, which may not exist yet.
        home: The folder of the recordings.
        report: The folder for the process's report.
        process: The scope path of the process; `main` for the first of a command.
        name, tags: The recording's.
        began: The recording's beginning, by `perf_counter` (one clock in all processes of a machine).
        patterns: The patterns of secrets that the user added.
        risky: The filter of effects before which the state is kept.
        every: The number of steps between snapshots; 0: the default.
        files: Folders whose files are recorded beside the program's own; None: no files are recorded.
        options: The options of a replay.
        argv: The recorded command, for a replay.
        python_path: The original PYTHONPATH, to be restored.
        hash_seed: The value of PYTHONHASHSEED, if Reenact has set it and it is to be removed.
        modules: The paths of Reenact and its dependencies, for a Python that has not installed it.
        python: The Python version that these modules are for.
        keys: The user's folder of keys: a program may give its children another home directory.
    """

    mode: str
    id: str
    folder: str
    home: str
    report: str
    process: str = "main"
    name: str = ""
    tags: tuple[str, ...] = ()
    began: float = 0.0
    patterns: tuple[str, ...] = ()
    risky: str = ""
    every: int = 0
    files: tuple[str, ...] | None = ()
    options: dict[str, Any] = field(default_factory=dict)
    python_path: str | None = None
    hash_seed: str | None = None
    modules: dict[str, str] = field(default_factory=dict)
    python: str = ""
    keys: str = ""

    def environ(self, given: Mapping[str, str], *, seed: str | None = None) -> dict[str, str]:
        """Return the environment variables for a process to join.

        `seed` holds if the user has set none.
        """
        path = given.get("PYTHONPATH")
        known = given.get("PYTHONHASHSEED")
        ours = (seed or self.hash_seed) if known is None else None
        plan = dataclasses.replace(
            self,
            python_path=path,
            hash_seed=ours,
            modules=modules(),
            python=".".join(map(str, sys.version_info[:2])),
            keys=self.keys or _keys(),
        )
        added = {
            VARIABLE if self.process == "main" else JOIN: orjson.dumps(dataclasses.asdict(plan)).decode(),
            "PYTHONPATH": str(BOOTSTRAP) + (os.pathsep + path if path else ""),
        }
        return added if ours is None else {**added, "PYTHONHASHSEED": ours}

    def environ_again(self, header: Mapping[str, Any], seed: str | None = None) -> dict[str, str]:
        """Return all variables for a recorded program that runs again.

        PYTHONHASHSEED is the recorded one, or `seed`.
        """
        environ = dict(os.environ)
        seed = seed or program_of(header).get("hash_seed")
        if seed is not None:
            environ.pop("PYTHONHASHSEED", None)
        return environ | self.environ(environ, seed=seed)

    def child(self, process: str) -> Plan:
        """Return the plan of a process that this one starts."""
        options = {**self.options, STDIN: self.options.get(STDIN) or file_of_stdin()}
        return dataclasses.replace(self, process=process, options=options)


def file_of_stdin() -> str:
    """Return a text that two processes have in common if they read the same standard input."""
    try:
        status = os.fstat(0)
    except OSError:
        return "none"
    return f"{status.st_dev}:{status.st_ino}"


def check_files(files: str) -> None:
    """Raise UsageError for a value that `--files` does not have."""
    if files not in (RECORDED, LIVE):
        raise UsageError(f"--{FILES} {files}: it is one of {RECORDED}, {LIVE}")


def parse(text: str) -> Plan:
    """Return the plan of this process, from its environment variable."""
    tree = orjson.loads(text)
    files = tree.get("files", ())
    return Plan(
        **{
            **tree,
            "tags": tuple(tree["tags"]),
            "patterns": tuple(tree["patterns"]),
            "files": None if files is None else tuple(files),
        }
    )


def take(environ: Any) -> Plan | None:
    """Return the plan of this process, and remove it from the environment; None if it has none."""
    text = environ.pop(JOIN, None)
    first = environ.pop(VARIABLE, None)
    text = text or first
    if text is None:
        return None
    plan = parse(text)
    if plan.python_path is None:
        environ.pop("PYTHONPATH", None)
    else:
        environ["PYTHONPATH"] = plan.python_path
    if plan.hash_seed is not None:
        environ.pop("PYTHONHASHSEED", None)
    return plan


def modules() -> dict[str, str]:
    """Return the paths of Reenact and its dependencies, module by module, without any others."""
    found = {"reenact": str(Path(__file__).parents[2])}
    for name in _NEEDED:
        # Found, not imported: the parent process may not need it.
        spec = find_spec(name)
        file = spec.origin if spec is not None else None
        if file is not None:
            parts = 2 if Path(file).name.startswith("__init__.") else 1
            found[name] = str(Path(file).absolute().parents[parts - 1])
    return found


def key(process: str) -> str:
    """Return a short name for a process's files, from its scope path."""
    return "main" if process == "main" else hashlib.sha256(process.encode()).hexdigest()[:12]


def _keys() -> str:
    try:
        return str(keys_folder())
    except UsageError:
        return ""
