"""Model providers on loopback, each in its true wire format, every answer with a nonce: for tests of whole programs.

OpenAI's chat and Anthropic's messages are those of `fake_provider`; here come OpenAI's responses and embeddings, and
Gemini. `realtime` is OpenAI's realtime API, over a websocket.
"""

from tests.adapters.pydantic_agents.fake_provider import Provider as _Provider
from tests.providers.more import Handler


class Provider(_Provider):
    """All of them on one port. Runs in a thread from its making until `stop`."""

    def __init__(self):
        super().__init__(Handler)


__all__ = ["Provider"]
