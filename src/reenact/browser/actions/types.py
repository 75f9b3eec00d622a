"""The closed vocabulary of browser actions: one model for each type, for scripts and agents.

Unknown types and fields are refused with one line that names the known ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from reenact.browser.page.target import written_parts
from reenact.errors import UsageError

MASK = "••••••"
"""The text shown instead of a secret value."""

PATIENCE = 15_000
"""Milliseconds that an action waits for its element, by default."""

LONGEST = 2**31 - 1
"""Most milliseconds that an action waits: a longer timer of Playwright's ends at once."""

FARTHEST = 2**53 - 1
"""Most pixels that an action scrolls or drags: JavaScript counts no further exactly."""

Pixels = Annotated[int, Field(ge=-FARTHEST, le=FARTHEST)]
"""A way on the page: to the right or down, if it is positive."""

Selector = str | dict[str, Any]
"""A selector: `css=…`, `xpath=…`, `~text`, any of Playwright's, or a dict tried in order."""


class Action(BaseModel):
    """One action. Each has a `type`, and only the fields of that type."""

    model_config = ConfigDict(extra="forbid")

    type: str

    @property
    def args(self) -> dict[str, Any]:
        """The fields that are not defaults: the arguments of its effect."""
        return self.model_dump(exclude={"type"}, exclude_defaults=True, exclude_none=True, mode="json")


class Aimed(Action):
    """An action on an element: by its id in the last observation, or by a selector."""

    id: str | None = Field(None, description="id of an element in the last observation, such as B1, I2, L3")
    selector: Selector | None = Field(None, description="css=, xpath=, ~text or a Playwright selector")
    timeout: int = Field(PATIENCE, gt=0, le=LONGEST, description="milliseconds to wait for the element")
    expect_target: str | dict[str, str] | None = Field(
        None,
        description='what the element must be: button "Delete" of "Invoice 18"; or role, name, record, region',
    )
    drift: Literal["stop", "warn"] | None = Field(
        None, description="what to do where the element found is another one than in good runs"
    )

    @field_validator("expect_target")
    @classmethod
    def _readable_target(cls, given: Any) -> Any:
        if given is not None:
            written_parts(given)
        return given

    @model_validator(mode="after")
    def _one_aim(self) -> Aimed:
        if (self.id is None) == (self.selector is None):
            raise ValueError(
                "give it an id (of the last observation) or a selector" + (", not both" if self.id else "")
            )
        return self


class Goto(Action):
    """Open an address in this tab."""

    type: Literal["goto"] = "goto"
    url: str = Field(min_length=1)


class GotoNewTab(Action):
    """Open an address in a new tab, and go there."""

    type: Literal["goto_new_tab"] = "goto_new_tab"
    url: str = Field(min_length=1)


class CloseTab(Action):
    """Close this tab; the one before it comes to the front."""

    type: Literal["close_tab"] = "close_tab"


class GoBack(Action):
    """Go back in this tab's history."""

    type: Literal["go_back"] = "go_back"


class GoForward(Action):
    """Go forward in this tab's history."""

    type: Literal["go_forward"] = "go_forward"


class Reload(Action):
    """Load this page again."""

    type: Literal["reload"] = "reload"


class SwitchTab(Action):
    """Bring a tab to the front: 0 is the first, -1 the last."""

    type: Literal["switch_tab"] = "switch_tab"
    tab_index: int = Field(ge=-100_000, le=100_000)


class Wait(Action):
    """Wait that long."""

    type: Literal["wait"] = "wait"
    time_ms: int = Field(ge=0, le=30_000)


class PressKey(Action):
    """Press a key, or several at once: `Enter`, `Control+A`."""

    type: Literal["press_key"] = "press_key"
    key: str = Field(min_length=1)


class ScrollUp(Action):
    """Scroll up by so many pixels, or by a page."""

    type: Literal["scroll_up"] = "scroll_up"
    amount: int | None = Field(None, ge=0, le=FARTHEST)


class ScrollDown(Action):
    """Scroll down by so many pixels, or by a page."""

    type: Literal["scroll_down"] = "scroll_down"
    amount: int | None = Field(None, ge=0, le=FARTHEST)


class Click(Aimed):
    """Click on an element."""

    type: Literal["click"] = "click"


class Fill(Aimed):
    """Write into a field."""

    type: Literal["fill"] = "fill"
    value: str
    clear_before_fill: bool = True


class FallbackFill(Aimed):
    """Write into a field key by key, for pages that take no notice of a plain fill."""

    type: Literal["fallback_fill"] = "fallback_fill"
    value: str
    clear_before_fill: bool = True


class Check(Aimed):
    """Tick a box, or untick it."""

    type: Literal["check"] = "check"
    value: bool


class SelectDropdownOption(Aimed):
    """Choose an option by its text or its value."""

    type: Literal["select_dropdown_option"] = "select_dropdown_option"
    value: str


class UploadFile(Aimed):
    """Give a file to a file field, or to the chooser that a click opens."""

    type: Literal["upload_file"] = "upload_file"
    file_path: str = Field(min_length=1)


class DownloadFile(Aimed):
    """Click an element that starts a download, and keep the file.

    It is kept at `file_path`, or in the session's folder of downloads.
    """

    type: Literal["download_file"] = "download_file"
    file_path: str | None = None


