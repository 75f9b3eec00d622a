"""An agent as browser-use's own guide begins: a task, a model, a browser. Run as a program."""

import asyncio
import os
import sys

from browser_use import Agent, Browser, ChatOpenAI


async def main():
    shop, model = sys.argv[1:3]
    word = os.environ.get("WORD", "price")
    browser = Browser(
        headless=True,
        executable_path=os.environ.get("CHROME", "/usr/bin/chromium"),
        chromium_sandbox=False,
        enable_default_extensions=False,
        args=["--disable-background-networking"],
        viewport={"width": 800, "height": 600},
    )
    agent = Agent(
        task=f"Find the {word} of the valve V7 at {shop}/",
        llm=ChatOpenAI(
            model="gpt-5-mini", base_url=f"{model}/v1", api_key="sk-test-0000000000000000", max_retries=0
        ),
        browser=browser,
    )
    history = await agent.run(max_steps=8)
    print("result:", history.final_result())
    print("errors:", [error for error in history.errors() if error])
    print("actions:", history.action_names())
    print("urls:", [url.replace(shop, "") for url in history.urls()])
    print("tokens:", history.usage.total_tokens, "seconds:", history.total_duration_seconds())
    print("file:", (agent.file_system.get_dir() / "price.md").read_text())
    print("id:", agent.id)


asyncio.run(main())
