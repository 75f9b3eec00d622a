"""The suite that every adapter passes, over a real server."""

from __future__ import annotations

from itertools import tee

import mcp_types as types
import pytest
from mcp.client.client import Client

from reenact.testing import AdapterConformance
from tests.adapters.mcp import shop


class TestCalls(AdapterConformance):
    @pytest.fixture(autouse=True)
    def _web(self, web):
        self.web = web

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
        # A version that needs no greeting: one call is one step.
        async with Client(self.web.url, mode="2026-07-28") as client:
            params = types.CallToolRequestParams(name=tool, arguments=arguments)
            result = await client.session.send_request(
                types.CallToolRequest(params=params), types.CallToolResult
            )
            return result.content[0].text