class Drag(Aimed):
    """Pick up an element with the mouse; `drop` puts it down.

    With `by` it is moved by that many pixels, right and down, and put down at once.
    """

    type: Literal["drag"] = "drag"
    by: tuple[Pixels, Pixels] | None = Field(
        None, description="pixels to the right and down, instead of a drop"
    )


class Drop(Aimed):
    """Put the dragged element down on another one; or with `file_path`, drop a file on it."""

    type: Literal["drop"] = "drop"
    file_path: str | None = Field(None, min_length=1)


class Expand(Aimed):
    """Open or close the part that an element hides (a summary, a menu's button)."""

    type: Literal["expand"] = "expand"
    value: bool = True


class FormFill(Action):
    """Fill the fields of a form by their purpose: email, first_name, cc_number and the like."""

    type: Literal["form_fill"] = "form_fill"
    value: dict[str, str] = Field(min_length=1)

    @model_validator(mode="after")
    def _known_fields(self) -> FormFill:
        if unknown := [name for name in self.value if name not in FORM_FIELDS]:
            raise ValueError(f"no field {unknown[0]!r}; there are {', '.join(FORM_FIELDS)}")
        return self


class EvaluateJs(Action):
    """Run JavaScript in the page: an expression or a function. Its value is the result's data."""

    type: Literal["evaluate_js"] = "evaluate_js"
    code: str = Field(min_length=1)


class Scrape(Action):
    """Read the page as Markdown or pictures, or let a model read it.

    A model reads it if instructions or a response format are given.
    """

    type: Literal["scrape"] = "scrape"
    instructions: str | None = None
    selector: Selector | None = None
    only_main_content: bool = True
    scrape_links: bool = True
    only_images: bool = False
    response_format: Any = None

    @property
    def args(self) -> dict[str, Any]:
        """The fields that concern the page; the call of the model is another effect."""
        asked = self.model_dump(
            exclude={"type", "response_format", "instructions"}, exclude_defaults=True, mode="json"
        )
        return {name: value for name, value in asked.items() if value is not None}


class Help(Action):
    """Say that help is needed."""

    type: Literal["help"] = "help"
    reason: str


class Completion(Action):
    """Say that the task is done, or cannot be done."""

    type: Literal["completion"] = "completion"
    success: bool
    answer: str


FORM_FIELDS = (
    "title", "first_name", "middle_name", "last_name", "full_name", "email", "company", "address1", "address2",
    "address3", "city", "state", "postal_code", "country", "phone", "username", "current_password", "new_password",
    "totp", "cc_name", "cc_number", "cc_exp_month", "cc_exp_year", "cc_exp", "cc_cvv", "date_of_birth", "gender",
)  # fmt: skip
"""The names that `form_fill` knows."""

SECRET_FORM_FIELDS = frozenset({"current_password", "new_password", "totp", "cc_number", "cc_cvv"})
"""The form fields with secret values."""

TYPES: dict[str, type[Action]] = {
    kind.model_fields["type"].default: kind
    for kind in (
        Goto, GotoNewTab, CloseTab, GoBack, GoForward, Reload, SwitchTab, Wait, PressKey, ScrollUp, ScrollDown, Click,
        Fill, FallbackFill, Check, SelectDropdownOption, UploadFile, DownloadFile, Drag, Drop, Expand, FormFill,
        EvaluateJs, Scrape, Help, Completion,
    )
}  # fmt: skip
"""Every action type by its name."""

AnyAction: Any = Annotated[Union[tuple(TYPES.values())], Field(discriminator="type")]  # noqa: UP007
"""The union of all action types, discriminated by `type`, for pydantic's validators."""


def action_of(given: Action | Mapping[str, Any] | str | None = None, **fields: Any) -> Action:
    """Return the action given as an action, a dict of one, or its type and fields.

    Raises:
        UsageError: (a ValueError) No type, an unknown type or field, or a value that does not fit; in one line.
    """
    if isinstance(given, Action):
        if fields:
            raise UsageError(f"{given.type}: give an action, or its type and fields, not both")
        return given
    asked = {**({"type": given} if isinstance(given, str) else given or {}), **fields}
    kind = asked.pop("type", None)
    if not kind:
        raise UsageError("an action needs a type: execute(type='click', selector='text=Sign in'), say")
    model = TYPES.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise UsageError(f"there is no action {kind!r}; there are {', '.join(TYPES)}")
    try:
        return model(**asked)
    except ValidationError as error:
        raise UsageError(f"{kind}: {_in_words(error, model)}") from None


def _in_words(error: ValidationError, model: type[Action]) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"][:1])
    known = ", ".join(field for field in model.model_fields if field != "type") or "no fields"
    match first["type"]:
        case "extra_forbidden":
            return f"it has no field {name!r}; it takes {known}"
        case "missing" if len(first["loc"]) == 1:
            return f"it needs a field {name!r}; it takes {known}"
        case "value_error":
            return str(first["msg"]).removeprefix("Value error, ")
    text = str(first["msg"])
    return f"{name}: {text[:1].lower()}{text[1:]}" if name else text
