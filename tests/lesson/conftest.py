"""An agent that cancels orders, on a model that this file writes."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

ASKED = "Cancel my order ORD-5521, wrong item"
SAID = "I've cancelled order ORD-5521 for you."


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _tidy(tidy):
    pass


async def _model(messages, info):
    turn = sum(isinstance(message, ModelResponse) for message in messages)
    if turn == 0:
        return ModelResponse(
            [ToolCallPart("lookup_order", '{"order_id": "ORD-5521"}', tool_call_id="call_1")]
        )
    if turn == 1:
        args = {"order_id": "ORD-5521", "reason": "wrong item"}
        return ModelResponse([ToolCallPart("cancel_order", args, tool_call_id="call_2")])
    return ModelResponse([TextPart(SAID)])


class Shop:
    """The agent's world: what its tools were asked, and what they say."""

    def __init__(self):
        self.asked = []
        self.status = "shipped"

    def agent(self, model=None, instructions="You help customers with their orders."):
        agent = Agent(
            FunctionModel(_model, model_name="gpt-4o") if model is None else model,
            instructions=instructions, name="orders",
        )  # fmt: skip

        @agent.tool_plain
        def lookup_order(order_id: str) -> str:
            self.asked.append(("lookup_order", order_id))
            return f"Order {order_id}: 2x Widget Pro, status: {self.status}"

        @agent.tool_plain
        def cancel_order(order_id: str, reason: str) -> dict[str, str]:
            self.asked.append(("cancel_order", order_id, reason))
            return {"order": order_id, "status": "cancelled", "reason": reason}

        return agent


@pytest.fixture
def shop():
    return Shop()
