"""Import only two parts of time-machine: its C functions, and the list of their clocks.

The module `time_machine` itself is for programs that travel in time. It imports pytest if that is installed, for its
fixture: up to a quarter of a second at each start of a program. So a placeholder with the parts that the C functions
need takes its place, and the real module runs at the first access to anything else.
"""

from __future__ import annotations

import sys
import threading
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

import _time_machine as clock  # type: ignore[import-not-found]

__all__ = ["clock", "stack"]

_NAME = "time_machine"
_STACK = "traveller_stack"

_lock = threading.RLock()


def _placed() -> ModuleType:
    """Return the imported `time_machine`, else a placeholder that is not executed yet."""
    known = sys.modules.get(_NAME)
    if known is not None:
        return known
    spec = find_spec(_NAME)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module named {_NAME!r}", name=_NAME)
    module = module_from_spec(spec)
    waiting: Any = module
    # What the C functions look up in it.
    waiting.traveller_stack = []
    waiting._time_machine = clock
    # A module's own two hooks: for a name that it lacks, and for the list of its names (pytest's, of a plugin).
    waiting.__getattr__ = lambda name: _asked(module, name)
    waiting.__dir__ = lambda: _executed(module)
    sys.modules[_NAME] = module
    return module


def _asked(module: ModuleType, name: str) -> Any:
    if name == "__path__" or name not in _executed(module):
        raise AttributeError(f"module {_NAME!r} has no attribute {name!r}", name=name, obj=module)
    return getattr(module, name)


def _executed(module: ModuleType) -> list[str]:
    """Run the module, in place and once. Its names."""
    with _lock:
        if module.__dict__.pop("__getattr__", None) is not None:
            del module.__dict__["__dir__"]
            found = module.__dict__[_STACK]
            assert module.__spec__ is not None
            assert module.__spec__.loader is not None
            module.__spec__.loader.exec_module(module)
            # The same list as before: the C functions ask its members.
            module.__dict__[_STACK] = found
    return sorted(module.__dict__)


def _stack() -> list[Any]:
    found: list[Any] = _placed().__dict__[_STACK]
    return found


stack = _stack()
"""The sources of the time, the current one on top."""
