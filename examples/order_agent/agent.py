"""A customer-service agent with Pydantic AI. It has never heard of Reenact.

    python examples/order_agent/agent.py ["Please cancel my order ORD-5521."]

Which model answers is said by OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime
from uuid import uuid4

from orders import cancel_order, lookup_order
from pydantic_ai import Agent, UnexpectedModelBehavior, UsageLimitExceeded, UsageLimits, capture_run_messages
from pydantic_ai.messages import ModelMessage, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.openai import OpenAIChatModel

INSTRUCTIONS = (
    "You are the polite customer service of a shop. To cancel an order, call cancel_order. "
    "Then tell the customer in one short sentence."
)
QUESTION = "Please cancel my order ORD-5521: I found it cheaper elsewhere."


def answer(question: str) -> None:
    """Lets the agent answer, and prints what was said and done on the way."""
    agent = Agent(
        OpenAIChatModel(os.environ.get("OPENAI_MODEL", "gpt-4o-mini")),
        instructions=INSTRUCTIONS,
        tools=[cancel_order, lookup_order],
        model_settings={"temperature": 1.0, "top_p": 0.9, "max_tokens": 120},
    )
    with capture_run_messages() as messages:
        try:
            agent.run_sync(question, usage_limits=UsageLimits(request_limit=6))
        except (UnexpectedModelBehavior, UsageLimitExceeded) as error:
            show(messages)
            print(f"agent:    (gave up: {error})")
        else:
            show(messages)


def show(messages: list[ModelMessage]) -> None:
    for part in (part for message in messages for part in message.parts):
        match part:
            case ToolCallPart():
                arguments = ", ".join(f"{name}={value!r}" for name, value in part.args_as_dict().items())
                print(f"calls:    {part.tool_name}({arguments})")
            case ToolReturnPart():
                print(f"result:   {part.content}")
            case TextPart():
                print(f"agent:    {part.content}")


def main() -> None:
    question = " ".join(sys.argv[1:]) or QUESTION
    print(f"case {uuid4().hex[:8]}, {datetime.now():%Y-%m-%d %H:%M:%S}")  # noqa: DTZ005 - the shop's wall clock
    print(f"customer: {question}")
    answer(question)


if __name__ == "__main__":
    main()
