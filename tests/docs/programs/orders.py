"""A program that asks a shop by HTTP; the first order is looked up in vain."""

import httpx

with httpx.Client(base_url="http://shop.example") as shop:
    for order in ("ORD-5512", "ORD-5521"):
        answer = shop.get(f"/orders/{order}")
        print(order, answer.json().get("status", answer.reason_phrase))
    ticket = shop.post("/refunds", json={"order": "ORD-5521", "total": "349.00 EUR"}).json()
    print("paid back under", ticket["ticket"])
