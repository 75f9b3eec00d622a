"""Find the new messages of each model call, so that a reader sees each message once.

A chat sends its whole history with every call.
"""

from __future__ import annotations

from reenact.core.dataclass import dataclass
from reenact.core.messages import Message, ModelCall

_OPEN = 16


@dataclass(frozen=True, slots=True)
class Turn:
    """One model call as a turn of its conversation.

    Attributes:
        call: The whole call.
        new: The messages that no earlier call of the conversation sent and no answer contained.
        known: The number of messages before them that had been sent already.
        dropped: The number of earlier messages that are now missing or changed: the program rewrote its history.
    """

    call: ModelCall
    new: tuple[Message, ...]
    known: int = 0
    dropped: int = 0


class Conversation:
    """Follows the conversations of a run; several may alternate or run in parallel."""

    def __init__(self) -> None:
        self._open: list[tuple[tuple[Message, ...], Message | None]] = []

    def turn(self, call: ModelCall) -> Turn:
        """Return the next call as a turn. Calls must come in the order in which they were asked."""
        if call.embedded is not None:
            # Embedded texts are no messages of a conversation.
            return Turn(call, call.messages)
        best, known = -1, 0
        for place in range(len(self._open) - 1, -1, -1):
            before, _ = self._open[place]
            shared = _shared(before, call.messages)
            if shared > known:
                best, known = place, shared
                if shared == len(before):
                    break
        if best < 0:
            self._remember(call)
            return Turn(call, call.messages)
        before, answer = self._open[best]
        new = call.messages[known:]
        if known == len(before) and answer is not None:
            new = _after(answer, new)
        # Every run of an agent shares its system prompt: that alone makes no conversation.
        goes_on = any(message.role != "system" for message in before[:known])
        if goes_on:
            del self._open[best]
        self._remember(call)
        return Turn(call, new, known, len(before) - known if goes_on else 0)

    def mark(self) -> list[tuple[tuple[Message, ...], Message | None]]:
        """Return the current position, to go back to."""
        return list(self._open)

    def back(self, mark: list[tuple[tuple[Message, ...], Message | None]]) -> None:
        """Forget the calls since a mark."""
        self._open = list(mark)

    def _remember(self, call: ModelCall) -> None:
        self._open.append((call.messages, call.answer))
        del self._open[:-_OPEN]


def _shared(before: tuple[Message, ...], now: tuple[Message, ...]) -> int:
    most = min(len(before), len(now))
    # Usually one continues the other; tuples compare identical objects at memory speed.
    if before[:most] == now[:most]:
        return most
    count = 0
    while count < most and (before[count] is now[count] or before[count] == now[count]):
        count += 1
    return count


def _after(answer: Message, new: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages after the previous answer, which some formats send as several."""
    count = 0
    while count < len(new) and new[count].role == "assistant":
        count += 1
    said = new[:count]
    text = "".join(message.text for message in said)
    calls = [(call.name, call.args) for message in said for call in message.calls]
    # Most formats send the text back unchanged; a comparison without spaces takes longer.
    alike = text == answer.text or "".join(text.split()) == "".join(answer.text.split())
    if alike and calls == [(call.name, call.args) for call in answer.calls]:
        return new[count:]
    return new
