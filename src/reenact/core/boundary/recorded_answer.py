"""A recorded answer on its way to the program: each part of it in its turn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

from reenact.core.boundary.answer import Answer, End, Wire
from reenact.core.boundary.running_loop import cancellations
from reenact.core.boundary.scope import Run
from reenact.core.boundary.turnstile import LAST, Turnstile
from reenact.core.model.event import Cancelled, Failure, Value

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

INTERRUPTED = "_reenact_interrupted"
"""The attribute of an exception that a signal's handler has raised."""


def interrupted(error: BaseException) -> bool:
    """Return True if a signal's handler has raised it."""
    return getattr(error, INTERRUPTED, False)


def release_on(
    loop: AbstractEventLoop,
    turnstile: Turnstile,
    order: int | None,
    tell: Callable[[], None],
    then: Callable[[], None],
) -> None:
    """Call both from a callback of the loop, in the turn of that order."""

    def release() -> None:
        tell()
        then()

    turnstile.push(loop, order, release, lambda: False)


class RecordedAnswer:
    """Gives a recorded answer to the program.

    Args:
        run: The run that replays it.
        wire: Converts its values.
        answer: The answer.

    Attributes:
        served: The number of the chunks that were handed out.
    """

    __slots__ = ("_over", "_run", "_wire", "answer", "served")

    def __init__(self, run: Run, wire: Wire, answer: Answer) -> None:
        self.answer = answer
        self.served = 0
        self._run = run
        self._wire = wire
        self._over = False

    def value(self) -> Any:
        """Return the recorded result at once, or raise the recorded error."""
        answer = self.answer
        if isinstance(answer.outcome, Failure):
            raise answer.outcome.error
        if answer.order is not None and answer.order == answer.cut:
            raise self._run.handler.read_on(answer)
        assert isinstance(answer.outcome, Value)
        return self._wire.load(answer.outcome.value)

    def serve(self) -> Any:
        """Return the recorded result or raise the recorded error, in its turn."""
        answer, turnstile = self.answer, self._run.turnstile
        if isinstance(answer.outcome, Cancelled):
            self._interrupt(answer.order, None)
            raise self._run.handler.stuck(answer)
        try:
            turnstile.pass_sync(answer.order, self._on_pass(None))
        except BaseException as error:
            if not interrupted(error) or answer.order is None:
                raise
            # In the recording, the call went on after the exception of a signal's handler.
            turnstile.pass_sync(answer.order, self._on_pass(None))
        return self.value()

    def _interrupt(self, order: int | None, piece: int | None) -> None:
        """Run the handler of the signal that ended this call, or this piece of it, in the recording."""
        turnstile = self._run.turnstile
        if turnstile.interrupt is None:
            return
        try:
            turnstile.interrupt(LAST if order is None else order)
        except BaseException as error:
            if interrupted(error):
                self._run.handler.passed(self.answer, piece)
                turnstile.pass_sync(order, None)
            raise

    async def aserve(self) -> Any:
        """`serve`, awaiting the turn.

        A recorded cancellation never answers: the code that cancelled the call cancels it again.
        """
        if isinstance(self.answer.outcome, Cancelled):
            await self._hang(self._run.handler.stuck)
        await self._run.turnstile.pass_async(self.answer.order, self._on_pass(None))
        return self.value()

    def pieces(self) -> Generator[Any, Any, Any]:
        """Yield the recorded chunks, in turn, then apply the recorded end; return the result.

        A reader that stops and reads again continues after the last chunk it read, as with a connection.
        """
        answer, turnstile = self.answer, self._run.turnstile
        while self.served < len(answer.pieces):
            piece = answer.pieces[self.served]
            turnstile.pass_sync(piece.order, self._on_pass(self.served))
            self.served += 1
            if (yield self._wire.load(piece.value)) is not None:
                self.sent()
        if answer.end == "cancelled":
            self._interrupt(answer.end_order, len(answer.pieces))
        elif answer.end == "closed" and turnstile.interrupt is not None:
            # The wait for more may have been ended by a signal, before the program closed the stream.
            turnstile.interrupt(LAST if answer.end_order is None else answer.end_order)
        if not self._over:
            end, on_pass = self._end()
            if end is not None:
                turnstile.pass_sync(end, on_pass)
            else:
                on_pass()
        self._finish()
        return self._wire.load(answer.end.value) if isinstance(answer.end, End) else None

    def sent(self) -> None:
        """Note that the program has sent a value into this stream, which has no code to take it."""
        handler = self._run.handler
        handler.remark(
            f"the generator of step {handler.step(self.answer)} was answered without running: "
            "what the program sent into it was not compared"
        )

    async def apieces(self) -> AsyncIterator[Any]:
        """`pieces`, awaiting each turn."""
        arrived: list[Any] = []
        while await self.apiece(arrived.append):
            yield arrived.pop()

    async def apiece(self, deliver: Callable[[Any], None]) -> bool:
        """Hand the next recorded chunk to `deliver`, in its turn. Return False after the last one.

        Raises the recorded error. The counterpart of `achunk`: a reader that is cancelled meanwhile can read on.
        """
        answer, turnstile = self.answer, self._run.turnstile
        if self.served == len(answer.pieces):
            await self._afinish()
            return False
        piece, on_pass = answer.pieces[self.served], self._on_pass(self.served)

        def release() -> None:
            on_pass()
            self.served += 1
            deliver(self._wire.load(piece.value))

        await turnstile.pass_async(piece.order, release)
        return True

    def fetch(
        self, loop: AbstractEventLoop, deliver: Callable[[Any], None], ended: Callable[[], None]
    ) -> None:
        """Hand each recorded chunk to `deliver` from callbacks of the loop, then call `ended`.

        Where the recorded stream has no end, `ended` is not called.
        """
        answer = self.answer
        if self.served < len(answer.pieces):
            piece = answer.pieces[self.served]
            on_pass = self._on_pass(self.served)

            def release() -> None:
                self.served += 1
                deliver(self._wire.load(piece.value))
                self.fetch(loop, deliver, ended)

            release_on(loop, self._run.turnstile, piece.order, on_pass, release)
        elif answer.end == "ended":
            end, on_pass = self._end()
            release_on(loop, self._run.turnstile, end, on_pass, ended)

    def fetch_returned(self, loop: AbstractEventLoop, deliver: Callable[[Any], None]) -> None:
        """Hand the recorded result, if there is one, to `deliver` from a callback of the loop."""
        answer = self.answer
        value = answer.outcome
        if isinstance(value, Value) and answer.cut is None:
            loaded = self._wire.load(value.value)
            release_on(loop, self._run.turnstile, answer.order, self._on_pass(None), lambda: deliver(loaded))

    def _on_pass(self, piece: int | None) -> Callable[[], None]:
        """Return the callback for the turn of an outcome (None), a chunk (its number) or the end.

        The end has the number of chunks as its number.
        """
        return partial(self._run.handler.passed, self.answer, piece)

    def _end(self) -> tuple[int | None, Callable[[], None]]:
        answer = self.answer
        end = answer.end_order if answer.end_order is not None else answer.cut
        return end, self._on_pass(len(answer.pieces))

    async def _hang(self, stuck: Callable[[Answer], BaseException]) -> None:
        """Wait for the recorded cancellation."""
        answer = self.answer
        try:
            await self._run.turnstile.hang(lambda: stuck(answer))
        except cancellations(GeneratorExit):
            whole = isinstance(answer.outcome, Cancelled)
            self._run.handler.passed(answer, None if whole else len(answer.pieces))
            raise

    async def _afinish(self) -> None:
        if self.answer.end == "cancelled":
            await self._hang(self._run.handler.read_on)
        if not self._over:
            end, on_pass = self._end()
            if end is not None:
                await self._run.turnstile.pass_async(end, on_pass)
            else:
                on_pass()
        self._finish()

    def _finish(self) -> None:
        answer, self._over = self.answer, True
        if isinstance(answer.end, BaseException):
            raise answer.end
        if answer.end != "ended":
            raise self._run.handler.read_on(answer)
