"""`compare_sessions`: where two sessions differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reenact.core.replay.match import Rules, mismatches
from reenact.errors import Mismatch
from reenact.lesson import messages
from reenact.lesson.replaying import Session, trace_of
from reenact.lesson.session import text

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two sessions, in the order of their parts.

    Attributes:
        first: The id of the first session; `second`: that of the other.
        differences: Paths such as `messages[3].parts[0].content`, with what the first has (`recorded`) and what the
            second (`actual`).
    """

    first: str
    second: str
    differences: tuple[Mismatch, ...] = ()

    @property
    def same(self) -> bool:
        """The inputs, messages and outputs are equal."""
        return not self.differences

    def __str__(self) -> str:
        if self.same:
            return f"{self.first} and {self.second}: the same"
        lines = [f"{self.first} and {self.second} differ in {len(self.differences)} places:"]
        for each in self.differences[:_SHOWN]:
            lines += [f"  {each.path}", f"    - {_line(each.recorded)}", f"    + {_line(each.actual)}"]
        if len(self.differences) > _SHOWN:
            lines.append(f"  and {len(self.differences) - _SHOWN} more")
        return "\n".join(lines)


def compare_sessions(first: Session, second: Session, *, ignore: Iterable[str] = ()) -> Comparison:
    """Compare two sessions: input, messages and output.

    Ids, times and models are left out.

        print(compare_sessions("sessions/monday.json", "sessions/tuesday.json"))

    Messages are compared by position: after an extra step in one session, all later messages differ.

    Args:
        first: A SessionRecord, its dict, the file that it was saved to, or a recording that is loaded.
        second: The other one.
        ignore: Parts to leave out, such as `"args.messages[*].parts[*].tool_call_id"`.

    Raises:
        RecordingError: A file cannot be read, or is no session.
        UsageError: `ignore` names no part.
    """
    one, other = trace_of(first), trace_of(second)
    found = mismatches("session", _compared(one), _compared(other), Rules(ignore))
    shown = tuple(Mismatch(each.path.removeprefix("args."), each.recorded, each.actual) for each in found)
    return Comparison(one["session_id"], other["session_id"], shown)


def _compared(trace: dict[str, Any]) -> dict[str, Any]:
    return {
        "user_input": trace["user_input"],
        "messages": messages.comparable(trace["messages"], trace["instructions"]),
        "final_output": trace["final_output"],
    }


def _line(value: Any) -> str:
    shown = text(value)
    return shown if len(shown) <= 200 else f"{shown[:199]}…"
