"""Reenact: record an LLM agent's run, replay it exactly, find where it goes wrong.

with reenact.record("support") as recording:
agent.run_sync("Cancel my order ORD-5521")

with reenact.replay(recording.id) as replay:
agent.run_sync("Cancel my order ORD-5521")
replay.verdict
"""

from reenact.api import Recording, effect, fork, load, record, recorded, replay, span, tool
from reenact.errors import DivergenceError, ForkStopped, RecordingError, ReenactError
from reenact.model.divergence import Departure, Divergence, Mismatch, Verdict
from reenact.model.recording import Step
from reenact.redact import DEFAULT_RULES, SecretRules
from reenact.search import Found, find

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_RULES",
    "Departure",
    "Divergence",
    "DivergenceError",
    "ForkStopped",
    "Found",
    "Mismatch",
    "Recording",
    "RecordingError",
    "ReenactError",
    "SecretRules",
    "Step",
    "Verdict",
    "effect",
    "find",
    "fork",
    "load",
    "record",
    "recorded",
    "replay",
    "span",
    "tool",
]
