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
    from reenact.analyze.anomalies import Anomaly, rule
    from reenact.analyze.diff import Diff
    from reenact.api import (
        Recording,
        anomalies,
        aresume,
        diff,
        effect,
        fork,
        load,
        record,
        recorded,
        replay,
        restore,
        resume,
        snapshot,
        span,
        tool,
        track,
        untrack,
    )
    from reenact.browser.client import Client
    from reenact.errors import (
        ActionError,
        DivergenceError,
        ForkStopped,
        RecordingError,
        ReenactError,
        SessionError,
    )
    from reenact.model.divergence import Departure, Divergence, Mismatch, Verdict
    from reenact.model.recording import Step
    from reenact.model.state import State
    from reenact.redact import DEFAULT_RULES, SecretRules
    from reenact.reproduction import bisect, reproduce
    from reenact.search import Found, find

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_RULES",
    "ActionError",
    "Anomaly",
    "Client",
    "Departure",
    "Diff",
    "Divergence",
    "DivergenceError",
    "ForkStopped",
    "Found",
    "Mismatch",
    "Recording",
    "RecordingError",
    "ReenactError",
    "SecretRules",
    "SessionError",
    "State",
    "Step",
    "Verdict",
    "anomalies",
    "aresume",
    "bisect",
    "diff",
    "effect",
    "find",
    "fork",
    "load",
    "record",
    "recorded",
    "replay",
    "reproduce",
    "restore",
    "resume",
    "rule",
    "snapshot",
    "span",
    "tool",
    "track",
    "untrack",
]

# Each name is imported when it is first asked for: a program that decorates its tools, and is not recorded today,
# needs little of all that.
_PLACES = {
    "analyze.anomalies": ("Anomaly", "rule"),
    "analyze.diff": ("Diff",),
    "api.comparing": ("diff",),
    "api.diagnosing": ("anomalies",),
    "api.effects": ("effect", "span", "tool"),
    "api.fork": ("Recording", "fork", "load"),
    "api.recording": ("record", "recorded"),
    "api.replaying": ("replay",),
    "api.state": ("aresume", "restore", "resume", "snapshot", "track", "untrack"),
    "browser.client": ("Client",),
    "errors": (
        "ActionError",
        "DivergenceError",
        "ForkStopped",
        "RecordingError",
        "ReenactError",
        "SessionError",
    ),
    "model.divergence": ("Departure", "Divergence", "Mismatch", "Verdict"),
    "model.recording": ("Step",),
    "model.state": ("State",),
    "redact": ("DEFAULT_RULES", "SecretRules"),
    "reproduction": ("bisect", "reproduce"),
    "search": ("Found", "find"),
}

_FOLDERS = (
    "adapters",
    "api",
    "boundary",
    "browser",
    "errors",
    "lesson",
    "model",
    "redact",
    "search",
    "store",
)

for _verb in ("fork", "record", "replay"):
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
