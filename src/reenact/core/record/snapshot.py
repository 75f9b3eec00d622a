"""Snapshots of the declared state: when one is due, and which parts are written.

The recorder compares the state with the last snapshot, and encodes and writes only the changes. Nothing here may
harm the agent: a state that cannot be read costs one line, and the run goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from reenact.core.boundary import Run, Scope, entered
from reenact.core.boundary.entry import NEVER, Entry, Gone, TrackedState
from reenact.core.boundary.tracked import of_run
from reenact.core.model import codec
from reenact.core.model.event import Effect, Tree
from reenact.core.model.patch import Patch
from reenact.core.model.plain import compact, plain
from reenact.core.model.shadow import Look, Node
from reenact.core.query.risky import EVERY
from reenact.core.store.writer import warn
from reenact.core.system import perf_counter

if TYPE_CHECKING:
    from reenact.core.query.filter import Filter

_SLOW = 0.25


class Snapshots:
    """The snapshots of one process's recording.

    Args:
        write: Writes one line, less its time.
        encoder: Makes an encoder.
        clean: Returns True if a tree would be written as it is.
        hole: Stamps a remark into the recording.
    """

    def __init__(
        self,
        write: Callable[[dict[str, Tree]], None],
        encoder: Callable[[], codec.Encoder],
        clean: Callable[[Tree], bool],
        hole: Callable[[str], None],
    ) -> None:
        self.every = EVERY
        self.risky: Filter | None = None
        self.last = 0
        """The number of the last call."""
        self._write = write
        self._encoder = encoder
        self._clean = clean
        self._hole = hole
        self._nodes: dict[str, Node] = {}
        self._ordinals: dict[str, int] = {}
        self._due: dict[str, tuple[Entry, int]] = {}
        self._warned: set[str] = set()
        self.lock = threading.RLock()
        """Held during a look, which writes at its end: take it before the lock for writing."""
        self._busy = False

    def goes_on(self, counts: Mapping[str, int], last: int) -> None:
        """Continue a fork: its parent has snapshots (counts by name) and calls up to `last`."""
        self._ordinals = dict(counts)
        self.last = last

    def forget(self) -> None:
        """Write the next snapshots whole."""
        with self.lock:
            self._nodes.clear()

    def before(self, number: int, effect: Effect, scope: Scope) -> None:
        """Take the snapshots that are due before a call; all of them if the effect is risky."""
        tracked = of_run(scope.run)
        if not tracked.entries:
            return
        risky = self._is_risky(number, effect, scope)
        with self.lock:
            for name, entry in list(tracked.entries.items()):
                known, due = self._due.get(name, (None, 0))
                # A new object of that name is looked at immediately.
                if risky or number >= due or known is not entry:
                    self._look(
                        tracked, entry, scope, {"call": number - 1 or None, "why": "every"}, risky=risky
                    )
                    self._due[name] = entry, number + (entry.every or self.every)
            tracked.due = min((self._due[name][1] for name in tracked.entries), default=NEVER)

    def _is_risky(self, number: int, effect: Effect, scope: Scope) -> bool:
        try:
            return self.risky is not None and self.risky.matches(
                _PendingFacts(number, effect, scope, self._encoder)
            )
        except Exception as error:
            self._warn(f"risky={effect.label} cannot be evaluated ({type(error).__name__}: {error})")
            return True

    def asked(self, scope: Scope, label: str = "") -> None:
        """Take a snapshot at the request of the program."""
        self._all(of_run(scope.run), scope, {"call": self.last or None, "why": "asked", "label": label})

    def finish(self, run: Run) -> None:
        """Take the last snapshots, at the end of the run."""
        self._all(of_run(run), run.root, {"call": self.last or None, "why": "end"})

    def _all(self, tracked: TrackedState, scope: Scope, when: Mapping[str, Tree]) -> None:
        with self.lock:
            for entry in list(tracked.entries.values()):
                self._look(tracked, entry, scope, when)

    def _look(
        self,
        tracked: TrackedState,
        entry: Entry,
        scope: Scope,
        when: Mapping[str, Tree],
        *,
        risky: bool = False,
    ) -> None:
        if self._busy:
            # The garbage collector, or the state's own code, has called this again.
            return
        self._busy = True
        began = perf_counter()
        try:
            # Acts of the state's own code are not recorded.
            with entered(None):
                self._take(entry, scope, {**when, "why": "risky"} if risky else when)
        except Gone:
            tracked.drop(entry)
        except Exception as error:
            # The next one is written whole.
            self._nodes.pop(entry.name, None)
            self._failed(entry, error)
        finally:
            self._busy = False
        if (took := perf_counter() - began) > _SLOW:
            self._warn(
                f"a look at the state {entry.name!r} takes {took:.1f} s, after every "
                f"{entry.every or self.every} steps: track({entry.name!r}, ..., every=100) looks less often"
            )

    def _take(self, entry: Entry, scope: Scope, when: Mapping[str, Tree]) -> None:
        encoder = self._encoder()
        old, ordinal = self._nodes.get(entry.name), self._ordinals.get(entry.name, 0)
        node = Look(encoder).at(entry.get(), old)
        change = Patch(encoder, self._clean).between(node, old)
        line: dict[str, Tree] = {"event": "snapshot", "name": entry.name, "n": ordinal, "at": scope.path}
        line |= {"in": scope.call, **{key: item for key, item in when.items() if key != "label" or item}}
        self._write({**line, "value": change})
        self._nodes[entry.name] = node
        self._ordinals[entry.name] = ordinal + 1
        if encoder.unkept and not entry.quiet:
            self._unkept(entry, change, encoder.unkept)

    def _unkept(self, entry: Entry, change: Tree, kinds: list[str]) -> None:
        known = f"{entry.name}|{'|'.join(sorted(set(kinds)))}"
        if known in self._warned:
            return
        self._warned.add(known)
        places = list(dict.fromkeys(_unkept(codec.loads(codec.dumps(change)), "")))
        where = f" ({', '.join(places[:3])}{', …' if len(places) > 3 else ''})" if any(places) else ""
        names = ", ".join(dict.fromkeys(kind.replace(":", ".") for kind in kinds))
        warn(f"the state {entry.name!r} has parts that cannot be recorded: {names}{where}; the rest is")

    def _failed(self, entry: Entry, error: Exception) -> None:
        text = f"the state {entry.name!r} was not recorded ({type(error).__name__}: {error})"
        if text not in self._warned:
            self._hole(text)
        self._warn(text)

    def _warn(self, text: str) -> None:
        # The figures after it differ each time.
        known = text.partition(" takes ")[0]
        if known not in self._warned:
            self._warned.add(known)
            warn(text)


class _PendingFacts:
    """The filter facts of an effect that has not gone out yet."""

    def __init__(
        self, number: int, effect: Effect, scope: Scope, encoder: Callable[[], codec.Encoder]
    ) -> None:
        self._effect = effect
        self._encoder = encoder
        self._known = {"kind": effect.kind, "label": effect.label, "scope": scope.path, "step": number}
        if effect.kind == "model":
            self._known["model"] = effect.name

    def get(self, field: str) -> Any:
        """Return the value of a field, or None."""
        if field in self._known:
            return self._known[field]
        # It imports the readers of model calls.
        from reenact.core.query.facts import joined, lookup  # noqa: PLC0415

        root, _, path = field.partition(".")
        if root == "args":
            return lookup(self._args, path) if path else compact(self._args)
        return joined(self._args, None, "") if field == "text" else None

    @cached_property
    def _args(self) -> dict[str, Any]:
        encoder = self._encoder()
        trees = {name: encoder.encode(value) for name, value in self._effect.args.items()}
        # Some adapters give parts that are encoded already.
        return {name: plain(tree) for name, tree in codec.loads(codec.dumps(trees)).items()}


_INNER = {"fields", "items", "value", "type"}


def _unkept(tree: Tree, path: str) -> list[str]:
    """Return the paths of the parts of a tree that could not be kept."""
    if isinstance(tree, list):
        return [place for item in tree for place in _unkept(item, path)]
    if not isinstance(tree, dict):
        return []
    if "$unkept" in tree:
        return [path]
    found = []
    for key, item in tree.items():
        inner = key[:1] == "$" or (key in _INNER and "type" in tree) or key in {"new", "by"}
        found += _unkept(item, path if inner else f"{path}.{key}".lstrip("."))
    return found
