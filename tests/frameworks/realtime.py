"""The scripted provider by OpenAI's realtime API: a conversation over one websocket, its answers in text."""

from __future__ import annotations

import asyncio
from secrets import token_hex

from tests.frameworks import provider
from tests.providers import realtime


class Realtime(provider.Provider):
    """Tells the same story; each `response.create` is a request."""

    def __init__(self):
        super().__init__()
        self._socket = _Socket(self)

    @property
    def environ(self):
        """As any provider's; and where its websockets are."""
        return super().environ | {"OPENAI_WEBSOCKET_BASE_URL": f"{self._socket.url}/v1"}

    def stop(self):
        """Answer nobody any more."""
        self._socket.stop()
        super().stop()


class _Socket(realtime.Realtime):
    def __init__(self, owner):
        self.owner = owner
        super().__init__()

    async def _answer(self, connection, items):
        self.owner.asked.append("/v1/realtime")
        text, calls = provider.turn(*provider._Responses.heard({"input": items}))
        response = {"id": f"resp_{token_hex(6)}", "object": "realtime.response", "status": "in_progress"}
        await self._tell(connection, "response.created", response=response | {"output": []})
        output = [provider._Responses._message(text)] if text else []
        output += [provider._Responses._call(f"call_{token_hex(6)}", *call) for call in calls]
        if text:
            self.owner.said.append(text)
            at = {"response_id": response["id"], "item_id": output[0]["id"]}
            for word in provider._words(text):
                await self._tell(
                    connection,
                    "response.output_text.delta",
                    **at,
                    output_index=0,
                    content_index=0,
                    delta=word,
                )
                await asyncio.sleep(0.002)
        usage = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}
        done = response | {"status": "completed", "output": output, "usage": usage}
        await self._tell(connection, "response.done", response=done)
        return output
