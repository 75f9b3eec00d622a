"""The verbs: record, replay, load, diff, and effects of one's own. Every face calls these."""

from importlib import import_module as _import
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact.api.comparing import diff
    from reenact.api.effects import effect, span, tool
    from reenact.api.fork import Fork, Recording, fork, load
    from reenact.api.recording import RecordingInProgress, record, recorded, substitute
    from reenact.api.replaying import Replay, replay
    from reenact.api.state import aresume, restore, resume, snapshot, track, untrack

__all__ = [
    "Fork",
    "Recording",
    "RecordingInProgress",
    "Replay",
    "aresume",
    "diff",
    "effect",
    "fork",
    "load",
    "record",
    "recorded",
    "replay",
    "restore",
    "resume",
    "snapshot",
    "span",
    "substitute",
    "tool",
    "track",
    "untrack",
]

_PLACES = {
    "comparing": ("diff",),
    "effects": ("effect", "span", "tool"),
    "recording": ("RecordingInProgress", "record", "recorded", "substitute"),
    "fork": ("Fork", "Recording", "fork", "load"),
    "replaying": ("Replay", "replay"),
    "state": ("aresume", "restore", "resume", "snapshot", "track", "untrack"),
}


def __getattr__(name: str) -> Any:
    # As in `reenact` itself: who wants an effect of his own needs no recorder.
    for place, names in _PLACES.items():
        if name in names:
            value = globals()[name] = getattr(_import(f"reenact.api.{place}"), name)
            return value
    raise AttributeError(f"module 'reenact.api' has no attribute {name!r}")
