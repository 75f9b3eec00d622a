"""One effect between its question and its answer: its live reports, its replayed outcome.

It decides nothing: it passes reports to the run's handler, and waiting at the turnstile.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from dataclasses import field
from functools import partial
from types import AsyncGeneratorType, GeneratorType
from typing import TYPE_CHECKING, Any, TypeVar

from reenact.core.boundary.answer import Answer, End, Ticket, Wire
from reenact.core.boundary.current import current_scope
from reenact.core.boundary.inside import ENDS
from reenact.core.boundary.recorded_answer import RecordedAnswer, interrupted, release_on
from reenact.core.boundary.running_loop import cancellations, this_loop
from reenact.core.boundary.scope import Handler, Scope
from reenact.core.dataclass import dataclass
from reenact.core.model.event import Cancelled, Effect, Failure, Outcome, Value

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

T = TypeVar("T")


@dataclass(slots=True)
class Call:
    """One effect in progress, for adapters that need more than `perform`.

    `answer` is the recorded answer, which `recorded` gives to the program; or None when the call goes live: then the
    adapter makes the real call within `inner`, and reports `returned`, `raised` or `cancelled`, and for a stream its
    chunks. `instead` is the recorded answer to give in the place of a live one, or None. `root` is the root of the
    process that it began in.
    """

    scope: Scope
    effect: Effect
    wire: Wire
    root: Scope
    ticket: Ticket | None = None
    answer: Answer | None = None
    inner: Scope | None = None
    instead: Answer | None = None
    _over: bool = field(default=False)
    _sent: int = field(default=0)
    _recorded: RecordedAnswer | None = field(default=None)

    @property
    def step(self) -> int | None:
        """The number of its step in the recording, or None: see `Handler.step`."""
        decision = self.answer or self.ticket
        return None if decision is None else self.scope.run.handler.step(decision)

    @property
    def recorded(self) -> RecordedAnswer:
        """The recorded answer, to be given to the program."""
        if self._recorded is None:
            assert self.answer is not None
            self._recorded = RecordedAnswer(self.scope.run, self.wire, self.answer)
        return self._recorded

    # -- live ------------------------------------------------------------------------------------------------

    def returned(self, value: T, *, stream: bool = False) -> T:
        """Report a result (a stream's head, with its chunks to follow), in a sync program."""
        self._pass(Value(self.wire.dump(value), stream))
        return value if self.instead is None else self.settled()

    async def areturned(self, value: T, *, stream: bool = False) -> T:
        """Report a result and wait for its turn."""
        waits = self.report(Value(self.wire.dump(value), stream))
        if waits is not None:
            await waits
        return value if self.instead is None else self.settled()

    def raised(self, error: BaseException) -> None:
        """Report an error, in a sync program; a cancellation if a signal's handler raised it."""
        if interrupted(error):
            self.cancelled()
            if self.instead is None:
                raise error
        self._pass(Failure(error))

    async def araised(self, error: BaseException) -> None:
        """Report an error and wait for its turn."""
        waits = self.report(Failure(error))
        if waits is not None:
            await waits

    def settled(self) -> Any:
        """Return or raise the recorded outcome of a tool that ran again, in place of the new one."""
        assert self.instead is not None
        return RecordedAnswer(self.scope.run, self.wire, self.instead).value()

    def cancelled(self) -> None:
        """Report that the caller gave up before an answer came."""
        handler, ticket, _ = self._live()
        self._live_ends()
        if ticket.again:
            handler.ran_again(ticket, Cancelled())
        handler.leave(ticket, Cancelled())

    def tee(self, chunks: Iterator[T]) -> Generator[T, Any, Any]:
        """Yield the chunks of a live stream; report each one first, then its end, error or close.

        A generator gets what the program sends and throws into it, and its result is that of this one.
        """
        handler, ticket, turnstile = self._live()
        proceed: Callable[[], T] = partial(next, chunks)
        try:
            while True:
                if self.effect.source is None:
                    # As in `perform`: a tool is code of the program, which goes on.
                    turnstile.settle()
                token = current_scope.set(self.inner)
                try:
                    chunk = proceed()
                finally:
                    current_scope.reset(token)
                dumped = self.wire.dump(chunk)
                turnstile.pass_sync(
                    self._place_of(dumped), lambda dumped=dumped: handler.chunk(ticket, dumped)
                )
                proceed = yield from _yield_chunk(chunks, chunk)
        except StopIteration as end:
            self.over(value=end.value)
            return end.value
        except GeneratorExit:
            self.close()
            raise
        except BaseException as error:
            if interrupted(error):
                self.close(cancelled=True)
            elif isinstance(error, Exception):
                self.over(error)
            raise

    async def atee(self, chunks: AsyncIterator[T], *, head: bool = False) -> AsyncGenerator[T, Any]:
        """`tee` for an async stream: each chunk awaits its turn.

        `head`: report the head first.
        """
        if head:
            await self.areturned(None, stream=True)
        handler, ticket, turnstile = self._live()
        proceed: Callable[[], Awaitable[T]] = partial(anext, chunks)
        try:
            while True:
                token = current_scope.set(self.inner)
                try:
                    chunk = await proceed()
                finally:
                    current_scope.reset(token)
                dumped = self.wire.dump(chunk)
                await turnstile.pass_async(
                    self._place_of(dumped), lambda dumped=dumped: handler.chunk(ticket, dumped)
                )
                try:
                    sent = yield chunk
                except GeneratorExit:
                    raise
                except BaseException as error:
                    if not isinstance(chunks, AsyncGeneratorType):
                        raise
                    proceed = partial(chunks.athrow, error)
                else:
                    proceed = _anext_call(chunks, sent)
        except StopAsyncIteration:
            await self._astop(None)
        except GeneratorExit:
            self.close()
            raise
        except cancellations():
            self._end("cancelled")
            raise
        except Exception as error:
            await self._astop(error)
            raise

    def chunk(self, value: T) -> T:
        """Report one more chunk of a live stream that is read, not iterated (a file, a socket)."""
        handler, ticket, turnstile = self._live()
        turnstile.pass_sync(ticket.order, lambda: handler.chunk(ticket, self.wire.dump(value)))
        return value

    async def achunk(self, value: Any, deliver: Callable[[], None]) -> None:
        """Report one more chunk and wait for its turn.

        `deliver` hands the chunk on at the moment it is recorded. A reader that is cancelled meanwhile finds it at
        the next read, and it is recorded once.
        """
        handler, ticket, turnstile = self._live()

        def write() -> None:
            handler.chunk(ticket, self.wire.dump(value))
            deliver()

        await turnstile.pass_async(ticket.order, write)

    def post(self, loop: AbstractEventLoop, value: Any, deliver: Callable[[], None]) -> None:
        """Report one more chunk from a callback of the loop; `deliver` runs in its turn."""
        handler, ticket, _ = self._live()
        release_on(
            loop,
            self.scope.run.turnstile,
            ticket.order,
            lambda: handler.chunk(ticket, self.wire.dump(value)),
            deliver,
        )

    def post_over(self, loop: AbstractEventLoop, deliver: Callable[[], None]) -> None:
        """Report the end of a live stream from a callback of the loop."""
        _, ticket, turnstile = self._live()
        release_on(loop, turnstile, ticket.order, lambda: self._end("ended"), deliver)

    def post_returned(self, loop: AbstractEventLoop, value: Any, deliver: Callable[[], None]) -> None:
        """Report a result from a callback of the loop."""
        handler, ticket, turnstile = self._live()

        def write() -> None:
            self._live_ends()
            handler.leave(ticket, Value(self.wire.dump(value)))

        release_on(loop, turnstile, ticket.order, write, deliver)

    def over(self, how: BaseException | None = None, *, value: Any = None) -> None:
        """Report the end of a live stream, in its turn; `how` is the error that broke it off.

        `value` is the result of a generator.
        """
        turnstile = self.scope.run.turnstile
        end: str | BaseException = "ended" if value is None else End(self.wire.dump(value))
        if how is not None:
            end = how
        turnstile.pass_sync(self._place_of_end(end), lambda: self._end(end))

    async def aover(self, how: BaseException | None = None) -> None:
        """`over`, awaiting its turn."""
        turnstile = self.scope.run.turnstile
        await turnstile.pass_async(
            self._place_of_end("ended" if how is None else how),
            lambda: self._end("ended" if how is None else how),
        )

    def over_at_once(self) -> None:
        """Report that a live stream ended with its last chunk; call it in the `deliver` of `achunk`."""
        self._end("ended")

    def close(self, *, cancelled: bool = False) -> None:
        """Report that the program stopped reading a live stream.

        `cancelled`: it was cancelled while it waited for more. Harmless after the stream's end.
        """
        how = "cancelled" if cancelled else "closed"
        handler, ticket, _ = self._live()
        if ticket.again and not self._over:
            handler.ended_again(ticket, self._sent, how)
        self._end(how)

    # -- internal --------------------------------------------------------------------------------------------

    def _live(self) -> tuple[Handler, Ticket, Any]:
        assert self.ticket is not None
        return self.scope.run.handler, self.ticket, self.scope.run.turnstile

    def _place_of(self, chunk: Any) -> int | None:
        """Return the place of the next chunk: of a tool that runs again, the recorded one."""
        handler, ticket, _ = self._live()
        if not ticket.again:
            return ticket.order
        self._sent += 1
        return handler.chunk_again(ticket, self._sent - 1, chunk)

    def _place_of_end(self, how: str | BaseException) -> int | None:
        handler, ticket, _ = self._live()
        return handler.ended_again(ticket, self._sent, how) if ticket.again else ticket.order

    def _live_ends(self) -> None:
        """Report that the tool, or the outside call, has ended."""
        assert self.ticket is not None
        tool, run = self.ticket.tool, self.scope.run
        again = tool is not None and tool.again
        if not (again or self.ticket.code):
            run.turnstile.live_ends()
        if tool is not None and not again:
            for look in ENDS:
                look(run, tool)

    def _prepare(self, outcome: Outcome) -> bool:
        """Get ready to report an outcome.

        Return True for a stream's head: while it waits for its turn, nothing of the call is on its way.
        """
        ticket, run = self.ticket, self.scope.run
        assert ticket is not None
        stream = isinstance(outcome, Value) and outcome.stream
        if not stream:
            self._live_ends()
        if ticket.tool is not None and ticket.again:
            self.instead = run.handler.ran_again(ticket, outcome)
        pauses = stream and ticket.outside
        if pauses:
            run.turnstile.live_ends()
        return pauses

    def _pass(self, outcome: Outcome) -> None:
        handler, ticket, turnstile = self._live()
        pauses = self._prepare(outcome)
        try:
            turnstile.pass_sync(ticket.order, lambda: handler.leave(ticket, outcome))
        except BaseException as error:
            if interrupted(error):
                handler.leave(ticket, Cancelled())
            raise
        finally:
            if pauses:
                turnstile.live_begins()
        if self.scope.run.halt is not None:
            raise self.scope.run.halt

    def report(self, outcome: Outcome) -> Awaitable[None] | None:
        """Report an outcome in an event loop; return a wait for its turn if that is to come."""
        handler, ticket, turnstile = self._live()
        pauses = self._prepare(outcome)
        loop = this_loop()
        if not turnstile.passes_now(ticket.order, loop):
            return self._await_turn(outcome, loop, pauses)
        try:
            handler.leave(ticket, outcome)
        finally:
            if pauses:
                turnstile.live_begins()
        if self.scope.run.halt is not None:
            raise self.scope.run.halt
        return None

    async def _await_turn(self, outcome: Outcome, loop: AbstractEventLoop, pauses: bool) -> None:
        """Report an outcome when its turn comes; a cancellation if that comes first."""
        handler, ticket, turnstile = self._live()
        written = False

        def write() -> None:
            nonlocal written
            written = True
            handler.leave(ticket, outcome)

        try:
            await turnstile.await_turn(ticket.order, loop, write)
        except cancellations():
            if not written:
                handler.leave(ticket, Cancelled())
            raise
        finally:
            if pauses:
                turnstile.live_begins()
        if self.scope.run.halt is not None:
            raise self.scope.run.halt

    async def _astop(self, how: BaseException | None) -> None:
        try:
            await self.aover(how)
        except cancellations():
            self._end("cancelled")
            raise

    def _end(self, how: str | BaseException) -> None:
        if not self._over:
            self._over = True
            if self.root is not self.scope.run.root:
                # This process is a fork: its parent ends the call.
                return
            handler, ticket, _ = self._live()
            self._live_ends()
            handler.end(ticket, how)


def _anext_call(chunks: AsyncIterator[T], sent: Any) -> Callable[[], Awaitable[T]]:
    """Return the call for the next chunk, with what the program sent."""
    if sent is None or not isinstance(chunks, AsyncGeneratorType):
        return partial(anext, chunks)
    return partial(chunks.asend, sent)


def _yield_chunk(chunks: Iterator[T], chunk: T) -> Generator[T, Any, Callable[[], T]]:
    """Yield a chunk; return the call for the next one, with what the program sent or threw."""
    if not isinstance(chunks, GeneratorType):
        yield chunk
        return partial(next, chunks)
    try:
        sent = yield chunk
    except GeneratorExit:
        raise
    except BaseException as error:
        return partial(chunks.throw, error)
    return partial(next, chunks) if sent is None else partial(chunks.send, sent)
