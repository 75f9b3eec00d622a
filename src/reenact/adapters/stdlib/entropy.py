"""Randomness: the system's is recorded draw by draw, the `random` module's as one seed.

All functions that get the system's entropy (`uuid4`, `secrets`, `SystemRandom`, NumPy's `default_rng()`) call
`os.urandom`, so its results are recorded if the program is the caller.

The functions of the `random` module draw from one hidden generator that the whole process shares, libraries
included: a replay, in which libraries have less to do, would draw other numbers. So in a run, the program draws from
generators of its own, and only their seed is written. Code in the run's first scope draws the same numbers as in plain
Python. A task or thread gets a generator derived from the seed and its scope, so that draws elsewhere do not shift it,
unless the program has seeded: then it draws the numbers that this seed gives in plain Python.
"""

from __future__ import annotations

import hashlib
import os
import random
import struct
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Container, Iterator
from types import FrameType, ModuleType
from typing import Any

from reenact.adapters.imports import when_imported
from reenact.adapters.stdlib import callers, clock, early
from reenact.core.boundary import Run, Scope, current, draw

_getframe = sys._getframe
_program = callers.program
_urandom = os.urandom
_Random = random.Random
_seed: Callable[..., None] = random.Random.seed
_time_safe: Callable[[], tuple[bytes, int | None]] | None = getattr(uuid, "_generate_time_safe", None)

_WORDS = 625
_STATE = struct.Struct(f"<??d{_WORDS}I")
_NAME = "abcdefghijklmnopqrstuvwxyz0123456789_"

_runs: dict[Run, _Generators] = {}
_lock = threading.RLock()
_seeded = False
"""True if the program has seeded the `random` module since `install`."""


def install() -> None:
    """Hook the sources of randomness, once."""
    if isinstance(random._inst, _Scoped):
        return
    early.replace(os, "urandom", _read_urandom)
    random._urandom = os.urandom  # type: ignore[attr-defined]
    if hasattr(os, "getrandom"):
        early.replace(os, "getrandom", _read_getrandom)
    if _time_safe is not None:
        uuid._generate_time_safe = _read_time_safe  # type: ignore[attr-defined]
    _Random.seed = _seed_unseeded  # type: ignore[method-assign]
    random._inst.__class__ = _Scoped
    for name in ("random", "getrandbits", "gauss", "seed", "getstate", "setstate"):
        early.put(random, name, getattr(random._inst, name))
    tempfile._name_sequence = _Names()  # type: ignore[attr-defined]
    when_imported("numpy.random", _numpy_loaded)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
    early.rebind()


def begin(run: Run) -> None:
    """Prepare the run's generators, made at the first draw. NumPy's global one is recorded now."""
    _runs[run] = _Generators(run)
    if (numpy := sys.modules.get("numpy.random")) is not None:
        _runs[run].take_numpy(numpy)


def end(run: Run) -> None:
    """Give the state of the program's generators back to the global ones after a recording."""
    generators = _runs.pop(run, None)
    if generators is not None:
        generators.give_back()


def _forked() -> None:
    """Forget the generators in a forked process: plain Python, too, seeds its generator anew."""
    global _lock, _seeded
    _lock = threading.RLock()
    _seeded = False
    for run in _runs:
        _runs[run] = _Generators(run)


# -- the system's --------------------------------------------------------------------------------------------


def _read_urandom(size: int, /) -> bytes:
    scope = current()
    if scope is None or scope.hidden or not _program(_getframe(1)):
        return _urandom(size)
    return _bytes("entropy:urandom", size)


def _read_getrandom(size: int, flags: int = 0) -> bytes:
    scope = current()
    if scope is None or scope.hidden or not _program(_getframe(1)):
        return _urandom(size)
    return _bytes("entropy:urandom", size)


def _bytes(source: str, size: int) -> bytes:
    value = draw(source, lambda: _urandom(size))
    if len(value) == size:
        return value
    # An edited program asks for another size: derive the bytes from the recorded ones, the same in every replay.
    return hashlib.shake_256(value).digest(size)


def _read_time_safe() -> tuple[bytes, int | None]:
    assert _time_safe is not None
    reader = _getframe(1)
    if reader.f_code.co_name == "_unix_getnode":
        # The caller asks for the machine's own number, once in a process.
        return _time_safe()
    if clock.travels():
        # time-machine makes the function use the time of the clock, not the system's.
        return uuid.uuid1(node=uuid.getnode()).bytes, None
    scope = current()
    if scope is None or scope.hidden or not _program(reader):
        return _time_safe()

    def live() -> bytes:
        given, safe = _time_safe()
        return given + bytes([safe + 1 if safe is not None else 2])

    value = draw("entropy:uuid1", live)
    return value[:16], value[16] - 1


