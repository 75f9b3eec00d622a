"""A script that fills a form in a real browser, and an agent that is to finish it, asking a real language model.

    python examples/browser_agent/newsletter.py

Which model answers is said by OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL.
"""

from __future__ import annotations

import os
from urllib.parse import quote

from pydantic_ai.models.openai import OpenAIChatModel

from reenact import Client

TASK = "Click on the button Subscribe: click, id B1. Then completion, success true."
MOST_STEPS = 2
PAGE = """<title>Newsletter</title><h1>Newsletter</h1>
<label>Name <input id=name></label>
<button onclick="said.textContent = document.querySelector('#name').value + ' is subscribed.'">Subscribe</button>
<p id=said>Nobody is subscribed.</p>"""


def main() -> None:
    """Runs both, and prints what the agent did and what the page says of it in the end."""
    # So small a model talks for ever: it is cut off.
    settings = {"temperature": 0.2, "max_tokens": 100}
    model = OpenAIChatModel(os.environ.get("OPENAI_MODEL", "gpt-4o-mini"), settings=settings)
    with Client().Session() as session:
        session.execute(type="goto", url=f"data:text/html,{quote(PAGE)}")
        session.execute(type="fill", selector="#name", value="Ada")
        agent = Client().Agent(session, reasoning_model=model, max_steps=MOST_STEPS, use_vision=False)
        agent.start(TASK)
        for line in agent.watch_logs():
            print(line, flush=True)
        result = agent.wait()
        said = session.execute(type="evaluate_js", code="document.querySelector('#said').textContent").data
        print(f"the agent says: {'done' if result.success else 'not done'}, after {len(result.steps)} steps")
        print(f"the page says:  {said}")


if __name__ == "__main__":
    main()
