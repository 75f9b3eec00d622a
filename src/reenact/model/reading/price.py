"""What a model call cost, by the price list of `genai-prices` where that is installed."""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any

from reenact.model.reading.call import ModelCall


def cost(call: ModelCall) -> float | None:
    """US dollars, or None where the price or the tokens are not known."""
    usage = call.usage
    if usage is None or not call.model:
        return None
    return _cost(call.model, call.provider, usage.input, usage.output, usage.cached, usage.written)


@lru_cache(4096)
def _cost(model: str, provider: str, given: int, made: int, cached: int, written: int) -> float | None:
    prices = _prices()
    if prices is None:
        return None
    usage = prices.Usage(
        input_tokens=given, output_tokens=made, cache_read_tokens=cached or None, cache_write_tokens=written or None
    )
    # A name such as `openai/gpt-4o` says both; the provider's own word may be one that the list does not know.
    short = model.rpartition("/")[2]
    for reference, whose in ((model, provider), (model, ""), (short, "")):
        try:
            return float(prices.calc_price(usage, model_ref=reference, provider_id=whose or None).total_price)
        except Exception:
            continue
    return None


@lru_cache(1)
def _prices() -> Any:
    try:
        return importlib.import_module("genai_prices")
    except ImportError:
        return None
