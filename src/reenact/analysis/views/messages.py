"""The messages of a model call."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from reenact.analysis.views.base import Json, View
from reenact.core import messages as reading
from reenact.core.messages import Message, ToolCall
from reenact.core.query.conversation import Turn
from reenact.core.query.facts import RecordingFacts, StepFacts


class CallView(View):
    """A tool call that a model asks for."""

    name: str
    args: Json
    id: str | None


class MessageView(View):
    """One message of a conversation; an empty part is absent."""

    role: str
    text: str
    calls: tuple[CallView, ...] = ()
    name: str = ""
    id: str = ""
    thinking: str = ""


class UsageView(View):
    """A model call's tokens, as its provider counted them."""

    input: int
    output: int
    cached: int
    written: int
    heard: int
    spoken: int
    heard_cached: int


class EmbeddedView(View):
    """The counts of a call for embeddings."""

    inputs: int
    vectors: int
    dimension: int


class ModelCallView(View):
    """A step as a model call: its new messages, and the number of those sent before."""

    model: str
    new_messages: tuple[MessageView, ...]
    known_messages: int
    answer: MessageView | None
    tokens: UsageView | None
    cost: float | None
    problem: str | None
    embedded: EmbeddedView | None


class PromptChangeView(View):
    """The messages that a prompt has and the one before it had not, and the reverse.

    The answer in between is not new.
    """

    added: tuple[MessageView, ...]
    removed: tuple[MessageView, ...]
    from_step: int


class MessagesView(View):
    """All messages that a model saw in a step, the newest last; `new` is the first new one."""

    items: tuple[MessageView, ...]
    new: int


def call_view(call: ToolCall) -> CallView:
    """Return a tool call."""
    return CallView(name=call.name, args=call.args, id=call.id or None)


def message_view(message: Message) -> MessageView:
    """Return a message."""
    found: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.calls:
        found["calls"] = [call_view(call) for call in message.calls]
    return MessageView(
        **found, **{name: value for name in ("name", "id", "thinking") if (value := getattr(message, name))}
    )


def model_call(turn: Turn) -> ModelCallView:
    """Return a model call, with the messages that are new in it."""
    call = turn.call
    return ModelCallView(
        model=call.model,
        new_messages=tuple(message_view(one) for one in turn.new),
        known_messages=turn.known,
        answer=message_view(call.answer) if call.answer is not None else None,
        tokens=UsageView(**asdict(call.usage)) if call.usage is not None else None,
        cost=reading.cost(call),
        problem=call.problem or None,
        embedded=EmbeddedView(**asdict(call.embedded)) if call.embedded is not None else None,
    )


def messages(turn: Turn) -> MessagesView:
    """Return all messages that a model saw."""
    seen = [message_view(message) for message in turn.call.messages]
    return MessagesView(items=tuple(seen), new=len(seen) - len(turn.new))


def prompt_change(facts: RecordingFacts, step: StepFacts) -> PromptChangeView | None:
    """Return the changes of a model call's prompt from the call before it in its scope.

    The answer to the earlier call does not count as new. None for other steps, and for the first call of its scope.
    """
    call = step.model_call
    before = _before(facts, step) if call is not None else None
    if call is None or before is None or before.model_call is None:
        return None
    old, new = before.model_call.messages, call.messages
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    added = list(new[same:])
    answer = before.model_call.answer
    if answer is not None and added and same == len(old) and _says(added[0], answer):
        del added[0]
    kept = list(old[same:])
    # A message that only moved, since the first ones were left out, is neither added nor removed.
    removed = [message for message in kept if message not in added]
    added = [message for message in added if message not in kept]
    return PromptChangeView(
        added=tuple(message_view(message) for message in added),
        removed=tuple(message_view(message) for message in removed),
        from_step=before.step.number,
    )


def _says(message: Message, answer: Message) -> bool:
    return message.role == "assistant" and message.says(answer)


def _before(facts: RecordingFacts, step: StepFacts) -> StepFacts | None:
    for other in reversed(facts.steps[: step.step.number - 1]):
        if (
            other.call.scope == step.call.scope
            and other.call.kind == step.call.kind
            and other.model_call is not None
        ):
            return other
    return None
