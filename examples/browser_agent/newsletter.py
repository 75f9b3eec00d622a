"""A script that fills a form in a real browser, and an agent that is to finish it, asking a real language model.

    python examples/browser_agent/newsletter.py

Which model answers is said by OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

from pydantic_ai import JsonSchemaTransformer
from pydantic_ai.models.openai import OpenAIChatModel

from reenact import Client

TASK = "Click on the button Subscribe: click, id B1. Then completion, success true."
MOST_STEPS = 3
PAGE = """<title>Newsletter</title><h1>Newsletter</h1>
<label>Name <input id=name></label>
<button onclick="said.textContent = document.querySelector('#name').value + ' is subscribed.'">Subscribe</button>
<p id=said>Nobody is subscribed.</p>"""


class Narrow(JsonSchemaTransformer):
    """What a model is held to, cut down to what this page needs: so small a one would choose at random among all the
    actions there are, and write for ever. A real one needs no such help.
    """

    def transform(self, schema: dict[str, Any]) -> dict[str, Any]:
        """One part of the schema; the whole comes last."""
        fields = schema.get("properties", {})
        if "reasoning" not in fields:
            return schema
        text = {"type": "string", "maxLength": 40}
        fields = {
            "type": {"type": "string", "enum": ["click", "completion"]},
            "id": {"type": "string", "enum": ["B1", "I1"]},
            "success": {"type": "boolean"},
            "answer": text,
        }
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }


def main() -> None:
    """Runs both, and prints what the agent did and what the page says of it in the end."""
    name = os.environ.get("OPENAI_MODEL", "gpt-4o-mini")
    profile: Any = {"json_schema_transformer": Narrow} if name.startswith("SmolLM2") else None
    model = OpenAIChatModel(name, settings={"temperature": 0.2, "max_tokens": 100}, profile=profile)
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
