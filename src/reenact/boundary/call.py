"""Effects crossing the boundary: the sync, async and streaming shells around one `Call`.

The shells decide nothing. They ask the run's handler, wait for their turn at the turnstile, and set the scope for
what happens inside.
"""

from __future__ import annotations

from asyncio import CancelledError, _get_running_loop
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from reenact.boundary.scope import Scope, _scope
from reenact.errors import Halt
from reenact.model.event import Cancelled, Effect, Failure, Outcome, Value

T = TypeVar("T")


@dataclass(slots=True)
class Ticket:
    """Leave to go live. `order` is the recorded place of the outcome, where a let-through effect has one."""

    call: int | None
    order: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """One recorded chunk of a stream: its place in the order of the run, and its value."""

    order: int
    value: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A recorded outcome: what it was, when it came in the order of the run, and for a stream its chunks.

    `end` is how a stream ended: None where the recording stops, `"ended"`, `"closed"` (the program stopped reading),
    `"cancelled"` (it was cancelled while it waited for more), or the error it broke off with. `end_order` is the
    place of an end that came from outside. `cut` is set where the recording stops before the outcome, or before the
    stream's end: the place behind all that it has.
    """

    outcome: Outcome
    order: int | None
    call: int | None = None
    pieces: tuple[Piece, ...] = ()
    end: str | BaseException | None = None
    end_order: int | None = None
    cut: int | None = None


class Handler(Protocol):
    """Who answers at the boundary. Pure decisions: it never waits, and never touches the world but its recording."""

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        """An answer, or leave to go live. Raises `Halt` where a replay departs from its recording."""

    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        """The outcome of a live call, before the program sees it."""

    def chunk(self, ticket: Ticket, value: Any) -> None:
        """One more chunk of a live stream, before the program sees it."""

    def end(self, ticket: Ticket, how: str | BaseException) -> None:
        """A live stream's end: `ended`, `closed`, `cancelled`, or its error."""

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        """A scalar input (a clock, entropy, an environment variable)."""

    def fire(self, scope: Scope, name: str) -> None:
        """A timer, a sleep or a job of the program's came due."""

    def due(self, scope: Scope, name: str) -> int | None:
        """The recorded place of that firing, or None."""

    def read_on(self, answer: Answer) -> BaseException:
        """The divergence of a program that reads on where its recording has no more of a stream."""

    def stuck(self, answer: Answer) -> BaseException:
        """The divergence of a program that waits for good for a call that was cancelled in its recording."""


class Wire(Protocol):
    """How a library's own objects are recorded, where the codec would not keep them faithfully."""

    def dump(self, value: Any, /) -> Any:
        """The recordable form of a result or chunk."""

    def load(self, value: Any, /) -> Any:
        """The result or chunk again."""


@dataclass(frozen=True, slots=True)
class _Plain:
    def dump(self, value: Any, /) -> Any:
        return value

    def load(self, value: Any, /) -> Any:
        return value


PLAIN: Wire = _Plain()


