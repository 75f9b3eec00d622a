"""The picture of docs/console.md: `make pictures` writes docs/console.png, of the run that the tests look at."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import reenact
from reenact.browser.executable import find
from tests.console import runs
from tests.console.conftest import serving
from tests.console.looking import still

PICTURE = Path(__file__).parents[2] / "docs" / "console.png"
SIZE = {"width": 1280, "height": 760}


def main() -> None:
    """Record, serve, take the picture."""
    with tempfile.TemporaryDirectory(prefix="reenact-") as folder:
        with reenact.record("support", home=folder, tags=["staging"]) as recording:
            runs.support()
        with serving(Path(folder), keyless=True) as site, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find())
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(0)
            page.goto(f"{site}/r/{recording.id}/7")
            page.get_by_text("since step 5").wait_for()
            seen = Image.open(io.BytesIO(still(page)))
            browser.close()
    seen.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(PICTURE, "PNG", optimize=True)
    print(f"wrote {PICTURE} ({PICTURE.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
