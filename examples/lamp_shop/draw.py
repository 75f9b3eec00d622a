"""The picture of docs/watch.md: `make pictures` writes docs/watch.png.

Nothing on it is made up: two runs are recorded in a real browser, and the page of both is opened in it.
"""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path

from buy import buy, opened
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from reenact.browser.executable import find
from reenact.browser.watch import write
from reenact.core.store.local import LocalStore

PICTURE = Path(__file__).parents[2] / "docs" / "watch.png"
SIZE = (1440, 900)


def main() -> None:
    """Record, write the page, take its picture."""
    with tempfile.TemporaryDirectory(prefix="reenact-") as home:
        os.environ["REENACT_HOME"] = home
        with opened() as shop:
            folders = [LocalStore().folder(buy(shop, hasty=hasty)) for hasty in (False, True)]
        page = write(folders[0], Path(home, "page.html"), beside=folders[1], frames=True)
        PICTURE.write_bytes(shot(page))
    print(f"wrote {PICTURE} ({PICTURE.stat().st_size:,} bytes)")


def shot(file: Path) -> bytes:
    """The page where the two runs part, as a PNG."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find())
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        page.set_default_timeout(0)
        page.goto(file.as_uri())
        page.locator("body[data-whole]").wait_for()
        page.keyboard.press("g")
        for side in page.locator("canvas[role=img]").all():
            expect(side).not_to_have_attribute("aria-busy", "true", timeout=60_000)
        seen = Image.open(io.BytesIO(still(page)))
        browser.close()
    made = io.BytesIO()
    seen.convert("RGB").save(made, "PNG", optimize=True)
    return made.getvalue()


def still(page: Page) -> bytes:
    """Return the picture of the page once three looks in a row find the same."""
    seen: list[bytes] = []
    while len(seen) < 3 or len(set(seen)) > 1:
        page.wait_for_timeout(100)
        seen = [*seen[-2:], page.screenshot()]
    return seen[-1]


if __name__ == "__main__":
    main()