@dataclass(slots=True)
class Call:
    """One effect between its question and its answer, for adapters that need more than `perform`.

    `answer` is the recorded answer, or None when the call goes live: then the adapter runs the real thing within
    `inner`, and reports `returned`, `raised` or `cancelled`, and for a stream its chunks. `served` counts the recorded
    chunks that `apiece` has handed out.
    """

    scope: Scope
    effect: Effect
    wire: Wire
    ticket: Ticket | None = None
    answer: Answer | None = None
    inner: Scope | None = None
    _over: bool = field(default=False)
    served: int = field(default=0)

    # -- live ------------------------------------------------------------------------------------------------

    def returned(self, value: T, *, stream: bool = False) -> T:
        """Report a result (a stream's head, with its chunks to follow), in a sync program."""
        self._pass(Value(self.wire.dump(value), stream))
        return value

    async def areturned(self, value: T, *, stream: bool = False) -> T:
        """Report a result and wait for its turn."""
        await self._apass(Value(self.wire.dump(value), stream))
        return value

    def raised(self, error: BaseException) -> None:
        """Report an error, in a sync program."""
        self._pass(Failure(error))

    async def araised(self, error: BaseException) -> None:
        """Report an error and wait for its turn."""
        await self._apass(Failure(error))

    def cancelled(self) -> None:
        """Report that the caller gave up before an answer came."""
        handler, ticket, turnstile = self._live()
        turnstile.live_ends()
        handler.leave(ticket, Cancelled())

    def tee(self, chunks: Iterator[T]) -> Iterator[T]:
        """The chunks of a live stream, each reported before it is handed on; its end, error or close too."""
        handler, ticket, turnstile = self._live()
        try:
            while True:
                token = _scope.set(self.inner)
                try:
                    chunk = next(chunks)
                finally:
                    _scope.reset(token)
                turnstile.pass_sync(
                    ticket.order, lambda chunk=chunk: handler.chunk(ticket, self.wire.dump(chunk))
                )
                yield chunk
        except StopIteration:
            self.over()
        except GeneratorExit:
            self.close()
            raise
        except Exception as error:
            self.over(error)
            raise

    async def atee(self, chunks: AsyncIterator[T]) -> AsyncIterator[T]:
        """`tee` for an async stream: each chunk waits for its turn."""
        handler, ticket, turnstile = self._live()
        try:
            while True:
                token = _scope.set(self.inner)
                try:
                    chunk = await anext(chunks)
                finally:
                    _scope.reset(token)
                await turnstile.pass_async(
                    ticket.order, lambda chunk=chunk: handler.chunk(ticket, self.wire.dump(chunk))
                )
                yield chunk
        except StopAsyncIteration:
            await self._astop(None)
        except GeneratorExit:
            self.close()
            raise
        except CancelledError:
            self._end("cancelled")
            raise
        except Exception as error:
            await self._astop(error)
            raise

    def chunk(self, value: T) -> T:
        """Report one more chunk of a live stream, where a library reads rather than iterates (a file, a socket)."""
        handler, ticket, turnstile = self._live()
        turnstile.pass_sync(ticket.order, lambda: handler.chunk(ticket, self.wire.dump(value)))
        return value

    async def achunk(self, value: Any, deliver: Callable[[], None]) -> None:
        """Report one more chunk and wait for its turn. `deliver` hands it on in the very moment that it is recorded,
        so that a reader who is cancelled meanwhile finds it at the next read, and it is recorded once.
        """
        handler, ticket, turnstile = self._live()

        def write() -> None:
            handler.chunk(ticket, self.wire.dump(value))
            deliver()

        await turnstile.pass_async(ticket.order, write)

    def over(self, how: BaseException | None = None) -> None:
        """Report the end of a live stream, in its turn: by itself, or the error it broke off with."""
        _, ticket, turnstile = self._live()
        turnstile.pass_sync(ticket.order, lambda: self._end("ended" if how is None else how))

    async def aover(self, how: BaseException | None = None) -> None:
        """`over`, awaiting its turn."""
        _, ticket, turnstile = self._live()
        await turnstile.pass_async(ticket.order, lambda: self._end("ended" if how is None else how))

    def over_at_once(self) -> None:
        """Report the end of a live stream that came along with its last chunk: in the `deliver` of `achunk`."""
        self._end("ended")

    def close(self, *, cancelled: bool = False) -> None:
        """Report that the program stopped reading a live stream, or was cancelled while it waited for more.
        Harmless after its end.
        """
        self._end("cancelled" if cancelled else "closed")

    # -- recorded --------------------------------------------------------------------------------------------

    def serve(self) -> Any:
        """The recorded result, or the recorded error raised, in its turn."""
        answer = self._recorded()
        if isinstance(answer.outcome, Cancelled):
            raise self.scope.run.handler.stuck(answer)
        self.scope.run.turnstile.pass_sync(answer.order, self._telling(answer, None))
        return self._deliver(answer)

    async def aserve(self) -> Any:
        """`serve`, awaiting the turn. A recorded cancellation never answers: whoever cancelled it does so again."""
        answer = self._recorded()
        if isinstance(answer.outcome, Cancelled):
            await self._hang(answer, self.scope.run.handler.stuck)
        await self.scope.run.turnstile.pass_async(answer.order, self._telling(answer, None))
        return self._deliver(answer)

    def pieces(self) -> Iterator[Any]:
        """The recorded chunks, in turn, and the recorded end."""
        answer, turnstile, came = self._recorded(), self.scope.run.turnstile, self.scope.run.came
        for place, piece in enumerate(answer.pieces):
            turnstile.pass_sync(piece.order, None if came is None else partial(came, answer, place))
            yield self.wire.load(piece.value)
        end, told = self._end_of(answer)
        if end is not None:
            turnstile.pass_sync(end, told)
        elif told is not None:
            told()
        self._finish(answer)

    async def apieces(self) -> AsyncIterator[Any]:
        """`pieces`, awaiting each turn."""
        answer, turnstile, came = self._recorded(), self.scope.run.turnstile, self.scope.run.came
        for place, piece in enumerate(answer.pieces):
            await turnstile.pass_async(piece.order, None if came is None else partial(came, answer, place))
            yield self.wire.load(piece.value)
        await self._afinish(answer)

    async def apiece(self, deliver: Callable[[Any], None]) -> bool:
        """Hand the next recorded chunk to `deliver`, in its turn. False after the last; raises the recorded error.
        The counterpart of `achunk`: who is cancelled meanwhile can read on.
        """
        answer, turnstile = self._recorded(), self.scope.run.turnstile
        if self.served == len(answer.pieces):
            await self._afinish(answer)
            return False
        piece = answer.pieces[self.served]

        told = self._telling(answer, self.served)

        def release() -> None:
            if told is not None:
                told()
            self.served += 1
            deliver(self.wire.load(piece.value))

        await turnstile.pass_async(piece.order, release)
        return True

    # -- within ----------------------------------------------------------------------------------------------

    def _live(self) -> tuple[Handler, Ticket, Any]:
        assert self.ticket is not None
        return self.scope.run.handler, self.ticket, self.scope.run.turnstile

    def _recorded(self) -> Answer:
        assert self.answer is not None
        return self.answer

    def _telling(self, answer: Answer, piece: int | None) -> Callable[[], None] | None:
        """What to do in the turn of a recorded outcome (None), chunk (its number) or end (their count)."""
        came = self.scope.run.came
        return None if came is None else partial(came, answer, piece)

    def _end_of(self, answer: Answer) -> tuple[int | None, Callable[[], None] | None]:
        end = answer.end_order if answer.end_order is not None else answer.cut
        return end, self._telling(answer, len(answer.pieces))

    async def _hang(self, answer: Answer, stuck: Callable[[Answer], BaseException]) -> None:
        """Wait for the recorded cancellation."""
        try:
            await self.scope.run.turnstile.hang(lambda: stuck(answer))
        except CancelledError:
            whole = isinstance(answer.outcome, Cancelled)
            told = self._telling(answer, None if whole else len(answer.pieces))
            if told is not None:
                told()
            raise

    def _pass(self, outcome: Outcome) -> None:
        handler, ticket, turnstile = self._live()
        if not (isinstance(outcome, Value) and outcome.stream):
            turnstile.live_ends()
        turnstile.pass_sync(ticket.order, lambda: handler.leave(ticket, outcome))
        if self.scope.run.halt is not None:
            raise self.scope.run.halt

    async def _apass(self, outcome: Outcome) -> None:
        handler, ticket, turnstile = self._live()
        if not (isinstance(outcome, Value) and outcome.stream):
            turnstile.live_ends()
        told = False

        def write() -> None:
            nonlocal told
            told = True
            handler.leave(ticket, outcome)

        try:
            await turnstile.pass_async(ticket.order, write)
        except CancelledError:
            if not told:
                handler.leave(ticket, Cancelled())
            raise
        if self.scope.run.halt is not None:
            raise self.scope.run.halt

    async def _astop(self, how: BaseException | None) -> None:
        try:
            await self.aover(how)
        except CancelledError:
            self._end("cancelled")
            raise

    def _end(self, how: str | BaseException) -> None:
        if not self._over:
            self._over = True
            handler, ticket, turnstile = self._live()
            turnstile.live_ends()
            handler.end(ticket, how)

    def _deliver(self, answer: Answer) -> Any:
        if isinstance(answer.outcome, Failure):
            raise answer.outcome.error
        if answer.order is not None and answer.order == answer.cut:
            raise self.scope.run.handler.read_on(answer)
        assert isinstance(answer.outcome, Value)
        return self.wire.load(answer.outcome.value)

    async def _afinish(self, answer: Answer) -> None:
        turnstile = self.scope.run.turnstile
        if answer.end == "cancelled":
            await self._hang(answer, self.scope.run.handler.read_on)
        end, told = self._end_of(answer)
        if end is not None:
            await turnstile.pass_async(end, told)
        elif told is not None:
            told()
        self._finish(answer)

    def _finish(self, answer: Answer) -> None:
        if isinstance(answer.end, BaseException):
            raise answer.end
        if answer.end != "ended":
            raise self.scope.run.handler.read_on(answer)


