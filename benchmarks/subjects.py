"""Who is measured: no recorder, Reenact, and the packages that record the same work, each at its own hook level.

Every one of them sits behind the same five methods, and is used as its own documentation says. Where a package has
switches, they stand at what makes it comparable: a recording that can be replayed, and no more.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
Body = Callable[[], T]


class Subject:
    """No recorder: the bare program."""

    name = "bare"
    package = ""
    level = "none"
    module = ""
    tools = True
    streams = True

    def client(self, client: Any) -> Any:
        """The SDK's client, wrapped if the package wants that."""
        return client

    def tool(self, function: Any) -> Any:
        """A function of the program's, decorated."""
        return function

    def record(self, path: Path, body: Body[T]) -> T:
        """Run `body` and record it to `path`; back when all is on the disk."""
        return body()

    def replay(self, path: Path, body: Body[T]) -> T:
        """Run `body` answered from `path`."""
        return body()

    @property
    def installed(self) -> bool:
        """Whether this package is here to be measured."""
        return not self.module or importlib.util.find_spec(self.module) is not None

    @property
    def version(self) -> str:
        """Its version, as installed."""
        try:
            return version(self.package) if self.package else ""
        except PackageNotFoundError:
            return ""


class Reenact(Subject):
    """What all this is about."""

    name = "reenact"
    package = "reenact"
    level = "transport, model, decorator"
    module = "reenact"

    def tool(self, function: Any) -> Any:
        import reenact

        return reenact.tool(function)

    def record(self, path: Path, body: Body[T]) -> T:
        import reenact

        with reenact.record("bench", home=path):
            return body()

    def replay(self, path: Path, body: Body[T]) -> T:
        import reenact

        with reenact.replay("last", home=path) as replay:
            value = body()
        if not replay.verdict.faithful:
            raise AssertionError(str(replay.verdict))
        return value


class AgentRewind(Subject):
    """Patches the SDK's `create`; one flush for each event."""

    name = "agent-rewind"
    package = "agent-rewind"
    level = "SDK method"
    module = "rewind"

    def __init__(self) -> None:
        self._patched = False

    def client(self, client: Any) -> Any:
        import rewind

        if not self._patched:
            rewind.patch_openai()
            self._patched = True
        return client

    def tool(self, function: Any) -> Any:
        import rewind

        return rewind.tool(function)

    def record(self, path: Path, body: Body[T]) -> T:
        import rewind

        with rewind.record(path):
            return body()

    def replay(self, path: Path, body: Body[T]) -> T:
        import rewind

        with rewind.replay(path):
            return body()


class Reeltime(Subject):
    """Patches the transports and the standard library; one flush for each event."""

    name = "reeltime"
    package = "reeltime"
    level = "transport, decorator"
    module = "reeltime"

    def tool(self, function: Any) -> Any:
        import reeltime

        return reeltime.tool(function)

    def record(self, path: Path, body: Body[T]) -> T:
        import reeltime

        with reeltime.session(tape_dir=path):
            return body()

    def replay(self, path: Path, body: Body[T]) -> T:
        import reeltime

        with reeltime.session("replay", replay="last", tape_dir=path):
            return body()


class AgentRR(Subject):
    """Wraps one client's `create`; keeps text, tool calls and finish reason only; fsync for each event."""

    name = "agentrr"
    package = "agentrr"
    level = "SDK method"
    module = "agentrr_sdk"
    streams = False

    def client(self, client: Any) -> Any:
        import agentrr_sdk

        return agentrr_sdk.wrap_openai_client(client)

    def tool(self, function: Any) -> Any:
        import agentrr_sdk

        return agentrr_sdk.tool(function)

    def record(self, path: Path, body: Body[T]) -> T:
        import agentrr_sdk

        value: T = agentrr_sdk.record("bench", _entry, body, log_path=path)[0]
        return value

    def replay(self, path: Path, body: Body[T]) -> T:
        import agentrr_sdk

        value: T = agentrr_sdk.replay(path, _entry, body)
        return value


class Vcrpy(Subject):
    """Patches the HTTP libraries; YAML, written at the end."""

    name = "vcrpy"
    package = "vcrpy"
    level = "HTTP library"
    module = "vcr"
    tools = False

    def record(self, path: Path, body: Body[T]) -> T:
        import vcr

        with vcr.use_cassette(str(path), record_mode=vcr.mode.ALL):
            return body()

    def replay(self, path: Path, body: Body[T]) -> T:
        import vcr

        with vcr.use_cassette(str(path), record_mode=vcr.mode.NONE):
            return body()


class Cassetter(Subject):
    """Patches the HTTP libraries; YAML by a core in Rust, written at the end."""

    name = "cassetter"
    package = "cassetter"
    level = "HTTP library"
    module = "cassetter"
    tools = False

    def record(self, path: Path, body: Body[T]) -> T:
        import cassetter

        with cassetter.use_cassette(path.with_suffix(".yaml"), record_mode="all"):
            return body()

    def replay(self, path: Path, body: Body[T]) -> T:
        import cassetter

        with cassetter.use_cassette(path.with_suffix(".yaml"), record_mode="none"):
            return body()


def _entry(body: Body[T]) -> T:
    # agentrr wants a function of a module, whose file it takes a hash of.
    return body()


SUBJECTS: dict[str, type[Subject]] = {
    kind.name: kind for kind in (Subject, Reenact, AgentRewind, Reeltime, AgentRR, Cassetter, Vcrpy)
}


def chosen() -> list[Subject]:
    """Reenact and the peers that are installed."""
    found = [kind() for kind in SUBJECTS.values() if kind is not Subject]
    return [subject for subject in found if subject.installed]
