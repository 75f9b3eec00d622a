"""Clicks with the reasons of their failures; SHOP is the address of a shop's page."""

import os

from reenact import Client

client = Client(raise_on_failure=False)
with client.Session(headless=True) as session:
    session.execute(type="goto", url=os.environ["SHOP"])
    print(session.observe().space.description)
    for selector in ("~Log in", "#buy", "role=button[name='Accept all']", "#buy"):
        result = session.execute(type="click", selector=selector, timeout=1000)
        print(f"\n{selector}\n  {result.message}")
