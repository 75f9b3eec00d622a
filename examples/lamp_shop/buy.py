"""An agent buys a lamp in a small shop, in a real browser; its model's answers are written down below.

`python buy.py` accepts the dialog that covers the checkout; `python buy.py --hasty` does not see it, and fails.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from reenact import Client

PAGES = Path(__file__).parent / "pages"
TASK = "Buy the brass desk lamp for ada@example.com, and tell me the order's number."

Plan = list[tuple[str, dict[str, Any]]]


class Shop(SimpleHTTPRequestHandler):
    """The shop: files, and two addresses that take a form."""

    def do_POST(self) -> None:
        """Take the basket, or the payment."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"ok": true}')

    def log_message(self, *_: Any) -> None:
        """Nothing: the terminal is the program's."""


@contextmanager
def opened() -> Iterator[str]:
    """The shop on this machine; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Shop, directory=str(PAGES)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def plan(*, hasty: bool) -> Plan:
    """What the model thinks and does, step by step; elements by role and name, as the page shows them."""
    steps: Plan = [
        ("The brass desk lamp is in the list. I open it.", {"type": "click", "id": "link Brass desk lamp"}),
        ("It is the right one: into the basket.", {"type": "click", "id": "button Add to basket"}),
        ("Now to the checkout.", {"type": "click", "id": "link To the checkout"}),
        (
            "It asks for an e-mail address.",
            {"type": "fill", "id": "textbox E-mail", "value": "ada@example.com"},
        ),
        ("And for a password.", {"type": "fill", "id": "textbox Password", "value": "correct horse"}),
    ]
    if not hasty:
        covered = "A dialog about privacy covers the page. I accept it."
        steps.append((covered, {"type": "click", "id": "button Accept all"}))
    steps.append(("Now I can pay.", {"type": "click", "id": "button Pay now", "timeout": 2000}))
    answer = "I could not pay." if hasty else "The order is 100417."
    return [*steps, (answer, {"type": "completion", "success": not hasty, "answer": answer})]


def model(steps: Plan) -> FunctionModel:
    """A model that answers by that plan."""
    left = iter(steps)

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        thought, action = next(left)
        if "id" in action:
            action = {**action, "id": named(shown(messages), action["id"])}
        decision = json.dumps({"reasoning": thought, **action})
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, decision)])

    return FunctionModel(answer, model_name="scripted")


def shown(messages: list[ModelMessage]) -> str:
    """What the model was told last: the page as it is now is in it."""
    return "\n".join(str(part.content) for part in messages[-1].parts if isinstance(part, UserPromptPart))


def named(page: str, element: str) -> str:
    """The id that an element has in the page as the model is shown it."""
    role, _, name = element.partition(" ")
    found = re.search(rf'{role} "{re.escape(name)}".*?\[([A-Z]\d+)\]', page)
    if found is None:
        raise LookupError(f"the page shows no {element}")
    return found[1]


def buy(shop: str, *, hasty: bool = False) -> str:
    """Buy the lamp in the shop at that address; returns the session's id."""
    client = Client(raise_on_failure=False)
    with client.Session(headless=True, name="hasty" if hasty else "careful") as session:
        session.execute(type="goto", url=f"{shop}/shop.html")
        session.execute(type="fill", selector="#q", value="lamp")
        agent = client.Agent(session, reasoning_model=model(plan(hasty=hasty)), use_vision=False)
        print(agent.run(TASK).answer)
        return session.id


if __name__ == "__main__":
    with opened() as shop:
        print(f"reenact watch {buy(shop, hasty='--hasty' in sys.argv[1:])}")
