"""`keep`: write a recording as a pytest test, beside its recording."""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.core.model.header import by_proxy
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store import bundle
from reenact.core.store.local import LocalStore, argument_of
from reenact.core.trust import consent
from reenact.errors import ProgramError, UsageError
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.keep_test import KeptTest, add, entry_of, kept
from reenact.verbs.marks import LOCAL, Cli, Policy, Ref, WireType
from reenact.verbs.prove.calling import FunctionCall
from reenact.verbs.prove.proving import prove

_INSTEAD = "an --entry of your own"
"""The way to keep a test of a foreign recording without its program."""

DEFAULT = Path("tests/test_recordings.py")
"""The test file, if no option names one."""


class Options(interface.Options):
    """Write a pytest test from a recording, with a copy of the recording beside it.

    [bold]reenact keep last --as tests/test_orders.py --live tool[/bold]
    """

    common: ClassVar = (marks.RUN_FOREIGN, marks.HOME)

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
        WireType(max_length=200),
        marks.ANYONE,
    ] = ""
    entry: Annotated[
        str,
        Field(
            description="The function that the test calls: pkg.module:function('an argument'). By default the "
            "recorded function, or the recorded command."
        ),
        WireType(max_length=1000),
    ] = ""
    is_async: Annotated[
        bool,
        Field(description="The function of --entry is async."),
        Cli(names=("--async",)),
        marks.ANYONE,
    ] = False
    live: Annotated[
        tuple[str, ...], Field(description="Run for real in the test: tool, or tool:cancel_order.")
    ] = ()
    policy: Policy = ()
    force: Annotated[
        bool, Field(description="Replace an existing copy of the recording."), LOCAL, marks.NEVER
    ] = False
    times: Annotated[
        int,
        Field(
            ge=0,
            description="Replays under other conditions before; if one departs, nothing is written. 0: none.",
        ),
        LOCAL,
        marks.ANYONE,
    ] = 2


@dataclass(frozen=True)
class Result(interface.Result):
    """The kept test.

    Attributes:
        recording: The recording.
        test: The test.
        file: The test's file.
        fixture: The recording's file.
        proof: The result of the replays before, in a line; empty if there were none.
    """

    recording: RecordedRun
    test: KeptTest
    file: Path
    fixture: Path
    proof: str = ""

    def tree(self) -> dict[str, Any]:
        """Return the test's name, and the recording's path from the test's folder, as JSON values."""
        return {"test": self.test.name, "recording": self.fixture.relative_to(self.file.parent).as_posix()}


def run(options: Options, context: Context) -> Result:
    """Prove the recording, write the test into its file, and the recording beside it.

    Raises:
        ForeignRecording: The recording comes from elsewhere, and no `entry` is given.
        UsageError: Options contradict each other, a file is in the way, or a replay departed.
        RecordingError: There is no such recording.
    """
    run_foreign = context.run_foreign
    if not options.entry:
        run_foreign = context.may_run((options.ref,), starts=False, instead=_INSTEAD)
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
            instead=_INSTEAD,
        )
    test = kept(recording, file, name=options.name, entry=called, live=options.live, policy=options.policy)
    text = add(file.read_text(encoding="utf-8") if file.exists() else "", test)
    fixture = file.parent / test.fixture
    if fixture.exists() and not options.force:
        raise UsageError(f"{fixture} exists; --force replaces it")
    # A job starts no program that its order does not ask for.
    times = 0 if context.files else options.times
    proof = _proof(recording, test, file, times, context, run_foreign=run_foreign) if times else ""
    private.folder(fixture.parent)
    source = store.find(options.ref)
    if source.is_file():
        private.write(fixture, source.read_bytes())
    else:
        bundle.export(store, options.ref, fixture, force=options.force)
    private.write(file, text)
    return Result(recording, test, file, fixture, proof)


def _proof(
    recording: RecordedRun, test: KeptTest, file: Path, times: int, context: Context, *, run_foreign: bool
) -> str:
    """Replay as the test will; return the result in a line.

    Raises UsageError if a replay departed where the test would fail.
    """
    entry = test.entry
    call = FunctionCall(entry.module, ast.unparse(entry.call), _paths(file)) if entry is not None else None
    if call is None and by_proxy(recording.header):
        return "not proved: it was recorded by the proxy"
    if call is None and recording.header.get("entry") != "program":
        # The program around a block may be a server, or the tests themselves.
        return (
            "not proved: it is a block of a program; "
            f"`reenact prove {argument_of(recording)}` runs the whole program"
        )
    progress = partial(context.say, of=times)
    try:
        done = prove(
            recording, times=times, home=context.home, run_foreign=run_foreign, call=call, progress=progress
        )
    except ProgramError as error:
        return f"not proved: {error}"
    if done.proof is not None:
        return done.sentence
    # A test of a call, or one with live parts, requires equal calls only.
    strict = call is None and "live=" not in test.text
    departed = [each.departed for each in done.departures if each.departed is not None]
    if done.unable or not (strict or any(not each.doubt for each in departed)):
        return f"not proved: {done.sentence}"
    if done.steady or done.incomplete:
        # Such a test is not flaky: it fails each time, perhaps on purpose.
        return f"not proved, the test fails as it is: {done.sentence}. Likely: {done.advice[0]}"
    advice = "".join(f" Likely: {text}." for text in done.advice)
    raise UsageError(
        f"no test was written, it would be flaky: {done.sentence}.{advice} "
        f"`reenact prove {argument_of(recording)}` says more; --times 0 keeps it unproved"
    )


def _paths(file: Path) -> tuple[str, ...]:
    """Return the folders where pytest finds a test's modules: above its packages, and this."""
    folder = file.absolute().parent
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return str(folder), str(Path.cwd())
