"""What the programs' tools ask: a weather service, and one for exchange rates. Neither has heard of Reenact."""

from __future__ import annotations

import json
import os

import httpx

QUESTION = "I travel from Paris to Tokyo. Is it warmer there, and what is a euro worth?"
THEN = "Thanks. And in one word?"

TOOLS = {
    "weather": ("The temperature in a city, in degrees Celsius.", "city"),
    "rate": (
        "How much of a currency one euro buys. The service is busy at times: then ask again.",
        "currency",
    ),
}
"""What a model is told: a description, and the name of the one argument."""


def schema(name):
    """The JSON schema of a tool's arguments."""
    argument = TOOLS[name][1]
    return {
        "type": "object",
        "properties": {argument: {"type": "string"}},
        "required": [argument],
        "additionalProperties": False,
    }


async def weather(city: str) -> dict:
    """The temperature in a city, in degrees Celsius."""
    return await _ask("weather", city=city)


async def rate(currency: str) -> dict:
    """How much of a currency one euro buys. The service is busy at times: then ask again."""
    return await _ask("rate", currency=currency)


async def _ask(name, **query):
    async with httpx.AsyncClient(base_url=os.environ["TRAVEL_URL"]) as client:
        response = await client.get(name, params=query)
    return response.raise_for_status().json()


async def call(name, arguments):
    """A tool's result as text for the model, and so its error."""
    try:
        return json.dumps(await {"weather": weather, "rate": rate}[name](**arguments))
    except httpx.HTTPStatusError as error:
        return f"error: the service said {error.response.status_code}"


def call_sync(name, arguments):
    """The same, for programs that are not async."""
    response = httpx.get(f"{os.environ['TRAVEL_URL']}/{name}", params=arguments)
    return response.text if response.is_success else f"error: the service said {response.status_code}"
