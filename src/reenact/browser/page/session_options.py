"""A session's options: names and defaults, and the handling of unsupported ones."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reenact.browser.page.launcher import LaunchSettings
from reenact.core.store.writer import warn
from reenact.errors import UsageError

MODEL = "REENACT_MODEL"
"""The environment variable that names the model, as Pydantic AI does: `openai:gpt-5-mini`."""

_NO_EFFECT = {
    "storage": "", "perception_type": "", "open_viewer": "; `reenact watch` shows a session",
    "use_file_storage": "; downloads go to `downloads=`", "solve_captchas": "", "proxies": None, "vault_id": None,
    "vault": None, "persona": None,
}  # fmt: skip
"""Options of the hosted service, with a note each.

None marks an option that is refused, because ignoring it would be wrong.
"""

_REFUSED = {
    "proxies": "chrome_args=['--proxy-server=http://host:port'] sets one",
    "vault_id": "fill values in by the script; what goes into a password field is kept out of the recording",
    "vault": "fill values in by the script; what goes into a password field is kept out of the recording",
    "persona": "fill values in by the script",
}


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """The options of a session.

    Attributes:
        headless: True for a browser without a window.
        max_duration_minutes: Minutes after which the session ends; 0 for never.
        idle_timeout_minutes: Minutes without an action after which it ends; 0 for never.
        browser_type: `chromium` or `chrome`, accepted from the API; the found browser is used.
        executable_path: The browser to start; by default one is found.
        user_agent: The browser's user agent string.
        chrome_args: Further arguments of its command line.
        viewport_width: In CSS pixels, as `viewport_height`.
        cdp_url: The address of a running browser to use instead of a new one.
        cdp: True if another program may connect to the browser, by `session.cdp_url()`.
        extra_http_headers: Sent with every request.
        profile: A folder that keeps cookies, logins and the like from one session to the next.
        cookie_file: A JSON file of cookies to begin with.
        screenshot_type: The picture of an observation: `viewport`, `full` or `none`.
        downloads: The folder for downloads; by default a temporary one, deleted with the session.
        raise_on_failure: True if a failed action raises.
        save_replay_on: When the session's own recording is kept: `always`, `failure` or `never`.
        mask: Selectors of elements whose content is secret: masked in pictures, left out of the recording.
        model: The language model for `scrape(instructions=…)`, as Pydantic AI names it; else REENACT_MODEL.
        home: The folder of recordings; by default `$REENACT_HOME`, or `.reenact` in the working folder.
        name: The name of the session's own recording in `reenact list`.
    """

    headless: bool = True
    max_duration_minutes: float = 15
    idle_timeout_minutes: float = 3
    browser_type: str = "chromium"
    executable_path: str | os.PathLike[str] | None = None
    user_agent: str | None = None
    chrome_args: Sequence[str] | None = None
    viewport_width: int | None = None
    viewport_height: int | None = None
    cdp_url: str | None = None
    cdp: bool = True
    extra_http_headers: Mapping[str, str] | None = None
    profile: str | os.PathLike[str] | None = None
    cookie_file: str | os.PathLike[str] | None = None
    screenshot_type: str = "viewport"
    downloads: str | os.PathLike[str] | None = None
    raise_on_failure: bool = True
    save_replay_on: str = "always"
    mask: Sequence[str] = ()
    model: Any = field(default=None, repr=False)
    home: str | os.PathLike[str] | None = None
    name: str = "browser session"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> SessionOptions:
        """Return the options from a caller's arguments. Raises UsageError."""
        known = {one.name for one in dataclasses.fields(cls)}
        kept = {name: value for name, value in given.items() if name in known}
        for name in given.keys() - known:
            _beside(name, given[name], known)
        options = cls(**kept)
        options._check()
        return options

    def settings(self) -> LaunchSettings:
        """Return the settings that start the browser."""
        return LaunchSettings(
            headless=self.headless,
            viewport=(self.viewport_width or 1280, self.viewport_height or 720),
            user_agent=self.user_agent,
            chrome_args=tuple(self.chrome_args or ()),
            executable=os.fspath(self.executable_path) if self.executable_path else None,
            cdp_url=self.cdp_url,
            headers=dict(self.extra_http_headers or {}),
            profile=os.fspath(self.profile) if self.profile else None,
            downloads=os.fspath(self.downloads) if self.downloads else None,
            idle=self.idle_timeout_minutes * 60,
            longest=self.max_duration_minutes * 60,
            mask=tuple(self.mask),
            cdp=self.cdp,
        )

    def asked(self) -> dict[str, Any]:
        """Return the options that differ from their defaults and that pages may depend on."""
        names = (
            "headless",
            "user_agent",
            "viewport_width",
            "viewport_height",
            "extra_http_headers",
            "chrome_args",
        )
        plain = {name: getattr(self, name) for name in names}
        defaults = {one.name: one.default for one in dataclasses.fields(self)}
        plain["chrome_args"] = list(self.chrome_args) if self.chrome_args else None
        plain["extra_http_headers"] = dict(self.extra_http_headers) if self.extra_http_headers else None
        return {name: value for name, value in plain.items() if value != defaults[name]}

    def _check(self) -> None:
        for name, known in (
            ("browser_type", ("chromium", "chrome")),
            ("screenshot_type", ("viewport", "full", "none")),
            ("save_replay_on", ("always", "failure", "never")),
        ):
            value = getattr(self, name)
            if value not in known:
                raise UsageError(f"Session({name}={value!r}): it is one of {', '.join(map(repr, known))}")
        for name in ("max_duration_minutes", "idle_timeout_minutes"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not value >= 0:
                raise UsageError(f"Session({name}={value!r}): minutes, or 0 for no limit")
        for name in ("viewport_width", "viewport_height"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise UsageError(f"Session({name}={value!r}): a whole number of CSS pixels")
        if isinstance(self.mask, str):
            raise UsageError("Session(mask=…): a list of selectors")


def check_steps(max_steps: Any) -> None:
    """Check a number of agent steps. Raises UsageError."""
    if isinstance(max_steps, bool) or not isinstance(max_steps, int) or max_steps < 1:
        raise UsageError(f"max_steps={max_steps!r}: it is a number of steps, 1 or more")


def _beside(name: str, value: Any, known: set[str]) -> None:
    if name not in _NO_EFFECT:
        raise UsageError(f"Session has no option {name!r}; there are {', '.join(sorted(known))}")
    if value in (None, False, "", [], {}):
        return
    word = _NO_EFFECT[name]
    if word is None:
        raise UsageError(
            f"Session({name}=…) belongs to a hosted service and is not supported: {_REFUSED[name]}"
        )
    warn(f"Session({name}=…) has no effect here{word}")
