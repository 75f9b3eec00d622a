"""Reenact: record an LLM agent's run, replay it exactly, find where it goes wrong.

with reenact.record("support") as recording:
agent.run_sync("Cancel my order ORD-5521")

with reenact.replay(recording.id) as replay:
agent.run_sync("Cancel my order ORD-5521")
replay.verdict
"""

import re as _re
from importlib import import_module as _import
from typing import TYPE_CHECKING, Any

from reenact.core.version import VERSION as _VERSION

if TYPE_CHECKING:
    from reenact.analysis.anomalies import Anomaly, rule
    from reenact.analysis.diff import Diff
    from reenact.browser.client import Client
    from reenact.core.model.divergence import Verdict
    from reenact.core.query.recorded_run import Step
    from reenact.core.query.state import State
    from reenact.core.redact import DEFAULT_RULES, SecretRules
    from reenact.errors import (
        ActionError,
        Departure,
        Divergence,
        DivergenceError,
        ForkStopped,
        Mismatch,
        RecordingError,
        ReenactError,
        SessionError,
    )
    from reenact.run.api.effects import effect, span, tool
    from reenact.run.api.forking import Recording, fork, load
    from reenact.run.api.recorded_function import recorded
    from reenact.run.api.recording import record
    from reenact.run.api.replaying import replay
    from reenact.run.api.state import aresume, restore, resume, snapshot, track, untrack
    from reenact.verbs.diagnose import anomalies
    from reenact.verbs.diff import diff
    from reenact.verbs.find import Found, find
    from reenact.verbs.reproduce import bisect, reproduce


__version__ = _VERSION

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
    "analysis.anomalies": ("Anomaly", "rule"),
    "analysis.diff": ("Diff",),
    "verbs.diff": ("diff",),
    "verbs.diagnose": ("anomalies",),
    "run.api.effects": ("effect", "span", "tool"),
    "run.api.forking": ("Recording", "fork", "load"),
    "run.api.recorded_function": ("recorded",),
    "run.api.recording": ("record",),
    "run.api.replaying": ("replay",),
    "run.api.state": ("aresume", "restore", "resume", "snapshot", "track", "untrack"),
    "browser.client": ("Client",),
    "errors": (
        "ActionError",
        "DivergenceError",
        "ForkStopped",
        "RecordingError",
        "ReenactError",
        "SessionError",
    ),
    "core.model.divergence": ("Departure", "Divergence", "Mismatch", "Verdict"),
    "core.query.recorded_run": ("Step",),
    "core.query.state": ("State",),
    "core.redact": ("DEFAULT_RULES", "SecretRules"),
    "verbs.reproduce": ("bisect", "reproduce"),
    "verbs.find": ("Found", "find"),
}

_FOLDERS = ("adapters", "analysis", "browser", "core", "errors", "lesson", "run", "team", "verbs")


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names:
            value = globals()[name] = _readable(getattr(_import(f"reenact.{place}"), name))
            return value
    if name in _FOLDERS:
        return _import(f"reenact.{name}")
    raise AttributeError(f"module 'reenact' has no attribute {name!r}")


class _Shown(str):
    """An annotation that `help()` and `inspect.signature` print without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _readable(thing: Any) -> Any:
    """Let the signatures of a public thing print their types without quotes, and return it.

    Annotations are texts, which Python prints in quotes. They stay texts: nothing is evaluated or imported. A name for
    a union or for some literals, such as `Source`, is replaced by its parts.
    """
    classes = [each for each in getattr(thing, "__mro__", ()) if each.__module__.startswith("reenact.")]
    for cls in classes:
        getattr(cls, "__init__", None)  # a dataclass generates its methods here
    for each in [part for cls in classes for part in vars(cls).values()] or (thing,):
        function = getattr(each, "fget", None) or getattr(each, "__func__", each)
        function = getattr(function, "__wrapped__", function)
        notes, known = getattr(function, "__annotations__", None), getattr(function, "__globals__", {})
        if isinstance(notes, dict) and known:
            for name, text in notes.items():
                if isinstance(text, str):
                    words = _re.split(r"\b([A-Z]\w+)", text)
                    notes[name] = _Shown("".join(_spelled(word, known) for word in words))
    return thing


def _spelled(name: str, known: dict[str, Any]) -> str:
    if name == "RecordedRun":
        return "Recording"  # the class that users get is its subclass
    meant = known.get(name)
    alias = hasattr(meant, "__args__") and not isinstance(meant, type)
    return (
        _re.sub(r"(?:\w+\.)+(?=\w)", "", repr(meant)).replace("RecordedRun", "Recording") if alias else name
    )


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
