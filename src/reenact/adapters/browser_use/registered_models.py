"""The models that an agent registers with its token counter, in browser-use's interface.

The class's `ainvoke` is wrapped, below the counter, so that a replay counts the same tokens.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from typing import Any

from reenact.adapters.browser_use import picture
from reenact.adapters.hooks import patch
from reenact.adapters.scopes import listening
from reenact.core.boundary import aperform
from reenact.core.model.event import Effect

_COUNTER = "browser_use.tokens.service"

_UNASKED = {"session_id"}
"""Options of a request that differ in every run and reach no model."""

_SECRET = ("key", "token", "secret", "password", "header", "account", "url", "host")
"""Parts of the names of settings that are no part of a question: keys, accounts, hosts."""

counters: dict[int, Any] = {}
"""The counter that registered a model last, by the model's id."""


def hooked_register(original: Any) -> Any:
    """`TokenCost.register_llm`, which gets each model of an agent before its first request."""

    def register_llm(self: Any, llm: Any) -> Any:
        _learn(llm)
        counters[id(llm)] = self
        return original(self, llm)

    return register_llm


def _learn(llm: Any) -> None:
    own = getattr(llm, "__dict__", {}).get("ainvoke")
    if own is not None:
        # The stand-in of a test. The counter's wraps a method that is hooked already.
        if getattr(own, "__module__", "") != _COUNTER and not getattr(own, "_reenact", False):
            wrapped = functools.wraps(own)(_bound(own, llm))
            wrapped._reenact = True  # type: ignore[attr-defined]
            object.__setattr__(llm, "ainvoke", wrapped)
        return
    owner = next((kind for kind in type(llm).__mro__ if "ainvoke" in vars(kind)), None)
    if owner is not None:
        patch(owner, "ainvoke", _hooked, library=f"{owner.__module__}.{owner.__qualname__}")


def _hooked(original: Any) -> Any:
    async def ainvoke(self: Any, messages: Any, output_format: Any = None, **options: Any) -> Any:
        return await _asked(original, self, messages, output_format, options)

    return ainvoke


def _bound(original: Any, llm: Any) -> Any:
    async def ainvoke(messages: Any, output_format: Any = None, **options: Any) -> Any:
        async def ask(_: Any, *args: Any, **more: Any) -> Any:
            return await original(*args, **more)

        return await _asked(ask, llm, messages, output_format, options)

    return ainvoke


async def _asked(original: Any, llm: Any, messages: Any, output_format: Any, options: dict[str, Any]) -> Any:
    if (scope := listening()) is None:
        return await original(llm, messages, output_format, **options)
    other = scope.run.model

    async def live() -> Any:
        return await original(
            llm if other is None else _another(llm, other), messages, output_format, **options
        )

    effect = Effect("model", str(llm.model), _question(llm, messages, output_format, options), leaf=True)
    return await aperform(effect, live, _Answer(output_format))


def _another(llm: Any, name: str) -> Any:
    """Return the same provider's model of another name."""
    other = copy.copy(llm)
    getattr(other, "__dict__", {}).pop("ainvoke", None)
    object.__setattr__(other, "model", name)
    return other


# -- what is asked -----------------------------------------------------------------------------------------------


def _question(llm: Any, messages: Any, output_format: Any, options: dict[str, Any]) -> dict[str, Any]:
    args: dict[str, Any] = {"provider": str(llm.provider), "settings": _settings(llm)}
    args["settings"] |= {name: value for name, value in options.items() if name not in _UNASKED}
    args["output"] = None if output_format is None else _shape(output_format)
    args["messages"] = [_message(message) for message in messages]
    return args


def _settings(llm: Any) -> dict[str, Any]:
    """Return the settings of a model object on which the answer may depend."""
    if not dataclasses.is_dataclass(llm):
        return {}
    return {
        field.name: value
        for field in dataclasses.fields(llm)
        if field.name != "model"
        and not any(word in field.name for word in _SECRET)
        and isinstance(value := getattr(llm, field.name), (str, int, float))
    }


def _shape(output_format: Any) -> Any:
    return {"name": output_format.__name__, "schema": output_format.model_json_schema()}


def _message(message: Any) -> dict[str, Any]:
    tree: dict[str, Any] = message.model_dump(exclude_defaults=True)
    tree = {"role": message.role, **tree}
    tree.pop("cache", None)  # A hint to the provider, about its price.
    content = message.content
    if isinstance(content, list):
        tree["content"] = [_part(part) for part in content]
    return tree


def _part(part: Any) -> dict[str, Any]:
    image = getattr(part, "image_url", None)
    if image is None:
        return {"type": part.type, **part.model_dump()}
    return {"type": "image", "detail": image.detail, **picture.url(image.url)}


# -- what is answered --------------------------------------------------------------------------------------------


class _Answer:
    """The wire of a completion. The program's own class of answers validates it."""

    def __init__(self, output_format: Any) -> None:
        self._format = output_format

    def dump(self, value: Any, /) -> Any:
        """Its fields, those that were set."""
        tree = {
            name: getattr(value, name) for name in type(value).model_fields if name in value.model_fields_set
        }
        if self._format is not None and hasattr(value.completion, "model_dump"):
            tree["completion"] = value.completion.model_dump(mode="json", exclude_unset=True)
        if value.usage is not None:
            tree["usage"] = value.usage.model_dump(exclude_none=True)
        return tree

    def load(self, value: Any, /) -> Any:
        """The completion again."""
        from browser_use.llm.views import ChatInvokeCompletion

        completion = value["completion"]
        if self._format is not None and not isinstance(completion, str):
            value["completion"] = self._format.model_validate_json(_json(completion))
        if value.get("usage") is not None:
            value["usage"] = usage(value["usage"])
        fields = ChatInvokeCompletion.model_fields
        return ChatInvokeCompletion.model_construct(**{name: value[name] for name in value if name in fields})


def _json(tree: Any) -> bytes:
    import orjson

    return orjson.dumps(tree)


def usage(tree: Any) -> Any:
    """Return a token count; fields that were not counted are left out."""
    from browser_use.llm.views import ChatInvokeUsage

    return ChatInvokeUsage(**{name: tree.get(name) for name in ChatInvokeUsage.model_fields})
