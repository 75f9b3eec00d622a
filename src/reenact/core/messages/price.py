"""Compute the cost of a model call, by the price list of `genai-prices`."""

from __future__ import annotations

import importlib
from contextlib import suppress
from functools import lru_cache
from typing import Any

from reenact.core.messages.call import ModelCall, Usage


def cost(call: ModelCall) -> float | None:
    """Return US dollars: the billed cost, else the cost by the price list, else None."""
    if call.billed is not None:
        return call.billed
    usage = call.usage
    if usage is None or not call.model:
        return None
    return _cost(call.model, call.provider, usage)


@lru_cache(4096)
def _cost(model: str, provider: str, used: Usage) -> float | None:
    prices = _prices()
    if prices is None:
        return None
    usage = prices.Usage(
        input_tokens=used.input,
        output_tokens=used.output,
        cache_read_tokens=used.cached or None,
        cache_write_tokens=used.written or None,
        input_audio_tokens=used.heard or None,
        output_audio_tokens=used.spoken or None,
        # It is required for a call with both, even if it is 0.
        cache_audio_read_tokens=used.heard_cached if used.heard and used.cached else None,
    )
    # A name such as `openai/gpt-4o` has both. The call's own word for the provider may not be in the list.
    short = model.rpartition("/")[2]
    for reference, whose in ((model, provider), (model, ""), (short, "")):
        with suppress(Exception):
            return float(prices.calc_price(usage, model_ref=reference, provider_id=whose or None).total_price)
    return None


@lru_cache(1)
def _prices() -> Any:
    try:
        return importlib.import_module("genai_prices")
    except ImportError:
        # This Python has borrowed Reenact from another one.
        return None
