"""What is wrong with a page as it looks: to those who hear it, on a narrow screen, and by its own policy."""

from __future__ import annotations

import pytest

from tests.console.conftest import AXE

LOOKS = 3
"""Equal looks in a row, each after a pause, after which a page stands still."""


def still(page, before: str = "1") -> bytes:
    """Return the picture of a page once it stands still; `before` is a script that runs before each look.

    It is for a page of Playwright's blocking kind.
    """
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready")
    seen = []
    while len(seen) < LOOKS or len(set(seen)) > 1:
        page.wait_for_timeout(100)
        page.evaluate(before)
        seen = [*seen[1 - LOOKS :], page.screenshot(animations="disabled")]
    return seen[-1]


async def faults(page):
    """What axe finds, whether it scrolls sideways, and what its policy has stopped."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed here: make console")
    await page.evaluate(AXE.read_text())
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    wrong = [
        f"{one['id']}: {one['nodes'][0]['html'][:200]} {one['nodes'][0]['failureSummary'][:300]}"
        for one in found["violations"]
    ]
    if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        wrong.append("it scrolls sideways")
    return wrong + [str(one) for one in await page.evaluate("window.violations")]
