"""The verbs: record, replay, load, and effects of one's own. Every face calls these."""

from reenact.api.effects import effect, span, tool
from reenact.api.recording import RecordingInProgress, record, recorded, substitute
from reenact.api.replaying import Replay, load, replay
from reenact.api.state import aresume, restore, resume, snapshot, track, untrack

__all__ = [
    "RecordingInProgress",
    "Replay",
    "aresume",
    "effect",
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
