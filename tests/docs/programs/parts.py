"""An agent of browser-use in a shop for spare parts; SHOP is its address, BROWSER an installed Chromium."""

import asyncio
import os

from browser_use import Agent, Browser, ChatOpenAI


async def main():
    browser = Browser(
        headless=True,
        executable_path=os.environ["BROWSER"],
        chromium_sandbox=False,
        enable_default_extensions=False,
        viewport={"width": 800, "height": 600},
    )
    task = f"Find the price of the valve V7 at {os.environ['SHOP']}/"
    history = await Agent(task=task, llm=ChatOpenAI(model="gpt-5-mini"), browser=browser).run(max_steps=5)
    print(history.final_result())


asyncio.run(main())
