"""`keep`: write a recording as a pytest test, beside its recording."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from reenact.core import private
from reenact.core.query.recording import Recording
from reenact.core.store import bundle
from reenact.core.store.local import LocalStore
from reenact.core.trust import consent
from reenact.errors import UsageError
from reenact.verbs import interface
from reenact.verbs.interface import LOCAL, Cli, Context, Ref, Wire
from reenact.verbs.keep_test import Kept, add, entry_of, kept

DEFAULT = Path("tests/test_recordings.py")
"""The test file, if no option names one."""


class Options(interface.Options):
    """Write a pytest test from a recording, with a copy of the recording beside it.

    [bold]reenact keep last --as tests/test_orders.py --live tool[/bold]
    """

    common: ClassVar = (interface.RUN_FOREIGN, interface.HOME)

    ref: Ref
    file: Annotated[
        Path | None,
        Field(description=f"The test file to write, or to add to; by default {DEFAULT}."),
        Cli(names=("--as",)),
        LOCAL,
    ] = None
    name: Annotated[
        str,
        Field(description="The name of the test; by default made from the recording's."),
        Wire(max_length=200),
    ] = ""
    entry: Annotated[
        str,
        Field(
            description="The function that the test calls: pkg.module:function('an argument'). By default the "
            "recorded function, or the recorded command."
        ),
        Wire(max_length=1000),
    ] = ""
    is_async: Annotated[
        bool, Field(description="The function of --entry is async."), Cli(names=("--async",))
    ] = False
    live: Annotated[
        tuple[str, ...], Field(description="Run for real in the test: tool, or tool:cancel_order.")
    ] = ()
    force: Annotated[bool, Field(description="Replace an existing copy of the recording."), LOCAL] = False


@dataclass(frozen=True)
class Result(interface.Result):
    """The kept test.

    Attributes:
        recording: The recording.
        test: The test.
        file: The test's file.
        fixture: The recording's file.
    """

    recording: Recording
    test: Kept
    file: Path
    fixture: Path

    def tree(self) -> dict[str, Any]:
        """Return the test's name, and the recording's path from the test's folder, as JSON values."""
        return {"test": self.test.name, "recording": self.fixture.relative_to(self.file.parent).as_posix()}


def run(options: Options, context: Context) -> Result:
    """Write the test into its file, and the recording beside it.

    Raises:
        ForeignRecording: The recording comes from elsewhere, and no `entry` says what the test is to run.
        UsageError: Options contradict each other, or a file is in the way.
        RecordingError: There is no such recording.
    """
    run_foreign = context.run_foreign if options.entry else context.may_run((options.ref,))
    file = options.file or (context.files / DEFAULT.name if context.files else DEFAULT)
    if file.suffix != ".py":
        raise UsageError(f"--as {file}: a test is a Python file, such as tests/test_orders.py")
    store = context.store
    recording = store.load(options.ref)
    called = entry_of(options.entry, is_async=options.is_async) if options.entry else None
    if called is None and consent.steers(recording):
        consent.check(
            recording,
            LocalStore(context.home).root,
            run_foreign=run_foreign,
            instead="an --entry of your own",
        )
    test = kept(recording, file, name=options.name, entry=called, live=options.live)
    text = add(file.read_text(encoding="utf-8") if file.exists() else "", test)
    fixture = file.parent / test.fixture
    private.folder(fixture.parent)
    source = store.find(options.ref)
    if source.is_file():
        if fixture.exists() and not options.force:
            raise UsageError(f"{fixture} exists; --force replaces it")
        private.write(fixture, source.read_bytes())
    else:
        bundle.export(store, options.ref, fixture, force=options.force)
    private.write(file, text)
    return Result(recording, test, file, fixture)
