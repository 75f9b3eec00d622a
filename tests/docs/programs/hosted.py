"""A browser session on a server; SHOP is the address of a shop's page."""

import os

from reenact import Client

client = Client(server=os.environ["REENACT_SERVER"])
with client.Session() as session:
    session.execute(type="goto", url=os.environ["SHOP"])
    session.execute(type="fill", selector="#count", value="2")
    session.execute(type="click", selector="role=button[name='Add to basket']")
    print(session.scrape())
    session.replay().download("session.mp4")
