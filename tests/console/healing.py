"""A script whose page changes: it is run before and after, in a real browser, so that there are real heals to show."""

from __future__ import annotations

import runpy

import pytest

from reenact.browser.page import consequence

SCRIPT = """\
from reenact import Client

client = Client()


def buy(page):
    with client.Session(name="tea shop") as session:
        session.execute(type="goto", url=page)
        with client.AgentFallback(session, task="Buy tea", heal="auto"):
            session.execute(type="click", selector="#voucher", timeout=700)
            session.execute(type="fill", selector="#name", value="Ada")
            session.execute(type="click", selector="#buy", timeout=1500)  # the green one
"""
PAGE = """
<title>Tea</title>
<h1>Tea shop</h1><form onsubmit="return false"><label>Your name <input id=name></label>
<button id=BUY type=button onclick="out.textContent = 'sold to ' + document.getElementById('name').value">Buy tea</button>
<button type=button>Cancel</button><button id=voucher type=button onclick="this.textContent = 'Voucher taken'">Voucher</button></form><output id=out></output>
"""
BANNER = """
<div id=cookies style="position:fixed;inset:0;background:#fffd"><h2>We use cookies</h2>
<button onclick="cookies.remove()">Reject all</button><button>Accept all</button></div>
"""


def heal(folder):
    """Run the script on its old page and twice on the new one; gives the script. REENACT_HOME is where it records."""
    page, script = folder / "page.html", folder / "shop.py"
    script.write_text(SCRIPT)
    with pytest.MonkeyPatch.context() as patch:
        # On a busy machine a page takes longer to say what it shows; without that nothing can be verified.
        patch.setattr(consequence, "PATIENCE", 20)
        for button, banner in (("buy", ""), ("buy-17", BANNER), ("buy-17", "")):
            page.write_text(PAGE.replace("BUY", button) + banner)
            runpy.run_path(str(script))["buy"](page.as_uri())
    return script
