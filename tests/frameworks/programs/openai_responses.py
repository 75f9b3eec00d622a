"""A travel agent on OpenAI's SDK: responses, streamed, with tools in a pool of threads.

# /// framework
# title = "OpenAI SDK, responses"
# package = "openai"
# wire = "responses"
# page = "http.md"
# hook = "HTTP, chunk by chunk"
# model = "http:POST */v1/responses"
# tool = "http:GET */{name}"
# edit = "body.degrees = -40"
# thorough = true
# [absent]
# state = "keeps no state of its own; `reenact.track` keeps the program's"
# ///
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from openai import OpenAI
from travel import QUESTION, THEN, TOOLS, call_sync, schema

MODEL = "gpt-4o-mini"
FUNCTIONS = [
    {"type": "function", "name": name, "description": about, "parameters": schema(name), "strict": True}
    for name, (about, _) in TOOLS.items()
]


def tool(asked):
    output = call_sync(asked.name, json.loads(asked.arguments))
    return {"type": "function_call_output", "call_id": asked.call_id, "output": output}


def answer(client, items):
    """One streamed answer, printed as it comes."""
    for event in client.responses.create(model=MODEL, input=items, tools=FUNCTIONS, stream=True):
        if event.type == "response.output_text.delta":
            print(event.delta, end="|", flush=True)
        elif event.type == "response.completed":
            return event.response
    raise RuntimeError("the stream ended before its answer")


def main():
    items = [{"role": "user", "content": QUESTION}]
    with OpenAI() as client, ThreadPoolExecutor() as pool:
        for _ in range(8):
            response = answer(client, items)
            items += [item.model_dump(exclude_none=True) for item in response.output]
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                break
            results = list(pool.map(tool, calls))
            for asked, found in zip(calls, results, strict=True):
                print(asked.name, "gave", found["output"])
            items += results
        last = client.responses.create(model=MODEL, input=[*items, {"role": "user", "content": THEN}])
        print(f"\n{last.output_text}")


if __name__ == "__main__":
    main()
