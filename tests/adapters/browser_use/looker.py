"""A program that has no agent: it drives the browser by browser-use's own pages. Run as a program."""

import asyncio
import os
import sys

from browser_use import Browser


async def main():
    (shop,) = sys.argv[1:]
    browser = Browser(
        headless=True,
        executable_path=os.environ["CHROME"],
        chromium_sandbox=False,
        enable_default_extensions=False,
    )
    await browser.start()
    page = await browser.new_page()
    await page.goto(f"{shop}/part")
    heading = ""
    while not heading:
        heading = await page.evaluate("() => document.querySelector('h1')?.innerText || ''")
    session = await browser.get_or_create_cdp_session(page._target_id)
    title = await session.cdp_client.send.Runtime.evaluate(
        params={"expression": "document.title"}, session_id=session.session_id
    )
    print(heading, title["result"]["value"], len(await page.screenshot()))
    print([tab.title for tab in await browser.get_tabs()], len(await browser.get_pages()))
    print(await browser.cookies(), await browser.get_current_page_title())
    await browser.stop()


asyncio.run(main())