def begin(effect: Effect, wire: Wire = PLAIN) -> Call | None:
    """Start an effect's crossing. None where nobody records or replays: the adapter then does what it would anyway.

    The effect gets its address here and now, so call this in the program's own order, before anything is awaited.
    """
    scope = _scope.get()
    if scope is None or scope.hidden:
        return None
    run = scope.run
    if _get_running_loop() is None:
        # Within a loop other tasks may still have to run; there the turnstile sees for itself when it is quiet.
        run.turnstile.settle()
    at = scope
    if effect.owner is not None:
        at = scope.anchor.span(f"call:{effect.owner}")
    label = effect.label
    ordinal = at.count(label)
    call = Call(at, effect, wire)
    decision = run.handler.enter(effect, at, ordinal)
    if isinstance(decision, Answer):
        call.answer = decision
    else:
        call.ticket = decision
        run.turnstile.live_begins()
        call.inner = at.inside(f"{at.path}/{label}#{ordinal}", call=decision.call, hidden=effect.leaf)
    return call


def perform(effect: Effect, live: Callable[[], T], wire: Wire = PLAIN) -> T:
    """Ask an effect's question: answered from the recording in a replay, by `live()` otherwise."""
    call = begin(effect, wire)
    if call is None:
        return live()
    if call.answer is not None:
        result: T = call.serve()
        return result
    call.scope.run.turnstile.settle()
    token = _scope.set(call.inner)
    try:
        value = live()
    except Halt:
        raise
    except BaseException as error:
        _scope.reset(token)
        call.raised(error)
        raise
    else:
        _scope.reset(token)
        return call.returned(value)


