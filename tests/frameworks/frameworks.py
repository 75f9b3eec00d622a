"""The frameworks under test: each is one file in `programs`, a script with a block that says what it is.

The block stands in the script's docstring, or first comment, between `# /// framework` and `# ///`, and is TOML:

    title    what people call it
    package  the distribution whose version is told
    wire     what it speaks: chat, responses, messages, gemini, realtime, steps
    page     its page in docs/
    hook     where it is recorded, in a few words
    model    the label of its model calls, as a pattern: "model:gpt-4o-mini", "http:POST */v1/messages"
    tool     the same of a tool call, with {name} for the tool's name: "tool:{name}"
    edit     what `fork --set` is given, so that it is -40 degrees in Tokyo: "output.degrees = -40"
    state    the names that `show --state` must give (where the cell is not absent)
    refused  versions that its adapter refuses, as a list: then nothing of it but that is tested
    unsealed what becomes of a refused version in the place of `REFUSAL`, where its replay asks the world, and says so
    thorough whether only `make soak` and `make frameworks` run it: what is recorded by its HTTP alone, as others are
    runs     what runs it, on the path, where that is not Python: then it is recorded by the proxy
    provider a class of its own in the place of the scripted provider's: "tests.frameworks.realtime:Realtime"
    [absent] cells that cannot apply, each with the reason
    [no]     cells that should work and do not, each with the reason: their tests must fail
"""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from pkgutil import resolve_name

from reenact.core import messages as reading

PROGRAMS = Path(__file__).parent / "programs"

CELLS = {
    "record": "`reenact record -- python program.py`: the output is the program's, every model and tool call is an "
    "effect, no key is in the files, and there is no warning",
    "replay": "`reenact replay` with the provider switched off: the same output, character by character, and no request",
    "stream": "each chunk of a streamed answer is recorded, and a replay gives them one by one",
    "parallel": "two concurrent tools, of which the second answers first: each gets its own answer",
    "tool error": "a tool fails, the model gets the error, and calls it again",
    "fork": "`reenact fork --at N --set`: the answer of one tool is edited, and the live model gets the edited answer",
    "diff": "`reenact diff`: the first difference of parent and fork is that step, with both values",
    "state": "`reenact show --state`: the framework's own state at a step and at the end",
}
"""The columns of the matrix, and what a green cell says."""

REFUSED = "refused"
"""The one cell of a version that is refused: it is said in one line, and nothing of it is patched."""

REFUSAL = (
    "refused in one line when it is imported, before anything of it is patched; recorded by its HTTP, whole"
)
"""What that means, in the page's words."""


@dataclass(frozen=True)
class Framework:
    """One row of the matrix: a program, and how what it does is found in its recording."""

    name: str
    title: str
    package: str
    wire: str
    page: str
    hook: str
    model: str
    tool: str
    edit: str
    state: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    unsealed: str = ""
    thorough: bool = False
    runs: str = ""
    suffix: str = ".py"
    provider: str = "tests.frameworks.provider:Provider"
    absent: dict[str, str] = field(default_factory=dict)
    no: dict[str, str] = field(default_factory=dict)

    @property
    def program(self):
        """The script."""
        return PROGRAMS / f"{self.name}{self.suffix}"

    def record(self, shell):
        """Record the program; returns what it wrote, and its recording."""
        if not self.runs:
            return shell.record(self.program)
        return shell.run("record", "--proxy", "--", self.runs, self.program), shell.last()

    def serve(self):
        """What the program talks to, listening."""
        return resolve_name(self.provider)()

    @property
    def version(self):
        """The version that is installed here, or None where it, or what runs it, is not."""
        if self.runs and shutil.which(self.runs) is None:
            return None
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None

    @property
    def cells(self):
        """The cells that a test stands behind, in this environment."""
        if self.version in self.refused:
            return [REFUSED]
        return [cell for cell in CELLS if cell not in self.absent]

    def models(self, recording):
        """The steps that are model calls."""
        found = [step for step in recording if fnmatchcase(step.call.label, self.model)]
        # Of a connection's messages only some are answers of a model's.
        return [step for step in found if reading.read(step.log, step.call) is not None]

    def pieces(self, recording):
        """In how many pieces the longest answer came."""
        if self.wire == "realtime":
            return sum("output_text.delta" in str(step.output) for step in recording)
        return max(len(step.call.pieces) for step in self.models(recording))

    def tools(self, recording, name):
        """The steps that are calls of a tool."""
        return [step for step in recording if fnmatchcase(step.call.label, self.tool.format(name=name))]


def read(path):
    """The framework that a script describes, or None."""
    _, found, rest = path.read_text(encoding="utf-8").partition("# /// framework\n")
    if not found:
        return None
    lines = [line.removeprefix("// ") for line in rest.partition("# ///")[0].splitlines()]
    data = tomllib.loads("\n".join(line.removeprefix("#").removeprefix(" ") for line in lines))
    unknown = {*data.get("absent", ()), *data.get("no", ())} - {*CELLS}
    assert not unknown, f"{path.name}: the matrix has no {', '.join(unknown)}"
    lists = {name: tuple(data.pop(name, ())) for name in ("state", "refused")}
    return Framework(name=path.stem, suffix=path.suffix, **data, **lists)


_SCRIPTS = [path for path in PROGRAMS.iterdir() if path.suffix in {".py", ".mjs"}]
FRAMEWORKS = sorted(filter(None, map(read, _SCRIPTS)), key=lambda known: known.title.lower())
