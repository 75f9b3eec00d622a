"""Model calls of any other library: as a chat in OpenAI's form, else as any text."""

from __future__ import annotations

from reenact.core.messages import openai
from reenact.core.messages.call import EffectView, Message, ModelCall
from reenact.core.messages.message_text import content, counted


def read(asked: EffectView) -> ModelCall | None:
    """Read an effect of kind `model` that no other reader knows."""
    if asked.kind != "model":
        return None
    args, value = asked.args, asked.value
    name = str(args.get("model") or asked.name)
    if isinstance(value, dict) and ("choices" in value or "error" in value):
        return openai.read_chat({"model": name, **args}, value, [], asked.memory)
    messages = openai.chat_messages(args.get("messages"), asked.memory)
    if not messages:
        given = (
            args.get("prompt") or args.get("question") or args.get("input") or next(iter(args.values()), None)
        )
        messages = (Message("user", content(given)),) if given is not None else ()
    if asked.stream:
        answer: Message | None = Message(
            "assistant", asked.body.decode(errors="replace") or content(asked.chunks)
        )
    elif isinstance(value, dict) and ("role" in value or "tool_calls" in value):
        answer = openai.chat_message(value)
    else:
        answer = Message("assistant", content(value)) if value is not None else None
    usage = counted(value.get("usage")) if isinstance(value, dict) else None
    return ModelCall(name, messages, answer, usage, streamed=asked.stream)
