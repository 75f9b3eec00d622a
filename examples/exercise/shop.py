"""The order book of a small shop, and what its customer service can do to it. It cancels what it should not."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import reenact

BOOK = {
    "ORD-5521": {"item": "espresso machine", "status": "shipped", "total": "349.00 EUR"},
    "ORD-5522": {"item": "coffee grinder", "status": "processing", "total": "89.00 EUR"},
}
PAID: list[str] = []


@reenact.tool(kind="shop", writes=False)
def load_order(order_id: str) -> dict[str, str]:
    """What the order book says of an order."""
    return dict(BOOK[order_id])


@reenact.tool(kind="shop", writes=True)
def refund(order_id: str, total: str) -> str:
    """Pays an order's total back, and gives the ticket."""
    BOOK[order_id]["status"] = "cancelled"
    PAID.append(f"{total} for {order_id}")
    return f"REF-{uuid4().hex[:8]}"


def check_eligibility(order_id: str) -> dict[str, Any]:
    """Check whether an order can still be cancelled."""
    return {"order_id": order_id, "eligible": load_order(order_id)["status"] == "processing"}


def cancel_order(order_id: str, reason: str) -> dict[str, Any]:
    """Cancel an order and pay it back."""
    order = load_order(order_id)
    ticket = refund(order_id, order["total"])
    return {"order_id": order_id, "status": "cancelled", "reason": reason, "ticket": ticket}
