"""`export-script`: a recorded browser session as a Python script."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.errors import UsageError
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, optional
from reenact.verbs.marks import Cli, Ref


class Options(interface.Options):
    """Write a recorded browser session as a script that repeats it.

    Elements are found by durable selectors. Steps of an agent are in a block that falls back to the agent if a step
    fails. Secrets are left out: the script reads them from the environment.
    """

    common: ClassVar = (marks.HOME,)

    ref: Ref
    output: Annotated[
        Path | None,
        Field(description="The file to write; by default, print it."),
        Cli(names=("--output", "-o"), metavar="FILE"),
    ] = None
    session: Annotated[
        str,
        Field(description="The number of the browser session, if the recording has several."),
        Cli(metavar="SESSION"),
    ] = ""
    force: Annotated[bool, Field(description="Replace an existing file."), marks.NEVER] = False


@dataclass(frozen=True)
class Result(interface.Result):
    """The script, and the file to which it was written."""

    text: str
    file: Path | None

    def tree(self) -> str:
        """Return the script."""
        return self.text


def run(options: Options, context: Context) -> Result:
    """Make the script, and write it to its file. Raises RecordingError, UsageError."""
    script = optional("reenact.browser.script.script", "browser", "reenact export-script")
    text = script.export(options.ref, session=options.session or None, home=context.home)
    file = options.output
    if file is None or str(file) == "-":
        return Result(text, None)
    try:
        if not options.force:
            file.touch(0o600, exist_ok=False)
        private.write(file, text)
    except FileExistsError:
        raise UsageError(f"{file} is there already; --force replaces it") from None
    return Result(text, file)
