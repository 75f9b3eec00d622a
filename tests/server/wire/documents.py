"""The examples of the source documents as programs have them, run by `notte-sdk` as it comes from the package index.

Run by test_documents.py: `documents.py PAGES MODEL`, the addresses of the pages and of the model that is scripted. What
came of each example is printed as one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from pathlib import Path

from notte_sdk import NotteClient, actions
from pydantic import BaseModel

PAGES, MODEL = sys.argv[1:]
told: dict[str, object] = {}


def script(*answers: object) -> None:
    """What the model says next."""
    request = urllib.request.Request(f"{MODEL}/script", json.dumps(answers).encode())
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).close()


def click(text: str) -> dict[str, object]:
    """Click on what is called so."""
    return {"type": "click", "id": {"element": ["button", text]}}


class Order(BaseModel):
    """What is read from a page."""

    what: str
    pieces: int


client = NotteClient()
client.health_check()

# A session by hand
session = client.Session(max_duration_minutes=5, viewport_width=1000, viewport_height=700)
session.start()
told["started"] = session.status().model_dump(mode="json")
told["listed"] = [one.session_id for one in client.sessions.list()]

# Actions, of each kind
session.execute(type="goto", url=f"{PAGES}/form.html")
seen = session.observe()
told["seen"] = {
    "title": seen.metadata.title,
    "picture": seen.screenshot.bytes()[:2].hex(),
    "description": seen.space.description,
    "actions": {action.id: action.type for action in seen.space.interaction_actions},
    "first": seen.space.first().type,
}
ids = {action.text_label: action.id for action in seen.space.interaction_actions}
told["done"] = [
    session.execute(type="fill", id=ids["Full name"], value="Ada").message,
    session.execute(type="fill", selector="css=#email", value="ada@example.com").message,
    session.execute(type="fallback_fill", selector="#note", value="ring once").message,
    session.execute(type="select_dropdown_option", selector="#colour", value="Green").message,
    session.execute(type="check", selector="xpath=//input[@id='gift']", value=True).message,
    session.execute(type="press_key", key="End").message,
    session.execute(type="scroll_down", amount=50).message,
    session.execute(type="scroll_up").message,
    session.execute(type="wait", time_ms=10).message,
    session.execute(actions.Click(selector="~Place order")).message,
    session.execute(type="go_back").message,
    session.execute(type="go_forward").message,
    session.execute(type="reload").message,
    session.execute(type="form_fill", value={"email": "bea@example.com"}, raise_on_failure=False).success,
    session.execute(type="goto_new_tab", url=f"{PAGES}/article.html").message,
    session.execute(type="switch_tab", tab_index=0).message,
    session.execute(type="close_tab").message,
    session.execute(type="help", reason="lost").message,
    session.execute(type="completion", success=True, answer="all").message,
]
told["evaluated"] = [session.evaluate_js("document.title"), session.evaluate_js("({a: [1, null]})")]
told["offset"] = session.offset()
told["fetched"] = session.fetch("/done.html").status_code

# What fails
try:
    session.execute(type="click", selector="#nowhere", timeout=200)
except Exception as error:
    told["raised"] = [type(error).__name__, str(error)]
failed = session.execute(type="click", selector="#nowhere", timeout=200, raise_on_failure=False)
told["failed"] = [failed.success, failed.message]
try:
    session.execute(selector="#nowhere")
except ValueError as error:
    told["no type"] = str(error)

# Reading
told["markdown"] = session.scrape(only_main_content=False)
script("three of them")
told["instructed"] = session.scrape(instructions="How many?")
script({"what": "tea", "pieces": 3})
told["structured"] = session.scrape(response_format=Order, instructions="What is ordered?").model_dump()

# Secrets, cookies
session.execute(type="goto", url=f"{PAGES}/secrets.html")
secret = session.execute(type="fill", selector="input[type=password] >> nth=0", value="Sup3r-secret-9")
told["secret"] = secret.action.value
session.set_cookies(
    cookies=[{"name": "c", "value": "v", "domain": "shop.example", "path": "/", "httpOnly": True}]
)
told["cookies"] = [(one["name"], one["value"], one["httpOnly"]) for one in session.get_cookies()]

# Files
Path("note.txt").write_text("twelve bytes", encoding="utf-8")
session.storage.upload("note.txt")
session.execute(type="goto", url=f"{PAGES}/upload.html")
session.execute(type="upload_file", selector="#one", file_path="note.txt")
told["uploaded"] = session.evaluate_js("said.textContent")
session.execute(type="goto", url=f"{PAGES}/downloads.html")
session.execute(type="download_file", selector="#file")
files = session.storage.list().files
told["files"] = [(one.filename, one.source, one.size) for one in files]
told["downloaded"] = Path(session.storage.download(files[-1].id, "here")).read_text(encoding="utf-8")

# An agent: run, then started, watched and stopped
session.execute(type="goto", url=f"{PAGES}/form.html")
script(
    {"type": "fill", "id": {"element": ["textbox", "Full name"]}, "value": "Cy"},
    click("Place order"),
    {"type": "completion", "success": True, "answer": "ordered"},
)
agent = client.Agent(session=session, max_steps=5)
result = agent.run(task="Order something")
told["ran"] = {
    "success": result.success,
    "answer": result.answer,
    "steps": [
        (step["type"], step["action"]["type"], step["success"], step["message"]) for step in result.steps
    ],
    "reasoning": result.steps[0].get("reasoning"),
    "url": result.steps[1].get("url"),
}
told["waited"] = agent.wait().answer
code = agent.workflow.code()
told["code"] = [code.python_script, [one["type"] for one in code.json_actions]]

script({"type": "wait", "time_ms": 50})
agent = client.Agent(session=session, max_steps=100)
agent.start(task="Wait for me")
while not (status := agent.status()).steps:
    time.sleep(0.05)
agent.stop()
last = agent.status()
told["stopped"] = [status.status, last.status, last.success, last.answer]

# A script that breaks, and is finished by an agent
session.execute(type="goto", url=f"{PAGES}/form.html")
script(click("Place order"), {"type": "completion", "success": True, "answer": "mended"})
with client.AgentFallback(session, task="Place the order", max_steps=4) as fallback:
    session.execute(type="fill", selector="#name", value="Dee")
    session.execute(type="click", selector="#old-order", timeout=200)
    skipped = session.execute(type="click", selector="#bare")
told["fallback"] = {
    "success": fallback.success,
    "agent_invoked": fallback.agent_invoked,
    "steps": [step.success for step in fallback.steps],
    "skipped": skipped.message,
    "answer": fallback.agent_response.answer if fallback.agent_response else None,
    "title": session.evaluate_js("document.title"),
}

# The video, while it goes on and afterwards
told["video"] = session.replay().download("during.mp4").stat().st_size
told["cdp"] = session.cdp_url()
session.stop()
told["ended"] = session.status().model_dump(mode="json")
told["later"] = client.Session(session.session_id).replay().download("after.mp4").stat().st_size
try:
    session.execute(type="reload")
except Exception as error:
    told["too late"] = str(error)

# One page, in a session of its own: `with client.Session()` is within
told["page"] = client.scrape(f"{PAGES}/article.html")

print(json.dumps(told, default=str))
