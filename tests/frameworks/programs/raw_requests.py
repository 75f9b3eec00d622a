"""A travel agent without any SDK: chat completions over requests, with tools in a pool of threads.

# /// framework
# title = "requests"
# package = "requests"
# wire = "chat"
# page = "http.md"
# hook = "HTTP, chunk by chunk"
# model = "http:POST */v1/chat/completions"
# tool = "http:GET */{name}"
# edit = "body.degrees = -40"
# thorough = true
# [absent]
# state = "keeps no state of its own; `reenact.track` keeps the program's"
# ///
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import requests
from travel import QUESTION, THEN, TOOLS, schema

MODEL = "gpt-4o-mini"
URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
FUNCTIONS = [
    {"type": "function", "function": {"name": name, "description": about, "parameters": schema(name)}}
    for name, (about, _) in TOOLS.items()
]
SESSION = requests.Session()
SESSION.headers["authorization"] = f"Bearer {os.environ['OPENAI_API_KEY']}"


def tool(asked):
    function = asked["function"]
    url = f"{os.environ['TRAVEL_URL']}/{function['name']}"
    found = requests.get(url, params=json.loads(function["arguments"]), timeout=30)
    result = found.text if found.ok else f"error: the service said {found.status_code}"
    return {"role": "tool", "tool_call_id": asked["id"], "content": result}


def answer(messages):
    """One streamed answer, printed as it comes."""
    text, calls = "", []
    asked = {"model": MODEL, "messages": messages, "tools": FUNCTIONS, "max_tokens": 200, "stream": True}
    with SESSION.post(URL, json=asked, stream=True, timeout=60) as response:
        response.raise_for_status()
        for line in response.iter_lines(chunk_size=None):
            if line.startswith(b"data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    text += take(choice["delta"], calls)
    return {"role": "assistant", "content": text or None} | ({"tool_calls": calls} if calls else {})


def take(delta, calls):
    """Print a delta's text, and add its calls to those before."""
    for more in delta.get("tool_calls") or ():
        if "id" in more:
            calls.append({"id": more["id"], "type": "function", "function": dict(more["function"])})
        else:
            calls[-1]["function"]["arguments"] += more["function"]["arguments"]
    if piece := delta.get("content") or "":
        print(piece, end="|", flush=True)
    return piece


def main():
    messages = [{"role": "user", "content": QUESTION}]
    with ThreadPoolExecutor() as pool:
        for _ in range(8):
            message = answer(messages)
            messages.append(message)
            if "tool_calls" not in message:
                break
            results = list(pool.map(tool, message["tool_calls"]))
            for found in results:
                print("a tool gave", found["content"])
            messages += results
    messages.append({"role": "user", "content": THEN})
    last = SESSION.post(URL, json={"model": MODEL, "messages": messages, "max_tokens": 50}, timeout=60)
    last.raise_for_status()
    print(f"\n{last.json()['choices'][0]['message']['content']}")


if __name__ == "__main__":
    main()
