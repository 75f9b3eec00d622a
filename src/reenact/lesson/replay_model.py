"""The model behind `create_replay_model`. Imported with Pydantic AI only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any, NoReturn

import orjson
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel

from reenact.core.model.storable import storable
from reenact.core.replay.match import Rules, mismatches
from reenact.core.store.writer import warn
from reenact.errors import Departure, Divergence, DivergenceError, UsageError
from reenact.lesson import messages

_AGAIN = "a replay model serves one run; create_replay_model() makes another"


class ReplayModel(FunctionModel):
    """Answers from a session, strictly in order, and refuses requests that differ.

    Args:
        record: The session's dict.
        ignore: Parts of a request to ignore in the comparison.

    Attributes:
        divergence: The point where the agent left the session, or None.
    """

    def __init__(self, record: dict[str, Any], *, ignore: Iterable[str] = ()) -> None:
        self.divergence: Divergence | None = None
        self._rules = Rules(ignore)
        self._instructions = record["instructions"]
        self._answers: list[ModelResponse] = []
        self._places: list[int] = []
        self._messages = [
            self._replayable(message, place) for place, message in enumerate(record["messages"])
        ]
        self._next = 0
        if not self._answers:
            raise UsageError(
                f"session {storable(str(record['session_id']), 80)!r} holds no answer of a model to replay"
            )
        super().__init__(self._answer, stream_function=self._stream, model_name=record["model"] or "replay")

    @property
    def left(self) -> int:
        """The number of recorded answers that were not requested yet."""
        return len(self._answers) - self._next

    def missing(self) -> Divergence | None:
        """Return the divergence of a run that ended before its session, or None."""
        if self.divergence is not None or not self.left:
            return None
        detail = (
            f"the agent ended without requesting it; {self.left} of {len(self._answers)} answers are left"
        )
        return Divergence(Departure.MISSING, self._address, self._next + 1, detail=detail)

    async def _answer(self, asked: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        found = self._take(asked)
        return ModelResponse(parts=list(found.parts))

    async def _stream(self, asked: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for index, part in enumerate(self._take(asked).parts):
            if isinstance(part, TextPart):
                yield part.content
            elif isinstance(part, ThinkingPart):
                yield {index: DeltaThinkingPart(content=part.content)}
            elif isinstance(part, ToolCallPart):
                args = part.args if isinstance(part.args, str) else orjson.dumps(part.args or {}).decode()
                yield {index: DeltaToolCall(part.tool_name, args, tool_call_id=part.tool_call_id)}

    # -- within ----------------------------------------------------------------------------------------------

    @property
    def _address(self) -> str:
        return f"main/model:{self.model_name}#{self._next}"

    def _take(self, asked: list[ModelMessage]) -> ModelResponse:
        if self.divergence is not None:
            raise DivergenceError(self.divergence)
        given = sum(isinstance(message, ModelResponse) for message in asked)
        if not self._next:
            # The messages of earlier turns are part of the history.
            self._next = min(given, len(self._answers))
        if self._next >= len(self._answers):
            detail = f"the session has {len(self._answers)} answers, and all were given"
            self._depart(Divergence(Departure.EXTRA, self._address, detail=detail, hint=_AGAIN))
        self._compare(asked)
        self._next += 1
        return self._answers[self._next - 1]

    def _compare(self, asked: list[ModelMessage]) -> None:
        recorded = self._messages[: self._places[self._next]]
        told = self._instructions if isinstance(self._instructions, str) else None
        now = getattr(asked[0], "instructions", None) if told is not None and asked else None
        question = messages.comparable(recorded, told)
        actual = messages.as_far_as_known(messages.comparable(messages.of_pydantic(asked), now), question)
        label = f"model:{self.model_name}"
        found = mismatches(label, {"messages": question}, {"messages": actual}, self._rules)
        if found:
            self._depart(Divergence(Departure.CHANGED, self._address, self._next + 1, tuple(found)))

    def _depart(self, divergence: Divergence) -> NoReturn:
        self.divergence = divergence
        raise DivergenceError(divergence)

    def _replayable(self, message: dict[str, Any], place: int) -> dict[str, Any]:
        """Return a message in the form of a replay's history; prepare an answer for replaying."""
        if message.get("type") != messages.RESPONSE:
            return message
        response = ModelResponse(
            parts=[made for part in message["parts"] if (made := _made(part)) is not None]
        )
        self._answers.append(response)
        self._places.append(place)
        return messages.of_pydantic([response])[0]


def _made(part: dict[str, Any]) -> ModelResponsePart | None:
    kind, content = part.get("kind"), part.get("content")
    if kind == "tool-call":
        name, args, id = str(part.get("tool_name") or ""), part.get("args"), part.get("tool_call_id")
        # Without an id, Pydantic AI generates one.
        return ToolCallPart(name, args, tool_call_id=str(id)) if id else ToolCallPart(name, args)
    if kind in ("text", "thinking") and isinstance(content, str):
        return TextPart(content) if kind == "text" else ThinkingPart(content)
    warn(f"the session's {kind} part cannot be replayed, and is left out of the answer")
    return None
