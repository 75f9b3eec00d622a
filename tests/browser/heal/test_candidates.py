"""The selectors of a candidate are read again where the page replaces it just then."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from playwright.async_api import Error

from reenact.browser.heal import candidates

LIVE = SimpleNamespace(page=None, mask=lambda _: ())


@pytest.mark.parametrize(("failures", "found"), [(0, {"css": "#go"}), (2, {"css": "#go"}), (3, {})])
def test_an_element_that_is_replaced_is_looked_at_again(monkeypatch, failures, found):
    left = [Error("the element is not attached")] * failures

    async def durable(locator, *, secret):
        if left:
            raise left.pop()
        return {"css": "#go"}

    monkeypatch.setattr(candidates, "durable", durable)
    assert asyncio.run(candidates._selectors(LIVE, None)) == found
