"""Writing a test: the function into its file, and the recording beside it."""

from __future__ import annotations

import os
from pathlib import Path

from reenact.core import private
from reenact.core.query.recording import Recording
from reenact.core.store import bundle
from reenact.core.store.local import LocalStore
from reenact.core.trust import consent
from reenact.errors import UsageError
from reenact.verbs.keep_test import Kept, add, entry_of, kept


def keep(
    store: LocalStore,
    ref: str,
    file: Path,
    *,
    home: str | os.PathLike[str] | None = None,
    name: str = "",
    entry: str = "",
    is_async: bool = False,
    live: tuple[str, ...] = (),
    force: bool = False,
    run_foreign: bool = False,
) -> tuple[Recording, Kept, Path]:
    """Keep a recording as a pytest test, beside its recording.

    Args:
        store: Where the recording is.
        ref: Which.
        file: The test file to write, or to add to.
        home: The folder of the recordings, whose keys say which are foreign.
        name: The test's name; by default after the recording's.
        entry: The call in the test: `pkg.module:function('an argument')`; by default the recorded one.
        is_async: The function of `entry` is awaited.
        live: The calls that run for real in the test.
        force: Replace the recording's file if it is there.
        run_foreign: Write the recorded command or function of a foreign recording into the test.

    Returns:
        The recording, the test, and the recording's file.

    Raises:
        ForeignRecording: The recording comes from elsewhere, and no `entry` says what the test is to run.
        UsageError: Something cannot be meant, or is in the way.
        RecordingError: There is no such recording.
    """
    if file.suffix != ".py":
        raise UsageError(f"--as {file}: a test is a Python file, such as tests/test_orders.py")
    recording = store.load(ref)
    called = entry_of(entry, is_async=is_async) if entry else None
    if called is None and consent.steers(recording):
        consent.check(
            recording, LocalStore(home).root, run_foreign=run_foreign, instead="an --entry of your own"
        )
    test = kept(recording, file, name=name, entry=called, live=live)
    text = add(file.read_text(encoding="utf-8") if file.exists() else "", test)
    fixture = file.parent / test.fixture
    fixture.parent.mkdir(parents=True, exist_ok=True)
    source = store.find(ref)
    if source.is_file():
        if fixture.exists() and not force:
            raise UsageError(f"{fixture} exists; --force replaces it")
        private.write(fixture, source.read_bytes())
    else:
        bundle.export(store, ref, fixture, force=force)
    private.write(file, text)
    return recording, test, fixture
