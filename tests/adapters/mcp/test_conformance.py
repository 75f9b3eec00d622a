"""The suite that every adapter passes, over a real server."""

from __future__ import annotations

from itertools import tee

import pytest

from reenact.testing import AdapterConformance
from tests.adapters.mcp import shop
from tests.adapters.mcp.sdk import WARNINGS, once, request, types

pytestmark = pytest.mark.filterwarnings(*WARNINGS)


class TestCalls(AdapterConformance):
    @pytest.fixture(autouse=True)
    def _web(self, unmet):
        self.web = unmet

    def touched(self):
        shop.COUNT, copy = tee(shop.COUNT)
        return next(copy)

    async def call(self, question):
        return await self.ask("lookup", order=question)

    async def fail(self, question):
        return await self.ask("refuse", question=question)

    async def slow(self, question):
        return await self.ask("never", question=question)

    async def ask(self, tool, **arguments):
        # Without a greeting, one call is one step.
        async with once(self.web.url) as client:
            result = await client.session.send_request(request(tool, arguments), types.CallToolResult)
            return result.content[0].text
