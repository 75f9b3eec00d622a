"""The same customer-service agent as a plain loop over the OpenAI SDK, streaming. It has never heard of Reenact.

    python examples/order_agent/plain.py ["Please cancel my order ORD-5521."]

Which model answers is said by OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import uuid4

from openai import LengthFinishReasonError, OpenAI
from openai.types.chat import ParsedChatCompletionMessage
from orders import cancel_order, lookup_order

INSTRUCTIONS = (
    "You are the polite customer service of a shop. To cancel an order, call cancel_order. "
    "Then tell the customer in one short sentence."
)
QUESTION = "Please cancel my order ORD-5521: I found it cheaper elsewhere."
MOST_QUESTIONS = 6

ORDER_ID = {"type": "string", "pattern": "^ORD-[0-9]{4}$"}
REASON = {"type": "string", "enum": ["cheaper elsewhere", "changed my mind", "too late"]}
TOOLS: dict[str, Callable[..., dict[str, Any]]] = {"lookup_order": lookup_order, "cancel_order": cancel_order}


def schema(name: str, **properties: Any) -> Any:
    """A tool as the API wants it described."""
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    function = {"name": name, "description": TOOLS[name].__doc__, "parameters": parameters, "strict": True}
    return {"type": "function", "function": function}


SCHEMAS = [
    schema("cancel_order", order_id=ORDER_ID, reason=REASON),
    schema("lookup_order", order_id=ORDER_ID),
]


def answer(question: str) -> None:
    """Lets the agent answer, and prints what is said and done on the way."""
    client = OpenAI()
    messages: list[Any] = [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": question},
    ]
    for _ in range(MOST_QUESTIONS):
        message = ask(client, messages)
        if message is None or not message.tool_calls:
            return
        messages.append({"role": "assistant", "tool_calls": [call.to_dict() for call in message.tool_calls]})
        for call in message.tool_calls:
            result = perform(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    print("agent:    (gave up: asked the model too often)")


def ask(client: OpenAI, messages: list[Any]) -> ParsedChatCompletionMessage[None] | None:
    """One answer of the model, whose text is printed as it streams in. None if it was cut off."""
    begun = False
    with client.chat.completions.stream(
        model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"),
        messages=messages,
        tools=SCHEMAS,
        temperature=1,
        top_p=0.9,
        max_tokens=120,
    ) as stream:
        try:
            for event in stream:
                if event.type == "content.delta":
                    print(event.delta if begun else f"agent:    {event.delta}", end="", flush=True)
                    begun = True
            return stream.get_final_completion().choices[0].message
        except LengthFinishReasonError:
            print("agent:    (cut off)" if not begun else " (cut off)", end="")
            return None
        finally:
            if begun:
                print()


def perform(name: str, arguments: str) -> str:
    """A tool's result as text for the model, which is told of its mistakes too."""
    try:
        call = json.loads(arguments)
        print(f"calls:    {name}({', '.join(f'{key}={value!r}' for key, value in call.items())})")
        result: dict[str, Any] = TOOLS[name](**call)
    except (KeyError, TypeError, ValueError) as error:
        result = {"error": f"{type(error).__name__}: {error}"}
    print(f"result:   {result}")
    return json.dumps(result)


def main() -> None:
    question = " ".join(sys.argv[1:]) or QUESTION
    print(f"case {uuid4().hex[:8]}, {datetime.now():%Y-%m-%d %H:%M:%S}")  # noqa: DTZ005 - the shop's wall clock
    print(f"customer: {question}")
    answer(question)


if __name__ == "__main__":
    main()
