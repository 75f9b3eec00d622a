"""OpenAI's realtime API on loopback: a session over a websocket that answers in text, piece by piece, and calls a tool."""

from __future__ import annotations

import json
from secrets import token_hex

from tests.adapters.websockets.server import Server


class Realtime(Server):
    """Speaks the protocol's events; each session and each answer carries a nonce."""

    async def on_v1(self, connection):
        session = {"type": "realtime", "id": f"sess_{token_hex(6)}", "model": "gpt-realtime"}
        await self._tell(connection, "session.created", session=session)
        items = []
        async for message in connection:
            event = json.loads(message)
            if event["type"] == "session.update":
                await self._tell(connection, "session.updated", session=event["session"])
            elif event["type"] == "conversation.item.create":
                items.append(event["item"])
                await self._tell(
                    connection, "conversation.item.added", item=event["item"], previous_item_id=None
                )
            elif event["type"] == "response.create":
                items += await self._answer(connection, items) or ()

    async def _answer(self, connection, items):
        """Tell what comes next; returns what it adds to the conversation."""
        response = {
            "id": f"resp_{token_hex(6)}",
            "object": "realtime.response",
            "status": "in_progress",
            "output": [],
        }
        await self._tell(connection, "response.created", response=response)
        at = {"response_id": response["id"], "item_id": f"item_{token_hex(4)}", "output_index": 0}
        if items[-1]["type"] == "message":
            call = {"call_id": f"call_{token_hex(6)}", "name": "look_up", "arguments": '{"order": 7}'}
            await self._tell(connection, "response.function_call_arguments.done", **at, **call)
        else:
            for word in ("It", "is", token_hex(4)):
                await self._tell(
                    connection, "response.output_text.delta", **at, content_index=0, delta=word + " "
                )
        await self._tell(connection, "response.done", response={**response, "status": "completed"})

    async def _tell(self, connection, kind, **more):
        await connection.send(json.dumps({"type": kind, "event_id": f"event_{token_hex(6)}", **more}))
