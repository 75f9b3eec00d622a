"""What is wrong with a page as it looks: to those who hear it, on a narrow screen, and by its own policy."""

from __future__ import annotations

import pytest

from tests.console.conftest import AXE


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
