"""Every exception that Reenact raises.

    ReenactError (Exception)
    ├── RecordingError                  a recording cannot be used as asked
    │   ├── RecordingNotFound           no recording of that id, prefix or path     (also a LookupError)
    │   ├── AmbiguousRecording          a prefix that several recordings share      (also a LookupError)
    │   ├── NotARecording               the file or folder is something else        (also a ValueError)
    │   ├── CorruptRecording            damaged before its last line                (also a ValueError)
    │   ├── RecordingHeld               a hold of the team's store forbids deleting it
    │   ├── FutureFormat                written by a newer Reenact
    │   ├── TooLarge                    unpacks to more than its limit              (also a ValueError)
    │   └── UnsafeValue                 a recorded value is of a class that is not built again
    ├── ProgramError                    the recorded program cannot be run again
    ├── ForeignRecording                its program may not run before the user has agreed
    ├── FilterError                     a filter that does not parse                (also a ValueError)
    ├── SearchEnded                     a search took longer than a server lets it
    ├── UsageError                      arguments that do not fit together          (also a ValueError)
    │   ├── MissingExtra                a package that an extra brings is missing   (also an ImportError)
    │   └── StepNotFound                the recording has no step of that number    (also a LookupError)
    ├── DivergenceError                 a replay left its recording
    ├── ForkStopped                     a fork stopped where it needed a model that is not at hand
    ├── StoreAway                       the team's store does not answer; ask again
    │   └── StoreFull                   it takes no more of a project
    └── SessionError                    a browser session cannot go on, or has no browser
        └── ActionError                 an action in the browser failed

    Halt (BaseException)                carries a divergence through user code; never reaches the user
    └── ForkStop                        the same for the end of a fork

`Halt` is no `Exception` on purpose: agent frameworks catch `Exception` around tools and hand its text to the
model, and HTTP clients retry on it. The edge of `replay()` turns it into a `DivergenceError`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Departure(str, Enum):
    """The kinds of departure."""

    CHANGED = "CHANGED"
    EXTRA = "EXTRA"
    MISSING = "MISSING"
    REORDERED = "REORDERED"


ABSENT = "(absent)"
"""The text on the side of a mismatch that has no value."""


@dataclass(frozen=True, slots=True, repr=False)
class Mismatch:
    """One part of an effect that differs, with its path (`args.body.messages[2].content`)."""

    path: str
    recorded: Any
    actual: Any

    def __repr__(self) -> str:
        """Return one line; long values are cut."""
        return f"<Mismatch {one_line(str(self))}>"

    def __str__(self) -> str:
        return f"{self.path}: recorded {_short(self.recorded)}, actual {_short(self.actual)}"


@dataclass(frozen=True, slots=True, repr=False)
class Divergence:
    """The first (or, realigned, one) place where a replay leaves its recording.

    Attributes:
        kind: CHANGED, EXTRA, MISSING or REORDERED.
        address: The effect's identity in the run.
        step: The recorded step concerned, numbered from 1; for an extra call the step before which it came.
        mismatches: The differences, for CHANGED.
        detail: One more sentence: the actual question, the nearest recorded step.
        hint: A suggested remedy.
    """

    kind: Departure
    address: str
    step: int | None = None
    mismatches: tuple[Mismatch, ...] = ()
    detail: str = ""
    hint: str = ""

    def __repr__(self) -> str:
        """Return one line: the kind, the place, and the number of differences."""
        where = f"step {self.step}, " if self.step is not None else ""
        count = f", {len(self.mismatches)} different" if self.mismatches else ""
        return f"<Divergence: {self.kind.value} at {where}{one_line(self.address)}{count}>"

    def __str__(self) -> str:
        where = f"step {self.step}, " if self.step is not None else ""
        text = f"{self.kind.value} at {where}{self.address}"
        if self.detail:
            text += f": {self.detail}"
        shown = "; ".join(str(mismatch) for mismatch in self.mismatches[:3])
        if shown:
            text += f" [{shown}" + (
                f"; and {len(self.mismatches) - 3} more]" if len(self.mismatches) > 3 else "]"
            )
        return one_line(text + (f" ({self.hint})" if self.hint else ""))


def one_line(text: str) -> str:
    """Return a text with escapes for line breaks and other characters that are not printed."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _short(value: Any) -> str:
    text = value if value is ABSENT else repr(value)
    return text if len(text) <= 120 else text[:119] + "…"


class ReenactError(Exception):
    """Base of all errors that a user may want to catch. Its text is one line with a remedy."""


class RecordingError(ReenactError):
    """A recording cannot be used as asked."""


class RecordingNotFound(RecordingError, LookupError):
    """No recording has that id, prefix or path."""


class AmbiguousRecording(RecordingError, LookupError):
    """Several recordings share the given prefix; the text lists them."""


class NotARecording(RecordingError, ValueError):
    """The file or folder exists, but is no recording."""


class CorruptRecording(RecordingError, ValueError):
    """A recording is damaged before its last line (a torn last line alone is no damage)."""


class FutureFormat(RecordingError):
    """A recording was written in a newer format than this version reads."""


class TooLarge(RecordingError, ValueError):
    """A file or a body unpacks to more bytes than its limit, or has too many members."""


class UnsafeValue(RecordingError):
    """A replay needs a value of a class that is not rebuilt: one with a `__del__`, for example."""


class RecordingHeld(RecordingError):
    """A hold of the team's store forbids deleting a recording; the text names the hold."""


class ProgramError(ReenactError):
    """The recorded program cannot be run again: none is recorded, or its files are gone."""


class ForeignRecording(ReenactError):
    """A foreign or changed recording: its program may not run before the user has agreed."""


class SearchEnded(ReenactError):
    """A search on a server took too long and was ended; the text suggests a smaller one."""


class FilterError(ReenactError, ValueError):
    """A filter expression does not parse; the text points at the column."""


class UsageError(ReenactError, ValueError):
    """Arguments that do not fit together, or a verb used where it cannot work."""


class MissingExtra(UsageError, ImportError):
    """A package is not installed that an extra of Reenact brings.

    Args:
        feature: The command or the object that needs it.
        extra: The extra.
    """

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs the extra \"{extra}\": pip install 'reenact[{extra}]'")
        self.feature, self.extra = feature, extra


class StepNotFound(UsageError, LookupError):
    """The recording has no step of that number."""


class DivergenceError(ReenactError):
    """A replay left its recording; `.divergence` has the place, the kind and the nearest step."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(str(divergence))
        self.divergence = divergence


class ForkStopped(ReenactError):
    """A fork could not go live: no model is available. Its recording is kept, sealed as stopped."""


class StoreAway(ReenactError):
    """The team's store does not answer at present. Repeat the request: nothing is done twice."""


class StoreFull(StoreAway):
    """The team's store has no room left for a project. It continues once there is room."""


class SessionError(ReenactError):
    """A browser session cannot be started, or is closed, or its browser has died."""


class ActionError(SessionError):
    """An action in the browser failed; `.result` is its ExecutionResult, where there is one."""

    def __init__(self, text: str, result: Any = None) -> None:
        super().__init__(text)
        self.result = result


class Halt(BaseException):
    """Carries a divergence through user code that catches `Exception`. Internal."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(str(divergence))
        self.divergence = divergence


class ForkStop(Halt):
    """Ends a fork that cannot go on. Internal, as `Halt` is."""

    def __init__(self, reason: str) -> None:
        BaseException.__init__(self, reason)
        self.reason = reason
