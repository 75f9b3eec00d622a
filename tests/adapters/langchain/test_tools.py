"""What tools get and give: arguments, types, errors, interrupts, commands."""

from __future__ import annotations

import asyncio
import random
from datetime import date
from decimal import Decimal
from typing import Annotated

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException, tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode
from langgraph.types import Command, Send
from pydantic import BaseModel

import reenact
from reenact.errors import DivergenceError
from tests.adapters.langchain.chains import chat, faithful, record, replay


class Stay(BaseModel):
    nights: int
    price: Decimal


def _again(program):
    """A program's result, and the recording that gave the same."""
    first, recording = record(program)
    second, verdict = replay(program, recording)
    assert verdict.faithful, verdict
    assert second == first
    return first, recording


def test_what_a_tool_gives_keeps_its_types():
    @tool
    def price(stay: Stay, when: date) -> tuple:
        """Ask."""
        return stay.price * stay.nights + Decimal(str(random.random())), {when}, Stay(nights=1, price=2)

    def program():
        return price.invoke({"stay": {"nights": 2, "price": "9.5"}, "when": "2026-11-21"})

    (total, _, stay), recording = _again(program)
    assert isinstance(total, Decimal)
    assert isinstance(stay, Stay)
    assert recording.step(1).args["stay"] == Stay(nights=2, price=Decimal("9.5"))


def test_what_the_framework_hands_in_is_no_part_of_the_question(provider):
    @tool
    def count(
        city: str, state: Annotated[dict, InjectedState], call: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Count."""
        return f"{city} {len(state['messages'])} {bool(call)} {random.random()}"

    def program():
        agent = create_agent(chat(provider, "caller"), [count])
        return agent.invoke({"messages": [("user", "Count.")]})["messages"]

    _, recording = faithful(program, provider)
    (asked, *_) = [step.args for step in recording if step.call.label == "tool:count"]
    assert asked == {"city": "Bern"}


@pytest.mark.parametrize("handled", [True, False])
def test_a_failing_tool_fails_alike_and_is_handled_by_the_program(handled):
    told = []

    def tell(error):
        told.append(str(error))
        return f"told: {error}"

    def fail(city: str) -> str:
        """Fail."""
        raise ToolException(f"no {city} {random.random()}")

    def program():
        failing = tool(fail)
        failing.handle_tool_error = tell if handled else False
        try:
            return failing.invoke({"name": "fail", "args": {"city": "Bern"}, "id": "1", "type": "tool_call"})
        except ToolException as error:
            return str(error)

    given, recording = _again(program)
    assert recording.step(1).call.status == "error"
    assert [given.status, len(told)] == ["error", 2] if handled else given.startswith("no Bern")


def test_arguments_that_do_not_fit_never_reach_the_tool(provider):
    @tool
    def reserve(nights: int) -> str:
        """Reserve."""
        return "done"

    def program():
        call = {"name": "reserve", "args": {"nights": "many"}, "id": "1"}
        builder = StateGraph(MessagesState)
        builder.add_node("tools", ToolNode([reserve], handle_tool_errors=True))
        builder.set_entry_point("tools")
        return builder.compile().invoke({"messages": [AIMessage("", tool_calls=[call], id="a")]})

    with reenact.record("test") as recording:
        given = program()
    assert given["messages"][-1].status == "error"
    assert not reenact.load(recording.id).steps


def test_a_tool_of_its_own_class_that_calls_another():
    class Sky(BaseTool):
        name: str = "sky"
        description: str = "Look."

        def _run(self, city: str) -> str:
            return f"{city} {random.random()}"

    @tool
    def report(city: str) -> str:
        """Report."""
        return "It is " + Sky().invoke({"city": city})

    _, recording = _again(lambda: (report.invoke({"city": "Bern"}), asyncio.run(Sky().ainvoke("Bern"))))
    assert [(step.call.label, step.call.within) for step in recording] == [
        ("tool:report", None),
        ("tool:sky", 1),
        ("tool:sky", None),
    ]


def test_a_command_comes_back_with_what_it_sends():
    @tool
    def hand_over(call: Annotated[str, InjectedToolCallId]) -> Command:
        """Hand over."""
        message = ToolMessage(f"over {random.random()}", tool_call_id=call)
        send = [Send("other", {"messages": [message]})]
        return Command(graph=Command.PARENT, update={"messages": [message]}, goto=send)

    call = {"name": "hand_over", "args": {}, "id": "1", "type": "tool_call"}
    given, recording = record(lambda: hand_over.invoke(call))
    again, verdict = replay(lambda: hand_over.invoke(call), recording)
    assert verdict.faithful, verdict
    assert again == given
    # LangGraph knows it by identity.
    assert again.graph is Command.PARENT
    assert isinstance(again.goto[0], Send)


def test_a_tool_node_takes_no_departure_for_a_tools_error():
    asked = ["Bern"]

    @tool
    def look(city: str) -> str:
        """Look."""
        return city

    def program():
        call = {"name": "look", "args": {"city": asked[0]}, "id": "1"}
        builder = StateGraph(MessagesState)
        builder.add_node("tools", ToolNode([look], handle_tool_errors=True))
        builder.set_entry_point("tools")
        return builder.compile().invoke({"messages": [AIMessage("", tool_calls=[call], id="a")]})

    _, recording = record(program)
    asked[0] = "Basel"
    with pytest.raises(DivergenceError) as departed:
        replay(program, recording)
    assert [str(found.path) for found in departed.value.divergence.mismatches] == ["args.city"]
