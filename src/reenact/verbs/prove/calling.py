"""Call a function again on a recording, in a process of its own, as a kept test does.

    python -m reenact.verbs.prove.calling CALL REPORT

Both are files with JSON. The report has the verdict, or the reason that there is none.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson

from reenact.analysis.attempts import Attempt
from reenact.core.dataclass import dataclass
from reenact.core.model.divergence import verdict_of, verdict_tree
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import load
from reenact.run.launch import Options, Start, folder
from reenact.run.plan import SWITCH
from reenact.verbs.reproduce.rerun import Conditions, ended


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of a user's function.

    Attributes:
        module: The function's module.
        text: The call as Python, such as `answer('Where is it?')`.
        paths: The folders to find the module in, before all others.
    """

    module: str
    text: str
    paths: tuple[str, ...]


def call_again(
    recording: RecordedRun, call: FunctionCall, conditions: Conditions, *, patience: float
) -> Attempt:
    """Call a function under other conditions, in the present folder.

    Args:
        recording: The recording that answers.
        call: The call.
        conditions: The conditions.
        patience: Seconds until the process is ended.
    """
    environ = dict(os.environ)
    if conditions.seed is not None:
        environ["PYTHONHASHSEED"] = conditions.seed
    with folder() as place:
        report, request, out = place / "report", place / "call", place / "output"
        words = {"recording": str(Path(recording.path).absolute()), **asdict(call), **conditions.words}
        request.write_bytes(orjson.dumps(words))
        argv = [sys.executable, "-m", "reenact.verbs.prove.calling", str(request), str(report)]
        began = perf_counter()
        with out.open("wb") as output:
            process = Start(argv, sys.executable, environ, None).open(output.fileno(), output.fileno())
            conditions.started(process)
            status = ended(process, patience)
        seconds = perf_counter() - began
        lines = out.read_bytes().decode("utf-8", "replace").splitlines()
        said = orjson.loads(report.read_bytes()) if report.exists() else {}
    if status is None:
        failed = f"it still ran after {patience:g} seconds, and was ended"
        return Attempt(None, (), None, failed, seconds=seconds)
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    failed = str(said.get("failed") or "" if said else f"it ended with exit status {status}: {last}")
    verdict = verdict_of(said["verdict"]) if said.get("verdict") else None
    return Attempt(status, (), verdict, failed, seconds=seconds)


def _answered(words: dict[str, Any]) -> dict[str, Any]:
    """Make the call on the recording; return the report."""
    from reenact.run.api.replaying import Replay  # noqa: PLC0415 - much that the parent does not need
    from reenact.verbs.verify.zygote import called  # noqa: PLC0415

    sys.path[:0] = words["paths"]
    if (interval := words.get(SWITCH)) is not None:
        sys.setswitchinterval(float(interval))
    recording = load(Path(words["recording"]))
    text = str(words["text"])
    function = text.partition("(")[0]
    try:
        names = {function: getattr(importlib.import_module(words["module"]), function)}
    except (ImportError, AttributeError) as error:
        return {"failed": f"{words['module']}:{function} cannot be imported: {error}"}
    code = compile(ast.parse(text, mode="eval"), "<call>", "eval")
    options = Options().tree()
    session = Replay(recording, {name: options[name] for name in _OPTIONS}, words.get("pace", "fast"))
    called(session, lambda: eval(code, names))  # noqa: S307 - the user's own call, or one made of literals
    return {"verdict": verdict_tree(session.verdict)}


_OPTIONS = ("live", "ignore", "policy", "inserted", "tools")


def main() -> None:
    """Make the call that a file describes, and write the report."""
    report = _answered(orjson.loads(Path(sys.argv[1]).read_bytes()))
    Path(sys.argv[2]).write_bytes(orjson.dumps(report, default=repr))


if __name__ == "__main__":
    main()
