"""browser-use's telemetry: no part of a run, neither recorded nor, in a replay, sent."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

import wrapt

from reenact.boundary import Scope, current, entered

_SENDER = "browser_use.telemetry.service"


def install() -> None:
    """Have the client of its telemetry made out of sight, once that is imported."""
    wrapt.register_post_import_hook(_install, "posthog.client")


def inside(scope: Scope) -> Scope:
    """A place in that scope where nothing is recorded, and whose tasks and threads are nobody's."""
    return scope.inside(f"{scope.path}/browser-use", call=scope.call, hidden=True)


def _install(module: Any) -> None:
    original: Any = module.Client.__init__
    if getattr(original, "_reenact", False):
        return

    @functools.wraps(original)
    def hooked(self: Any, *args: Any, **options: Any) -> None:
        scope = current()
        if scope is None or scope.hidden or not _sent_by_browser_use():
            original(self, *args, **options)
            return
        if scope.run.replaying:
            options["disabled"] = True
        # Its threads send on their own: made here, they belong to no scope of the program's.
        with entered(inside(scope)):
            original(self, *args, **options)

    hooked._reenact = True  # type: ignore[attr-defined]
    module.Client.__init__ = hooked


def _sent_by_browser_use() -> bool:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") != _SENDER:
        frame = frame.f_back
    return frame is not None
