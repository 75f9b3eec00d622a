"""The verbs: record, replay, load, and effects of one's own. Every face calls these."""

from reenact.api.diagnosing import anomalies
from reenact.api.effects import effect, span, tool
from reenact.api.recording import RecordingInProgress, record, recorded, substitute
from reenact.api.replaying import Replay, load, replay

__all__ = [
    "RecordingInProgress",
    "Replay",
    "anomalies",
    "effect",
    "load",
    "record",
    "recorded",
    "replay",
    "span",
    "substitute",
    "tool",
]
