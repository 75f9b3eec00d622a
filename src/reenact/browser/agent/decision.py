"""One step's answer of a model: a reason, and one action of the closed vocabulary.

The model gets a flat, small schema: one object with the fields of all actions, most of them left empty. A union of
twenty types costs three times the tokens, and weak models often choose the wrong branch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import jsonschema  # type: ignore[import-untyped]
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model, model_validator

from reenact.browser.actions.types import TYPES

Kind = Literal[
    "click", "fill", "check", "select_dropdown_option", "press_key", "scroll_down", "scroll_up", "goto",
    "goto_new_tab", "switch_tab", "close_tab", "go_back", "go_forward", "reload", "wait", "form_fill", "upload_file",
    "download_file", "drag", "drop", "expand", "scrape", "help", "completion",
]  # fmt: skip
"""The agent's actions.

`evaluate_js` and `fallback_fill` are left out, because a page's text could lead a model to misuse them.
"""


class Decision(BaseModel):
    """The next step: one action. What it does not need stays empty."""

    reasoning: str = Field(
        "", description="what you see, and why this is the next step; one or two sentences"
    )
    type: Kind
    id: str = Field("", description="the element, by its id in the page, such as B1")
    selector: str = Field("", description="only for what has no id: ~its visible text")
    value: str | bool | dict[str, str] | None = Field(None, description="what to fill in, choose or check")
    url: str = ""
    key: str = Field("", description="such as Enter, Escape, Control+A")
    amount: int | None = Field(None, description="pixels to scroll; empty for one page")
    tab_index: int | None = None
    time_ms: int | None = None
    file_path: str = ""
    reason: str = Field("", description="what you need (help)")
    success: bool | None = Field(None, description="whether the task is done (completion)")
    answer: str | None = Field(
        None, description="what the user wanted to know, or why it cannot be done (completion)"
    )

    @property
    def action(self) -> dict[str, Any]:
        """The action's type and its filled fields that this type has."""
        given = {"success": True, "answer": ""} if self.type == "completion" else {}
        given |= {name: value for name, value in self.model_dump().items() if not _empty(value)}
        known = TYPES[self.type].model_fields
        return {name: given[name] for name in ("type", *given) if name in known}

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, given: Any) -> Any:
        return _shaped(given)


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value)


def decision_of(response_format: Any = None) -> type[Decision]:
    """Return the type of a step's answer, with an `answer` of the requested form if any."""
    if response_format is None:
        return Decision
    shape = dict[str, Any] if isinstance(response_format, Mapping) else response_format
    answer: Any = (shape | str | None, Field(None, description="in the form asked for; text without success"))
    return create_model("Decision", __base__=Decision, __doc__=Decision.__doc__, answer=answer)


def formed(answer: Any, response_format: Any) -> str:
    """Return an answer as JSON text of a form.

    The form is a pydantic model (or another type), or a JSON schema.

    Raises:
        ValueError: It has another form; the message names the place.
    """
    if isinstance(answer, str):
        try:
            answer = json.loads(answer)
        except ValueError:
            raise ValueError("answer: it is to be JSON of the form asked for, not text") from None
    elif isinstance(answer, BaseModel):
        answer = answer.model_dump(mode="json")
    if isinstance(response_format, Mapping):
        return _by_schema(answer, response_format)
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(response_format)
        return adapter.dump_json(adapter.validate_python(answer)).decode()
    except ValidationError as error:
        raise ValueError(in_one_line(error, "answer")) from None


def schema_of(response_format: Any) -> Mapping[str, Any]:
    """Return the JSON schema of a form."""
    if isinstance(response_format, Mapping):
        return response_format
    return TypeAdapter(response_format).json_schema()


def in_one_line(error: ValidationError, place: str = "") -> str:
    """Return a validation's errors in one line."""
    found = []
    for one in error.errors(include_url=False, include_input=False):
        where = ".".join([*([place] if place else []), *map(str, one["loc"])])
        found.append(f"{where}: {one['msg']}" if where else one["msg"])
    return "; ".join(found[:4])


def _by_schema(answer: Any, schema: Mapping[str, Any]) -> str:
    try:
        jsonschema.validate(answer, schema)
    except jsonschema.ValidationError as error:
        raise ValueError(f"{error.json_path.replace('$', 'answer', 1)}: {error.message}") from None
    return json.dumps(answer, ensure_ascii=False)


def _shaped(given: Any) -> Any:
    """Normalise an answer that a model wrote in one of the other usual shapes."""
    if not isinstance(given, Mapping):
        return given
    flat = {name: value for name, value in given.items() if name != "action"}
    action = given.get("action")
    if isinstance(action, str):
        action = _parsed(action) or {"type": action}
    if isinstance(action, Mapping):
        if len(action) == 1 and (kind := next(iter(action))) in TYPES:
            inner = action[kind]
            action = {"type": kind, **(inner if isinstance(inner, Mapping) else {})}
        flat |= action
    return {name: value for name, value in flat.items() if value is not None}


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
