"""Read requests of Reenact's client and `notte-sdk`: a session's options and actions.

A key allows to use the server's browser, but not the server: no option and no action may name a file, a program or a
folder of the server, and no page of its disk is opened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from reenact.browser.actions import types as do
from reenact.browser.agent.models import full_name
from reenact.browser.isolation.addresses import RefusedAddressError, check_scheme, typed
from reenact.errors import UsageError
from reenact.server.wire.stored_files import SessionFiles

LONGEST = 24 * 60
"""Most minutes of a session."""

DEFAULTS = frozenset({"gemini/gemini-3.5-flash", "vertex_ai/gemini-3.5-flash"})
"""The models that `notte-sdk` 1.9.7 names if its user named none."""

M = TypeVar("M", bound=BaseModel)


class _Plain(BaseModel):
    """Options with the same meaning as in a local session."""

    headless: bool = True
    user_agent: str = ""
    viewport_width: int = 0
    viewport_height: int = 0
    extra_http_headers: dict[str, str] = {}
    cdp_url: str = ""
    browser_type: str = ""
    save_replay_on: str = ""
    mask: list[str] = []
    model: str = ""
    name: str = ""
    max_duration_minutes: float = 0
    idle_timeout_minutes: float = 0


class AgentRequest(BaseModel):
    """The options that start an agent."""

    model_config = ConfigDict(extra="forbid")

    session_id: str
    task: str
    url: str | None = None
    response_format: dict[str, Any] | None = None
    session_offset: int | None = None
    reasoning_model: str | None = None
    use_vision: bool = True
    max_steps: int = 20
    agent_id: str | None = None
    vault: dict[str, str] | None = None
    persona: dict[str, Any] | str | None = None
    trouble: str = ""


_PLAIN = tuple(_Plain.model_fields)

_IGNORED = frozenset({
    "solve_captchas", "wait_for_authentication", "block_ads", "auth_retry", "use_file_storage", "perception_type",
    "storage", "open_viewer",
})  # fmt: skip
"""Options of the hosted service that do not change the requests to pages, and are ignored."""

_ABSENT = frozenset(
    {"web_bot_auth", "auth_ids", "advanced_stealth", "vault_id", "profile", "aspect_ratio", "proxies"}
)
"""Options of the hosted service that would change them, and are refused unless empty.

`proxies=True` is the other client's default.
"""

_FLAG = re.compile(
    r"--(lang|window-size|window-position|start-maximized|force-device-scale-factor|"
    r"disable-blink-features|blink-settings|force-dark-mode|hide-scrollbars|mute-audio|incognito|disable-gpu|"
    r"disable-notifications|disable-popup-blocking|disable-infobars|disable-dev-shm-usage|disable-extensions|"
    r"autoplay-policy|font-render-hinting|force-color-profile)(=.*)?"
)
"""Browser arguments that a client may give; others could start programs or access files."""

_DECORATION = frozenset({"category", "description", "param", "text_label", "status", "actor"})
_UNSUPPORTED = ("captcha_solve", "email_read", "email_verification_read", "sms_read")


def options_of(given: Mapping[str, Any], *, foreign: bool, alone: bool = False) -> dict[str, Any]:
    """Return a session's options.

    Args:
        given: The options of the request.
        foreign: True for another client than Reenact's own.
        alone: True if the server needs no keys, and so serves one person on this machine.

    Raises:
        UsageError: An option is not supported, or cannot be set by clients.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    if "timeout_minutes" in asked:
        asked.setdefault("idle_timeout_minutes", asked.pop("timeout_minutes"))
    plain = fitted(_Plain, {name: asked.pop(name) for name in _PLAIN if name in asked})
    options = plain.model_dump(exclude_unset=True)
    picture = asked.pop("screenshot_type", "viewport")
    options["screenshot_type"] = "viewport" if foreign else picture
    options["cdp"] = bool(asked.pop("cdp", False))
    if "cdp_url" in options and not alone:
        raise UsageError("cdp_url=… cannot be set by clients of a server")
    if "chrome_args" in asked:
        options["chrome_args"] = _flags(asked.pop("chrome_args"))
    for name, value in asked.items():
        if name in _IGNORED:
            continue
        if name not in _ABSENT:
            raise UsageError(
                f"a server's session has no option {name!r}; there are {', '.join(_PLAIN)}, chrome_args"
            )
        if value and not (name == "proxies" and value is True):
            raise UsageError(f"Session({name}=…) belongs to a hosted service and is not supported")
    longest = options.get("max_duration_minutes", 15)
    if not 0 < longest <= LONGEST:
        raise UsageError(
            f"max_duration_minutes={longest!r}: a server's session lasts {LONGEST} minutes at most"
        )
    return options


