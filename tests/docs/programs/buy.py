"""A browser script with a block that may be mended."""

import os

from reenact import Client

client = Client()
with client.Session(headless=True) as session:
    session.execute(type="goto", url=os.environ["SHOP"])
    with client.AgentFallback(session, task="Put the lamp into the basket", heal="auto") as block:
        session.execute(type="fill", selector="#count", value="2")
        session.execute(type="click", selector="role=button[name='Add to basket']")
    print("success" if block.success else "failure")
