"""`track`, `snapshot`, `restore` and `resume`: the agent's declared state."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from reenact.core import boundary
from reenact.core.boundary import tracked
from reenact.core.boundary.entry import Entry
from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.model.putback import has_hole
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.state import BELONGINGS, State
from reenact.core.store.local import LocalStore
from reenact.core.store.writer import warn
from reenact.core.trust import consent
from reenact.errors import UsageError
from reenact.run.api.recorded_function import bound, marked
from reenact.run.api.recording import RecordingInProgress, record
from reenact.run.api.replaying import Source, load
from reenact.run.api.run_context import UNSET

T = TypeVar("T")


def track(
    name: str,
    thing: T = UNSET,
    *,
    get: Callable[[], Any] | None = None,
    set: Callable[[Any], object] | None = None,  # noqa: A002 - the word that goes with `get`
    every: int | None = None,
) -> T:
    """Declare a part of the agent's state, to be kept along with its steps; returns the object.

        memory = reenact.track("memory", {})
        reenact.track("cart", get=cart.export, set=cart.load)

    Within a recording or a replay it belongs to that run. Outside it belongs to the process, and to every run that
    begins from then on. A dict and a list are held until then; all else is held weakly.

    Args:
        name: Its name. A name in use now means this object.
        thing: A dict, a list, a dataclass, a pydantic model; of any other object its attributes.
        get: Gives the value, where no object holds it. It must be quick, and change nothing.
        set: Takes a value back, for `restore`.
        every: After how many steps it is looked at; by default as `record` says (5).

    Raises:
        UsageError: There is nothing that could change, or the arguments do not fit together.
    """
    _check(name, every)
    if thing is UNSET:
        if get is None:
            raise UsageError(f"track({name!r}): give an object, or get=... (and set=...)")
        tracked.declare(tracked.of_functions(name, get, set, every=every))
        return None  # type: ignore[return-value]
    if get is not None or set is not None:
        raise UsageError(f"track({name!r}): an object or functions, not both")
    tracked.declare(tracked.of_object(name, thing, every=every))
    return thing


def untrack(name: str) -> None:
    """Stop tracking that name. Harmless if it is not tracked."""
    tracked.forget(name)


def snapshot(label: str = "") -> None:
    """Take a snapshot of the tracked state, with a label: `reenact.snapshot("before cancel")`.

    Harmless in a replay, and where nothing is recorded.
    """
    scope = boundary.current()
    if scope is not None and not scope.hidden:
        scope.run.handler.snapshot(scope, str(label))


def restore(source: Source, step: int | None = None, *names: str) -> State:
    """Put the state of a step back into the live objects that are tracked by the same names.

        recording.restore(7)
        reenact.restore("last", 7, "memory")

    Objects keep their identity: dicts, lists and fields are changed in place. What a recording cannot hold (a secret,
    a connection) stays as it is in the living object; where there is none, one line says so. `state.of(name)` tells as
    of when a value is: by default every fifth step is exact.

    Args:
        source: An id, a prefix of one, `"last"`, a path, or a Recording.
        step: The state as it was when this step was asked; None: at the end.
        names: The parts; by default all that were tracked then.

    Returns:
        What was put back.

    Raises:
        LookupError: There is no such step.
        UsageError: A name was not tracked then, or nothing living has it. Nothing is changed.
    """
    recording = source if isinstance(source, RecordedRun) else load(source)
    state = recording.state(step)
    known = tracked.living()
    wanted = _wanted(recording, state, names, known, asked=bool(names))
    missing = [name for name in wanted if name not in known]
    if missing:
        text = ", ".join(map(repr, missing))
        raise UsageError(
            f"cannot restore {text}: no object is tracked by that name; "
            f"reenact.track({missing[0]!r}, ...) it first"
        )
    return _put_back(state, wanted, known)


def resume(
    source: Source,
    step: int | None = None,
    program: Callable[..., Any] | None = None,
    /,
    *,
    run_foreign: bool = False,
    **changes: Any,
) -> RecordedRun:
    """Run a program again from a step's state, with other parameters, as a new recording.

        again = recording.resume(7, agent_run, model="gpt-5-mini")

    The state is put back into what is tracked already; what the program tracks by a known name for the first time gets
    its state there and then. The program runs from its beginning: it is its state that is that of the step. The new
    recording's header names its parent and the step.

    Args:
        source: An id, a prefix of one, `"last"`, a path, or a Recording.
        step: The state as it was when this step was asked; None: at the end.
        program: The function to run, with `changes` as arguments. None: the recorded one (`@reenact.recorded`), with
            its recorded arguments, `changes` in the place of those of the same name.
        run_foreign: Import the module that a foreign recording names, to find its function there.
        changes: Arguments.

    Returns:
        The new recording, read back.

    Raises:
        LookupError: There is no such step.
        ForeignRecording: Its function is not known here yet, and it comes from elsewhere.
        UsageError: There is nothing to run, or an event loop runs already: then `await reenact.aresume(...)`.
    """
    recording = source if isinstance(source, RecordedRun) else load(source)
    call = _call(recording, program, changes, run_foreign=run_foreign)
    if _in_a_loop() and inspect.iscoroutinefunction(call.func):
        raise UsageError("an event loop runs here already: await reenact.aresume(...) instead of resume(...)")
    with _resumed(recording, step) as going:
        output = call()
        going.output = asyncio.run(_awaited(output)) if inspect.isawaitable(output) else output
    return going.load()


async def aresume(
    source: Source,
    step: int | None = None,
    program: Callable[..., Any] | None = None,
    /,
    *,
    run_foreign: bool = False,
    **changes: Any,
) -> RecordedRun:
    """The same as `resume`, for a program that is awaited."""
    recording = source if isinstance(source, RecordedRun) else load(source)
    call = _call(recording, program, changes, run_foreign=run_foreign)
    with _resumed(recording, step) as going:
        output = call()
        going.output = await output if inspect.isawaitable(output) else output
    return going.load()


# -- within --------------------------------------------------------------------------------------------------


def _check(name: Any, every: Any) -> None:
    if not isinstance(name, str) or not name:
        raise UsageError(f"track({name!r}): the first argument is the state's name, a text")
    if every is not None and (not isinstance(every, int) or every < 1):
        raise UsageError(f"track({name!r}, every={every!r}): it is a number of steps, 1 or more")


def _wanted(
    recording: RecordedRun, state: State, names: Iterable[str], known: dict[str, Entry], *, asked: bool
) -> list[str]:
    """Return the names to put back: the given ones, or all that the program has declared."""
    restorable = [name for name in state if state.of(name).why != "recorded"]
    for name in names:
        if name not in restorable:
            at = "at the end" if state.step is None else f"at step {state.step}"
            there = f"there is {', '.join(map(repr, restorable))}" if restorable else "no state was tracked"
            raise UsageError(f"recording {recording.id} has no state {name!r} to restore {at}: {there}")
    if asked:
        return list(names)
    # State that an adapter tracks by itself is put back only if it is tracked now.
    return [name for name in restorable if name in known or not name.startswith(BELONGINGS)]


def _put_back(state: State, names: Sequence[str], known: dict[str, Entry]) -> State:
    for name in names:
        taken = state.of(name)
        if not taken.exact and state.step is not None:
            warn(
                f"the state {name!r} is put back as of step {taken.step}, the last that is known before step "
                f"{state.step}; track({name!r}, ..., every=1) keeps each step's"
            )
        with boundary.entered(None):
            known[name].put(state.tree(name), partial(_lost, name))
    return state.only(names)


def _lost(name: str, what: str) -> None:
    warn(f"{what} in the state {name!r} is not in the recording, and not in the living object")


@contextmanager
def _resumed(recording: RecordedRun, step: int | None) -> Iterator[RecordingInProgress]:
    """Start a new recording with the state of that step in all objects tracked now or later."""
    if boundary.current() is not None:
        raise UsageError("a program cannot be resumed inside a recording or a replay")
    state = recording.state(step)
    known = tracked.living()
    names = [name for name in state if state.of(name).why != "recorded"]
    _put_back(state, [name for name in names if name in known], known)
    going = record(recording.name, tags=recording.tags, home=_home(recording))
    going.parent = {"id": recording.id, "step": step, "how": "resume"}
    with going:
        if going.active is not None:
            here = tracked.of_run(going.active)
            for name in names:
                if name in known:
                    here.entries.setdefault(name, known[name])
                here.pending[name] = state.tree(name)
            here.due = 0
        yield going
    if going.active is not None:
        for name in tracked.of_run(going.active).pending:
            if name not in known and not name.startswith(BELONGINGS):
                warn(f"the state {name!r} was not put back: the resumed program has not tracked it")


def _home(recording: RecordedRun) -> str | None:
    """Return the home that holds this recording; None for a file or a folder elsewhere."""
    path = Path(recording.path).absolute()
    return str(path.parents[1]) if path.is_dir() and path.parent.name == "recordings" else None


def _call(
    recording: RecordedRun, program: Callable[..., Any] | None, changes: dict[str, Any], *, run_foreign: bool
) -> partial[Any]:
    if program is not None:
        if not callable(program):
            raise UsageError(f"resume: {program!r} cannot be called; give the function that runs the agent")
        return partial(program, **changes)
    known = recording.header.get("function")
    if not known:
        raise UsageError(
            f"recording {recording.id} was not made by a function under @reenact.recorded: "
            f"say what to run, recording.resume(step, program)"
        )
    function = _found(recording, str(known["name"]), run_foreign=run_foreign)
    given: dict[str, Tree] = known["args"]
    args = {name: recording.logs[0].rebuilt(tree) for name, tree in given.items() if name not in changes}
    holes = [name for name in args if has_hole(given[name]) or codec.flaw(given[name])]
    if holes:
        raise UsageError(
            f"argument {holes[0]!r} of {known['name'].replace(':', '.')} is not whole in the recording "
            f"(a secret, or of a type that is not loaded): give it, recording.resume(step, {holes[0]}=...)"
        )
    return _bound(function, {**args, **changes})


def _found(recording: RecordedRun, name: str, *, run_foreign: bool) -> Callable[..., Any]:
    """Return the recorded function: only a function marked with `@recorded`."""
    function = marked(name)
    if function is None:
        # Its module is imported, which runs it: as much as running the recorded command.
        consent.check(
            recording,
            LocalStore(recording.home or None).root,
            run_foreign=run_foreign,
            instead="give the function: recording.resume(step, program)",
        )
        with suppress(ImportError, ValueError, TypeError):
            importlib.import_module(name.partition(":")[0])
        function = marked(name)
    if function is None:
        raise UsageError(
            f"the recorded function {name.replace(':', '.')} is not found here: give it, "
            "recording.resume(step, program), or mark it with @reenact.recorded"
        )
    return function


def _bound(function: Callable[..., Any], args: dict[str, Any]) -> partial[Any]:
    """Return the call with arguments by name, also for positional-only parameters."""
    try:
        given = bound(function, args)
    except TypeError as error:
        name = f"{function.__module__}.{function.__qualname__}"
        raise UsageError(f"resume: {name}() {error}: it is {name}{inspect.signature(function)}") from None
    return partial(function, *given.args, **given.kwargs)


async def _awaited(output: Any) -> Any:
    return await output


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
