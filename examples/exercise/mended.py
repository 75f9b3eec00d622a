"""The tool that cancels, mended: it looks whether it may before it pays."""

from __future__ import annotations

from typing import Any

from shop import load_order, refund


def cancel_order(order_id: str, reason: str) -> dict[str, Any]:
    """Cancel an order and pay it back."""
    order = load_order(order_id)
    if order["status"] != "processing":
        return {"order_id": order_id, "status": f"not cancelled: {order['status']}"}
    ticket = refund(order_id, order["total"])
    return {"order_id": order_id, "status": "cancelled", "reason": reason, "ticket": ticket}
