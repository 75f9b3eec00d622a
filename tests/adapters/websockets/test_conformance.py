"""The conformance suite: opening a connection is an effect like any other, and so is a message in fragments."""

from __future__ import annotations

import pytest
from websockets.asyncio.client import connect

from reenact.testing import AdapterConformance
from tests.adapters.websockets.server import Server, connect_directly


class _Suite(AdapterConformance):
    label = "websocket:connect *"

    @pytest.fixture(autouse=True)
    def _served(self):
        self.server = Server()
        yield
        self.server.stop()

    def touched(self):
        return self.server.opened

    def sent(self):
        return self.server.sent


class TestAsyncio(_Suite):
    async def call(self, question):
        connection = await connect(f"{self.server.url}/{question}")
        connection.transport.abort()
        return connection.response.headers["X-Number"]

    async def fail(self, question):
        await connect(f"{self.server.url}/bad")

    async def stream(self, question):
        connection = await connect(f"{self.server.url}/pieces")
        try:
            async for piece in connection.recv_streaming():
                yield piece
        finally:
            connection.transport.abort()

    async def slow(self, question):
        await connect(f"{self.server.url}/slow")


class TestThreads(_Suite):
    def call(self, question):
        connection = connect_directly(f"{self.server.url}/{question}")
        connection.close_socket()
        return connection.response.headers["X-Number"]

    def fail(self, question):
        connect_directly(f"{self.server.url}/bad")

    def stream(self, question):
        connection = connect_directly(f"{self.server.url}/pieces")
        try:
            yield from connection.recv_streaming()
        finally:
            connection.close_socket()
