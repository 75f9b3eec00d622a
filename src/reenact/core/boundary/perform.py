"""Perform effects: the sync, async and streaming shells around one `Call`.

The shells decide nothing. They ask the run's handler, wait for their turn at the turnstile, and set the scope for
everything that happens inside.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any, TypeVar

from reenact.core.boundary.answer import PLAIN, Answer, Wire
from reenact.core.boundary.call import Call
from reenact.core.boundary.current import current_scope
from reenact.core.boundary.running_loop import cancellations, running_loop
from reenact.core.boundary.turnstile.recording_turns import TOOLS
from reenact.core.model.event import Effect, Value
from reenact.errors import Halt

T = TypeVar("T")


def begin(effect: Effect, wire: Wire = PLAIN) -> Call | None:
    """Start an effect. Return None if no run records or replays; the adapter then calls through.

    The effect gets its address here and now, so call this in the program's own order, before anything is awaited.
    """
    scope = current_scope.get()
    if scope is None or scope.hidden:
        return None
    run = scope.run
    if effect.source is None and running_loop() is None:
        # Within a loop other tasks may still have to run; there the turnstile sees for itself when it is quiet.
        # A tool is code of the program, which goes on.
        run.turnstile.settle()
    at = scope
    if effect.owner is not None:
        at = scope.anchor.span(f"call:{effect.owner}")
    label = effect.label
    ordinal = at.count(label)
    call = Call(at, effect, wire, run.root)
    if effect.limits is not None:
        run.times.limit(at.path, effect.limits)
    decision = run.handler.enter(effect, at, ordinal)
    if isinstance(decision, Answer):
        call.answer = decision
    else:
        call.ticket = decision
        if decision.outside:
            # A tool that runs again waits for nothing outside: it is code of the program like any other.
            run.turnstile.live_begins()
        address = f"{at.path}/{label}#{ordinal}"
        call.inner = at.inside(address, call=decision.call, hidden=effect.leaf, tool=decision.tool)
    return call


def perform(
    effect: Effect, live: Callable[[], T], wire: Wire = PLAIN, *, begun: Callable[[Call], None] | None = None
) -> T:
    """Ask an effect's question: answered from the recording in a replay, by `live()` otherwise.

    Args:
        effect: The question.
        live: Gives the answer for real.
        wire: Converts the answer to a recordable form and back.
        begun: Called with the call when its question is written, or its recorded answer found.
    """
    call = begin(effect, wire)
    if call is None:
        return live()
    if begun is not None:
        begun(call)
    if call.answer is not None:
        result: T = call.recorded.serve()
        return result
    if effect.source is None:
        call.scope.run.turnstile.settle()
    token = current_scope.set(call.inner)
    try:
        value = live()
    except Halt:
        raise
    except BaseException as error:
        current_scope.reset(token)
        call.raised(error)
        if call.instead is None:
            raise
        return call.settled()  # type: ignore[no-any-return]
    else:
        current_scope.reset(token)
        return call.returned(value)


TOOLS.add(perform.__code__)


async def aperform(
    effect: Effect,
    live: Callable[[], Awaitable[T]],
    wire: Wire = PLAIN,
    *,
    begun: Callable[[Call], None] | None = None,
) -> T:
    """`perform` for an awaitable answer."""
    call = begin(effect, wire)
    if call is None:
        return await live()
    if begun is not None:
        begun(call)
    if call.answer is not None:
        result: T = await call.recorded.aserve()
        return result
    token = current_scope.set(call.inner)
    try:
        value = await live()
    except cancellations(GeneratorExit):
        current_scope.reset(token)
        call.cancelled()
        raise
    except Halt:
        raise
    except BaseException as error:
        current_scope.reset(token)
        await call.araised(error)
        if call.instead is None:
            raise
        return call.settled()  # type: ignore[no-any-return]
    else:
        current_scope.reset(token)
        # As in `Call.areturned`, without a coroutine: this is the most frequent path.
        waits = call.report(Value(call.wire.dump(value)))
        if waits is not None:
            await waits
        return value if call.instead is None else call.settled()


def stream(effect: Effect, live: Callable[[], Iterator[T]], wire: Wire = PLAIN) -> Iterator[T]:
    """Perform an effect that answers in chunks; record each one as it comes.

    The address is given at once, not at first use.
    """
    call = begin(effect, wire)
    if call is None:
        return live()
    return replayed(call) if call.answer is not None else _teed(call, live)


def astream(effect: Effect, live: Callable[[], AsyncIterator[T]], wire: Wire = PLAIN) -> AsyncIterator[T]:
    """`stream` for async iterators."""
    call = begin(effect, wire)
    if call is None:
        return live()
    return areplayed(call) if call.answer is not None else call.atee(aiter(live()), head=True)


def draw(source: str, live: Callable[[], T]) -> T:
    """Return a scalar that the program reads: a clock, entropy, an environment variable."""
    scope = current_scope.get()
    if scope is None or scope.hidden:
        return live()
    value: T = scope.run.handler.draw(scope, source, live)
    return value


def replayed(call: Call) -> Generator[Any, Any, Any]:
    """Yield a recorded stream's chunks, then apply its end, each in its turn."""
    call.recorded.serve()
    return (yield from call.recorded.pieces())


async def areplayed(call: Call) -> AsyncGenerator[Any, Any]:
    """`replayed`, awaiting each turn."""
    await call.recorded.aserve()
    async for chunk in call.recorded.apieces():
        if (yield chunk) is not None:
            call.recorded.sent()


def _teed(call: Call, live: Callable[[], Iterator[T]]) -> Generator[T, Any, Any]:
    call.returned(None, stream=True)
    return (yield from call.tee(iter(live())))
