"""Call a function once a module is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Hook = Callable[[ModuleType], object]

_hooks: dict[str, list[Hook]] = {}
"""The hooks of modules that are not imported yet, by the modules' names."""


def when_imported(name: str, hook: Hook) -> None:
    """Call the hook with a module once it is imported: now if it is already."""
    module = sys.modules.get(name)
    if module is not None:
        hook(module)
        return
    _hooks.setdefault(name, []).append(hook)
    if not any(isinstance(finder, _HookFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _HookFinder())


class _HookFinder:
    """Finds modules with hooks by the other finders, and wraps their loaders."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module with hooks; None for another module."""
        if name not in _hooks:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _HookLoader(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _HookLoader:
    """Wraps a module's loader until the module runs; then the module has its own loader again."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as its own loader does."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then its hooks."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        if getattr(module, "__loader__", None) is self:
            module.__loader__ = self._loader
        self._loader.exec_module(module)
        for hook in _hooks.pop(module.__name__, ()):
            hook(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