async def aperform(effect: Effect, live: Callable[[], Awaitable[T]], wire: Wire = PLAIN) -> T:
    """`perform` for an awaitable answer."""
    call = begin(effect, wire)
    if call is None:
        return await live()
    if call.answer is not None:
        result: T = await call.aserve()
        return result
    token = _scope.set(call.inner)
    try:
        value = await live()
    except (CancelledError, GeneratorExit):
        _scope.reset(token)
        call.cancelled()
        raise
    except Halt:
        raise
    except BaseException as error:
        _scope.reset(token)
        await call.araised(error)
        raise
    else:
        _scope.reset(token)
        return await call.areturned(value)


def stream(effect: Effect, live: Callable[[], Iterator[T]], wire: Wire = PLAIN) -> Iterator[T]:
    """An effect that answers in chunks, each recorded as it comes. The address is given at once, not at first use."""
    call = begin(effect, wire)
    if call is None:
        return live()
    return replayed(call) if call.answer is not None else _teed(call, live)


def astream(effect: Effect, live: Callable[[], AsyncIterator[T]], wire: Wire = PLAIN) -> AsyncIterator[T]:
    """`stream` for async iterators."""
    call = begin(effect, wire)
    if call is None:
        return live()
    return areplayed(call) if call.answer is not None else _ateed(call, live)


def draw(source: str, live: Callable[[], T]) -> T:
    """A scalar that the program's own code reads: a clock, entropy, an environment variable."""
    scope = _scope.get()
    if scope is None or scope.hidden:
        return live()
    value: T = scope.run.handler.draw(scope, source, live)
    return value


def replayed(call: Call) -> Iterator[Any]:
    """A recorded stream: its chunks and its end, each in its turn."""
    call.serve()
    yield from call.pieces()


async def areplayed(call: Call) -> AsyncIterator[Any]:
    """`replayed`, awaiting each turn."""
    await call.aserve()
    async for chunk in call.apieces():
        yield chunk


def _teed(call: Call, live: Callable[[], Iterator[T]]) -> Iterator[T]:
    call.returned(None, stream=True)
    yield from call.tee(iter(live()))


async def _ateed(call: Call, live: Callable[[], AsyncIterator[T]]) -> AsyncIterator[T]:
    await call.areturned(None, stream=True)
    async for chunk in call.atee(aiter(live())):
        yield chunk