def action_of(given: Mapping[str, Any], files: SessionFiles) -> do.Action:
    """Return an action in the form for this server.

    Args:
        given: The action of the request.
        files: The session's files, which an upload may name.

    Raises:
        UsageError: There is no such action, or clients may not do it.
    """
    asked = {name: value for name, value in given.items() if name not in _DECORATION and value is not None}
    kind = asked.get("type")
    if kind in _UNSUPPORTED:
        raise UsageError(f"{kind} belongs to a hosted service and is not supported")
    if kind == "multi_factor_fill":
        asked["type"] = "fill"
    if asked.get("id") == "":
        del asked["id"]
    if isinstance(asked.get("selector"), Mapping):
        asked["selector"] = _selector(asked["selector"])
    if asked.pop("press_enter", False):
        raise UsageError(
            "press_enter is not supported: use execute(type='press_key', key='Enter') afterwards"
        )
    if kind == "goto":
        asked.pop("wait_until", None)  # it waits until the page has loaded
    if kind == "scrape":
        asked.pop("scrape_images", None)
        if asked.pop("ignored_tags", None):
            raise UsageError(
                "scrape(ignored_tags=…) is not supported: scrape a part of the page, by a selector"
            )
    return _allowed(do.action_of(asked), files)


def scrape_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a `scrape` request. Raises UsageError."""
    asked = {name: value for name, value in given.items() if value is not None}
    if asked.pop("use_link_placeholders", False):
        raise UsageError("scrape(use_link_placeholders=…) is not supported")
    if asked.pop("model", None):
        raise UsageError("scrape(model=…) is not supported: a session has one model, Session(model=…)")
    return {"type": "scrape", **asked}


def check_address(url: str) -> None:
    """Check that an address is on the web. Raises UsageError, for example for the server's disk."""
    try:
        check_scheme(typed(url))
    except RefusedAddressError as error:
        raise UsageError(str(error)) from None


def model_of(named: str | None, default: str | None, *, foreign: bool) -> str | None:
    """Return the model for an agent: the named one, or the default.

    A default name that the other client sends by itself counts as unnamed.
    """
    if named is None or (foreign and named in DEFAULTS and default):
        return default
    # A name must not contain an address, so that the server's keys are only sent to their providers.
    return full_name(named)


def fitted(model: type[M], given: Mapping[str, Any]) -> M:
    """Validate a request against a model. Raises UsageError, in one line."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}") from None


def _allowed(action: do.Action, files: SessionFiles) -> do.Action:
    if isinstance(action, (do.Goto, do.GotoNewTab)):
        check_address(action.url)
    if isinstance(action, (do.UploadFile, do.Drop)) and action.file_path is not None:
        return action.model_copy(update={"file_path": str(files.named(action.file_path).path)})
    if isinstance(action, do.DownloadFile) and action.file_path is not None:
        raise UsageError("a server keeps downloads with the session: leave file_path out")
    return action


def _selector(given: Mapping[str, Any]) -> str | dict[str, Any]:
    """Return a dict of selectors, or the only one."""
    if not given.keys() & {"css_selector", "xpath_selector", "playwright_selector"}:
        return dict(given)
    known = {
        "playwright": given.get("playwright_selector"),
        "css": given.get("css_selector"),
        "xpath": given.get("xpath_selector"),
    }
    found = {name: str(value) for name, value in known.items() if value}
    if len(found) != 1:
        return found
    ((name, value),) = found.items()
    if name != "playwright":
        return f"{name}={value}"
    text = re.fullmatch(r'internal:text="(.*)"', value, re.DOTALL)
    return f"~{text[1]}" if text is not None else value


def _flags(given: Any) -> list[str]:
    if not isinstance(given, list):
        raise UsageError("chrome_args is a list of arguments")
    for flag in given:
        if not isinstance(flag, str) or _FLAG.fullmatch(flag) is None:
            raise UsageError(f"chrome_args={flag!r} cannot be set by clients of a server")
    return given
