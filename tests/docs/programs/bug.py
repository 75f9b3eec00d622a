"""The lesson's way: a session is recorded, and reproduced with the model recorded and the tools real."""

from pydantic_ai import Agent
from pydantic_ai.models.function import FunctionModel
from support import stand_in

from reenact.lesson import BugReproducer, create_replay_model, record_session


def cancel_order(order_id: str, reason: str) -> dict:
    return {"order_id": order_id, "status": "cancelled", "ticket": "REF-1"}


def mended(order_id: str, reason: str) -> dict:
    return {"order_id": order_id, "status": "not cancelled: shipped"}


def support(tool):
    agent = Agent(FunctionModel(stand_in, model_name="stand-in"), name="support")
    agent.tool_plain(tool, name="cancel_order")
    return agent


output, session = record_session(support(cancel_order), "Cancel my order ORD-5521, wrong item")
session.save("sessions/cancel.json")

bug = BugReproducer("sessions/cancel.json")
for tool in (cancel_order, mended):
    bug.attempt_reproduction(support(tool), create_replay_model(bug.trace))
print(bug.report())
