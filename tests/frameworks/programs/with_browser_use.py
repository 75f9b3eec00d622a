r"""A travel agent of browser-use's, which has a browser at hand and actions of its own.

# /// framework
# title = "browser-use"
# package = "browser-use"
# wire = "steps"
# page = "browser-use.md"
# hook = "its models, its registry of actions, and the browser's session"
# model = "model:gpt-4o-mini"
# tool = "tool:{name}"
# edit = 'output.value = "{\"city\": \"Tokyo\", \"degrees\": -40}"'
# provider = "tests.frameworks.browsing:Provider"
# [absent]
# stream = "its models do not stream"
# parallel = "its actions run one at a time"
# state = "keeps no state of its own; `reenact.track` keeps the program's"
# ///
"""

from __future__ import annotations

import asyncio
import json
import os

import travel
from browser_use import Agent, Browser, ChatOpenAI, Tools
from travel import QUESTION, THEN

tools = Tools()


@tools.action("The temperature in a city, in degrees Celsius.")
async def weather(city: str):
    return json.dumps(await travel.weather(city))


@tools.action("How much of a currency one euro buys. The service is busy at times: then ask again.")
async def rate(currency: str):
    return json.dumps(await travel.rate(currency))


async def main():
    browser = Browser(
        headless=True,
        executable_path=os.environ.get("CHROME"),
        chromium_sandbox=False,
        enable_default_extensions=False,
        args=["--disable-background-networking"],
        keep_alive=True,
    )
    agent = Agent(
        task=QUESTION, llm=ChatOpenAI(model="gpt-4o-mini"), browser=browser, tools=tools, use_judge=False
    )
    history = await agent.run(max_steps=12)
    for result in history.action_results():
        print("gave", result.error or result.extracted_content)
    print(history.final_result())

    agent.add_new_task(THEN)
    history = await agent.run(max_steps=12)
    print(history.final_result())
    await browser.kill()


if __name__ == "__main__":
    asyncio.run(main())
