"""The WebSocket that connects other programs to a session's hosted browser."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from reenact.errors import ReenactError
from reenact.server.guard import PROTOCOL
from reenact.server.wire.hosted import Hosting

_REFUSED = 1008

router = APIRouter()


@router.websocket(PROTOCOL + "/{id}/{key}")
async def speak(socket: WebSocket, id: str, key: str) -> None:
    """Pass messages on in both directions until one side ends."""
    hosting: Hosting | None = getattr(socket.app.state, "hosting", None)
    try:
        if hosting is None:
            raise ReenactError("there is no session here")
        driver = hosting.by_key(id, key).live().core.driver
        live = driver.live
        address = None if live is None else await asyncio.to_thread(driver.call(live.address).block)
    except ReenactError:
        address = None
    if address is None:
        await socket.close(_REFUSED)
        return
    await socket.accept()
    async with connect(address, max_size=None, compression=None, ping_interval=None, proxy=None) as browser:
        both = {asyncio.create_task(_to(browser, socket)), asyncio.create_task(_from(browser, socket))}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in both:
                one.cancel()
            await asyncio.gather(*both, return_exceptions=True)


async def _to(browser: ClientConnection, socket: WebSocket) -> None:
    try:
        while True:
            await browser.send(await socket.receive_text())
    except (WebSocketDisconnect, ConnectionClosed, KeyError):
        return


async def _from(browser: ClientConnection, socket: WebSocket) -> None:
    try:
        async for text in browser:
            await socket.send_text(str(text))
        await socket.close()
    except (WebSocketDisconnect, ConnectionClosed, RuntimeError):
        return
