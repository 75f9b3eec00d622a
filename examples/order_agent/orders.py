"""The order book of a small shop, and the two tools with which its customer service works."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import uuid4

from pydantic import Field

OrderId = Annotated[str, Field(pattern="^ORD-[0-9]{4}$")]
Reason = Literal["cheaper elsewhere", "changed my mind", "too late"]


@dataclass
class Order:
    order_id: str
    item: str
    status: Literal["processing", "shipped", "delivered", "cancelled"]
    total: str


ORDERS = {
    order.order_id: order
    for order in (
        Order("ORD-5521", "espresso machine", "shipped", "349.00 EUR"),
        Order("ORD-5522", "coffee grinder", "processing", "89.00 EUR"),
        Order("ORD-5523", "milk jug", "delivered", "19.50 EUR"),
    )
}


def lookup_order(order_id: OrderId) -> dict[str, Any]:
    """Look up an order's item and status."""
    order = ORDERS.get(order_id)
    if order is None:
        return {"error": f"no order {order_id}"}
    return asdict(order) | {"checked_at": datetime.now(UTC).isoformat(timespec="milliseconds")}


def cancel_order(order_id: OrderId, reason: Reason) -> dict[str, Any]:
    """Cancel an order and open a refund ticket."""
    order = ORDERS.get(order_id)
    if order is None:
        return {"error": f"no order {order_id}"}
    order.status = "cancelled"
    return {
        "order_id": order_id,
        "status": order.status,
        "reason": reason,
        "ticket": f"REF-{uuid4().hex[:8]}",
    }
