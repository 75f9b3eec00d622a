"""The common base of recordings and replays: a run in the body of a `with` statement."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from reenact import adapters
from reenact.core.boundary import Run
from reenact.core.boundary.current import current_scope
from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.record.recorder import Recorder
from reenact.run.recorded import UNSET

__all__ = ["UNSET", "RunContext"]


class RunContext:
    """The context managers, sync and async: a run is active in the body."""

    output: Any = UNSET
    """The output of the run."""
    ending: dict[str, Tree]
    """Further members of the last line."""
    _token: Any = None

    def begin_run(self) -> Run | None:
        """Begin without a `with` statement. Return the run, or None if there is none of its own."""
        raise NotImplementedError

    def end_run(self, error: BaseException | None) -> None:
        """End with the error that the body raised, if any."""
        raise NotImplementedError

    def sealing(self, run: Run | None, recorder: Recorder, error: BaseException | None) -> dict[str, Tree]:
        """Return the members of the last line: status, output, error, and orders that are uncertain."""
        ending: dict[str, Tree] = {"status": "ok" if error is None else "error", **self.ending}
        if uncertain := run.turnstile.uncertain if run is not None else 0:
            ending["uncertain"] = uncertain
        if self.output is not UNSET:
            ending["output"] = recorder.encode(self.output)
        if error is not None:
            ending["error"] = codec.encode_error(error, codec.Encoder())
        return ending

    def __enter__(self) -> Self:
        adapters.install()
        run = self.begin_run()
        if run is not None:
            self._token = current_scope.set(run.root)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._token is not None:
            current_scope.reset(self._token)
        self.end_run(error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self.__exit__(kind, error, trace)
