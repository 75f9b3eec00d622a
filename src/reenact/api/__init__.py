"""The verbs: record, replay, load, and effects of one's own. Every face calls these."""

from reenact.api.effects import effect, span, tool
from reenact.api.fork import Fork, Recording, fork, load
from reenact.api.recording import RecordingInProgress, record, recorded, substitute
from reenact.api.replaying import Replay, replay

__all__ = [
    "Fork",
    "Recording",
    "RecordingInProgress",
    "Replay",
    "effect",
    "fork",
    "load",
    "record",
    "recorded",
    "replay",
    "span",
    "substitute",
    "tool",
]