class _Names:
    """The random parts of temporary files' names."""

    def __init__(self) -> None:
        self._usual = tempfile._RandomNameSequence()  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        scope = current()
        if scope is None or scope.hidden or not _program(_getframe(1)):
            return str(next(self._usual))
        return "".join(_NAME[byte % len(_NAME)] for byte in _bytes("entropy:tempfile", 8))


# -- the `random` module -------------------------------------------------------------------------------------


class _Generators:
    """The generators of one run.

    The first is a copy of the process's; code in the run's first scope draws from it. `shared` is true if the program
    has seeded: then all of its tasks draw from the first one, as in plain Python. A thread draws from one derived from
    it, because threads race.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._home = threading.get_ident()
        self._first: _Random | None = None
        self._beginning = False
        self._material = b""
        self._by_scope: dict[str, _Random] = {}
        self._seeds: dict[str, tuple[int, _Random, bytes]] = {}
        self._numpy: tuple[ModuleType, Any] | None = None
        self.shared = False

    def of(self, scope: Scope) -> _Random:
        """Return the generator that code in that scope draws from."""
        with _lock:
            first = self._first or self._begin()
            if scope is self._run.root or (self.shared and threading.get_ident() == self._home):
                return first
            known = self._by_scope.get(scope.path)
            return known if known is not None else self._derive(scope)

    def seed(self, scope: Scope, apply: Callable[[_Random], None]) -> None:
        """Apply the program's `random.seed` or `random.setstate` to the generator of that scope."""
        with _lock:
            first = self._first or self._begin()
            if threading.get_ident() == self._home:
                apply(first)
                self.shared = True
                self._material = _material(first)
                return
            generator = self._by_scope[scope.path] = _Random(0)
            apply(generator)
            self._seeds[scope.path] = threading.get_ident(), generator, _material(generator)

    def take_numpy(self, numpy: ModuleType) -> None:
        """Record the state of NumPy's global generator, or set it as recorded."""
        if self._numpy is not None:
            return
        before = numpy.get_state()
        recorded = self._run.handler.draw(self._run.root, "entropy:numpy", lambda: _pack_numpy(before))
        self._numpy = numpy, before
        if self._run.replaying:
            numpy.set_state(_unpack_numpy(recorded))

    def states(self) -> dict[str, str]:
        """Return a digest of the state of each generator that the program's own code has drawn from."""
        with _lock:
            found = {"random": self._first} if self._first is not None else {}
            found |= {f"random@{path}": one for path, one in self._by_scope.items()}
            digests = {name: _material(generator).hex()[:16] for name, generator in found.items()}
            if self._numpy is not None:
                packed = repr(_pack_numpy(self._numpy[0].get_state())).encode()
                digests["numpy.random"] = hashlib.blake2b(packed, digest_size=8).hexdigest()
        return digests

    def prepare(self, names: Container[str]) -> None:
        """Begin if the recording has the first generator, so that its state can be compared."""
        with _lock:
            if "random" in names and self._first is None:
                self._begin()

    def give_back(self) -> None:
        """Restore the global generators when the run is over."""
        if self._run.replaying:
            if self._numpy is not None:
                numpy, before = self._numpy
                numpy.set_state(before)
        elif self.shared and self._first is not None:
            # In plain Python, code after the run would draw the next numbers.
            _Random.setstate(random._inst, self._first.getstate())

    def _begin(self) -> _Random:
        if self._beginning:
            # The `__del__` of a collected object draws while this begins.
            return _Random(int.from_bytes(_urandom(16), "big"))
        self._beginning = True
        packed = self._run.handler.draw(self._run.root, "entropy:seed", self._live)
        self.shared, state = _unpack(packed)
        self._first = first = _Random(0)
        first.setstate(state)
        self._material = _material(first)
        return first

    def _live(self) -> bytes:
        """Return the state that this run begins with: the process's, unless already used."""
        instance = random._inst
        alone = not any(other is not self and other._first for other in list(_runs.values()))
        state = _Random.getstate(instance)
        if _seeded and alone:
            return _pack(True, state)
        # The process goes on with another state: no two runs may draw the same numbers.
        rest, own = divmod(_getrandbits(instance, 512), 1 << 256)
        _Random.setstate(instance, _Random(rest).getstate())
        return _pack(False, state if alone else _Random(own).getstate())

    def _derive(self, scope: Scope) -> _Random:
        material, path = self._material, scope.path
        while path and path not in self._seeds:
            path = path.rpartition("/")[0]
        if path:
            thread, generator, material = self._seeds[path]
            if thread == threading.get_ident():
                return generator
        digest = hashlib.blake2b(scope.path.encode(), key=material).digest()
        generator = self._by_scope[scope.path] = _Random(int.from_bytes(digest, "big"))
        return generator


