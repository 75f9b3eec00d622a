"""A customer-service agent with Pydantic AI. Its model is a script that stands in for a language model.

The language model of `examples/local_model` is too small for this: it calls the tool too, but does not know how to tell
a customer no (docs/exercise.md says how that was tried).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import shop
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

ORDER = "ORD-5521"


def stand_in(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    """What a hasty model would say: cancel at once, check nothing, and report what the tool gave."""
    last = messages[-1].parts[-1]
    if not isinstance(last, ToolReturnPart):
        call = ToolCallPart("cancel_order", {"order_id": ORDER, "reason": "cheaper elsewhere"})
        return ModelResponse(parts=[call])
    match last.content:
        case {"status": "cancelled", "ticket": ticket}:
            said = f"Your order {ORDER} is cancelled; you are paid back under {ticket}."
        case {"status": "not cancelled: shipped"}:
            said = f"I am sorry: {ORDER} is on its way already, and cannot be cancelled any more."
        case {"status": "not cancelled: delivered"}:
            said = f"I am sorry: you have {ORDER} already. You can send it back within 14 days."
        case other:
            said = f"Something went wrong: {other}"
    return ModelResponse(parts=[TextPart(said)])


def serve(question: str, cancel_order: Callable[..., dict[str, Any]] | None = None) -> str:
    """The agent's answer to a customer, with the shop's own tool to cancel or with another."""
    agent = Agent(
        FunctionModel(stand_in, model_name="stand-in"),
        name="support",
        tools=[shop.check_eligibility, cancel_order or shop.cancel_order],
    )
    return agent.run_sync(question).output
