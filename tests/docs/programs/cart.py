"""An agent with state besides its calls: a cart."""

import reenact

cart = reenact.track("cart", {"items": [], "total": 0}, every=1)
PRICES = {"lamp": 40, "desk": 180, "chair": 95}


@reenact.tool
def price(article: str) -> int:
    return PRICES[article]


if __name__ == "__main__":
    for article in ("desk", "lamp", "chair"):
        cart["total"] += price(article)
        cart["items"].append(article)
    print(cart)
