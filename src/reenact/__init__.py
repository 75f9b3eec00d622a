"""Reenact: record an LLM agent's run, replay it exactly, find where it goes wrong.

with reenact.record("support") as recording:
agent.run_sync("Cancel my order ORD-5521")

with reenact.replay(recording.id) as replay:
agent.run_sync("Cancel my order ORD-5521")
replay.verdict
"""

from importlib import import_module as _import
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact.api import effect, load, record, recorded, replay, span, tool
    from reenact.errors import DivergenceError, RecordingError, ReenactError
    from reenact.model.divergence import Departure, Divergence, Mismatch, Verdict
    from reenact.model.recording import Recording, Step
    from reenact.redact import DEFAULT_RULES, SecretRules
    from reenact.reproduction import bisect, reproduce
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
    "reproduce",
    "span",
    "tool",
]

# Each name is imported when it is first asked for: a program that decorates its tools, and is not recorded today,
# needs little of all that.
_PLACES = {
    "api.effects": ("effect", "span", "tool"),
    "api.recording": ("record", "recorded"),
    "api.replaying": ("load", "replay"),
    "errors": ("DivergenceError", "RecordingError", "ReenactError"),
    "model.divergence": ("Departure", "Divergence", "Mismatch", "Verdict"),
    "model.recording": ("Recording", "Step"),
    "reproduction": ("bisect", "reproduce"),
    "redact": ("DEFAULT_RULES", "SecretRules"),
    "search": ("Found", "find"),
}

_FOLDERS = ("adapters", "api", "boundary", "errors", "model", "redact", "search", "store")

for _verb in ("record", "replay"):
    # Verbs and folders of code. The folder takes the name when it is imported: now, and never again.
    _import(f"reenact.{_verb}")
    del globals()[_verb]
del _verb


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names:
            value = globals()[name] = getattr(_import(f"reenact.{place}"), name)
            return value
    if name in _FOLDERS:
        return _import(f"reenact.{name}")
    raise AttributeError(f"module 'reenact' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
