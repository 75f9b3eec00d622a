"""Reenact: record an LLM agent's run, replay it exactly, find where it goes wrong.

with reenact.record("support") as recording:
agent.run_sync("Cancel my order ORD-5521")

with reenact.replay(recording.id) as replay:
agent.run_sync("Cancel my order ORD-5521")
replay.verdict
"""

from reenact.api import effect, load, record, recorded, replay, span, tool
from reenact.errors import DivergenceError, RecordingError, ReenactError
from reenact.model.divergence import Departure, Divergence, Mismatch, Verdict
from reenact.model.recording import Recording, Step
from reenact.redact import DEFAULT_RULES, SecretRules
from reenact.reproduction import bisect
from reenact.search import Found, find

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_RULES",
    "Departure",
    "Divergence",
    "DivergenceError",
    "Found",
    "Mismatch",
    "Recording",
    "RecordingError",
    "ReenactError",
    "SecretRules",
    "Step",
    "Verdict",
    "bisect",
    "effect",
    "find",
    "load",
    "record",
    "recorded",
    "replay",
    "span",
    "tool",
]