def _generator(frame: FrameType) -> _Random | None:
    scope = current()
    if scope is None or scope.hidden or not _program(frame):
        return None
    generators = _runs.get(scope.run)
    return generators.of(scope) if generators is not None else None


class _Scoped(_Random):
    """The class of the `random` module's hidden generator."""

    def random(self) -> float:
        generator = _generator(_getframe(1))
        return _random(self) if generator is None else generator.random()

    def getrandbits(self, k: int, /) -> int:
        generator = _generator(_getframe(1))
        return _getrandbits(self, k) if generator is None else generator.getrandbits(k)

    def gauss(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        # `gauss` keeps its second result for the next call, so each generator needs its own.
        generator = _generator(_getframe(1)) or self
        return _Random.gauss(generator, mu, sigma)

    def seed(self, a: Any = None, version: int = 2) -> None:
        global _seeded
        scope = current()
        generators = _runs.get(scope.run) if scope is not None and not scope.hidden else None
        if not _program(_getframe(1)):
            _seed(self, a, version)
        elif scope is None or generators is None:
            _seeded = a is not None
            _seed(self, a, version)
        else:
            value = _entropy() if a is None else a
            generators.seed(scope, lambda generator: _seed(generator, value, version))

    def getstate(self) -> tuple[Any, ...]:
        generator = _generator(_getframe(1)) or self
        return _Random.getstate(generator)

    def setstate(self, state: tuple[Any, ...]) -> None:
        global _seeded
        scope = current()
        generators = _runs.get(scope.run) if scope is not None and not scope.hidden else None
        if not _program(_getframe(1)):
            _Random.setstate(self, state)
        elif scope is None or generators is None:
            _seeded = True
            _Random.setstate(self, state)
        else:
            generators.seed(scope, lambda generator: _Random.setstate(generator, state))


_random: Callable[[_Random], float] = _Random.random
_getrandbits: Callable[[_Random, int], int] = _Random.getrandbits


def states(run: Run) -> dict[str, str]:
    """Return digests of a run's generators: of `random`, and of NumPy's if it is loaded."""
    generators = _runs.get(run)
    return generators.states() if generators is not None else {}


def prepare(run: Run, names: Container[str]) -> None:
    """Make the states of a replay's generators comparable with recorded ones of those names."""
    if (generators := _runs.get(run)) is not None:
        generators.prepare(names)


def _seed_unseeded(self: _Random, a: Any = None, version: int = 2) -> None:
    """`random.Random()` takes its seed from the system, in C."""
    if a is None:
        scope = current()
        if scope is not None and not scope.hidden and _program(_getframe(1)):
            a = _entropy()
    _seed(self, a, version)


def _entropy() -> int:
    return int.from_bytes(_bytes("entropy:random", 32), "big")


def _material(generator: _Random) -> bytes:
    return hashlib.blake2b(_pack(False, generator.getstate())).digest()


def _pack(shared: bool, state: tuple[Any, ...]) -> bytes:
    _, words, gauss = state
    return _STATE.pack(shared, gauss is not None, gauss or 0.0, *words)


def _unpack(packed: bytes) -> tuple[bool, tuple[Any, ...]]:
    shared, has_gauss, gauss, *words = _STATE.unpack(packed)
    # The last word is a position, which is out of range in derived bytes (of an edited program).
    words[-1] %= _WORDS
    return shared, (3, tuple(words), gauss if has_gauss else None)


# -- NumPy's global generator --------------------------------------------------------------------------------


def _numpy_loaded(numpy: ModuleType) -> None:
    scope = current()
    generators = _runs.get(scope.run) if scope is not None else None
    if generators is not None:
        generators.take_numpy(numpy)


def _pack_numpy(state: tuple[Any, ...]) -> bytes:
    _, words, position, has_gauss, gauss = state
    return _STATE.pack(False, bool(has_gauss), gauss, *(int(word) for word in words), position)


def _unpack_numpy(packed: bytes) -> tuple[Any, ...]:
    _, (_, words, gauss) = _unpack(packed)
    return "MT19937", list(words[:-1]), words[-1], int(gauss is not None), gauss or 0.0
