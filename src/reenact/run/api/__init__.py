"""The verbs: record, replay, load, diff, and effects of one's own. Every face calls these."""

from importlib import import_module as _import
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact.run.api.effects import effect, span, tool
    from reenact.run.api.fork import Fork, Recording, fork, load
    from reenact.run.api.recording import RecordingInProgress, record, recorded, substitute
    from reenact.run.api.replaying import Replay, replay
    from reenact.run.api.state import aresume, restore, resume, snapshot, track, untrack

__all__ = [
    "Fork",
    "Recording",
    "RecordingInProgress",
    "Replay",
    "aresume",
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
            value = globals()[name] = getattr(_import(f"reenact.run.api.{place}"), name)
            return value
    raise AttributeError(f"module 'reenact.run.api' has no attribute {name!r}")
