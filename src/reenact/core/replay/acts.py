"""Acts: effects seen by their consequences, before they happen.

An act is known by its target (a tool's name, a host, a program), by which a policy names it.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from pathlib import PurePath
from typing import Any, Literal

from reenact.core.dataclass import dataclass
from reenact.core.model.event import TOOL, Effect
from reenact.core.patterns import lazy
from reenact.core.web_address import split_address

Impact = Literal["model", "reads", "writes", "unknown"]
"""The consequences of an act, as far as they are known."""

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"})
"""The HTTP methods that only read. A tunnel (`CONNECT`) changes nothing by itself."""

_OWN = frozenset({"agent", "checkpoint", "heal", "input", "mcp", "memory", "remote"})
"""The kinds of effects that change the program's own state alone."""

_PAGE_READS = frozenset(
    {
        "candidates", "cdp_url", "close_tab", "connect", "fallback_fill", "fill", "form_fill", "get_cookies", "go_back",
        "go_forward", "goto", "goto_new_tab", "kill", "observe", "reload", "scrape", "screenshot", "scroll_down",
        "scroll_up", "select_dropdown_option", "start", "state", "stop", "switch_tab", "verdict", "wait",
        "content", "count", "get_attribute", "inner_html", "inner_text", "is_visible", "text_content", "title", "url",
        "wait_for_load_state", "wait_for_selector", "wait_for_timeout", "wait_for_url",
    }
)  # fmt: skip
"""The actions of a browser that send nothing off by themselves."""

_PARTS = (" communicate", " errors", " exit", " input", " input closed", " output", " signal")
"""The ends of the names of effects of a command that runs."""

_SHELLS = lazy(r"[;&|<>`$\n(){}]")


@dataclass(frozen=True, slots=True)
class Act:
    """An effect of the program's that is about to happen.

    Attributes:
        effect: The effect.
        target: Its word in a policy: the tool's name, `host[:port]`, the program.
        names: All words that name it.
        impact: Its consequences, as far as its kind, its method or its declaration tell.
        basis: The source of that knowledge, in words.
    """

    effect: Effect
    target: str
    names: tuple[str, ...]
    impact: Impact
    basis: str

    @property
    def shown(self) -> str:
        """The act in a message: `tool:refund`, `http:POST shop.example/refunds`, `process:git push`."""
        label = self.effect.label
        command = self.effect.args.get("command")
        if self.effect.kind == "process" and command is not None:
            label = f"process:{command if isinstance(command, str) else ' '.join(map(str, command))}"
        return label if len(label) <= 120 else f"{label[:119]}…"


def act_of(effect: Effect, hosts: Collection[str] = (), providers: Collection[str] = ()) -> Act:
    """Return the act of an effect.

    `hosts` are `host[:port]` that serve models, besides the known providers; `providers` serve nothing else.
    """
    kind = effect.kind
    if kind == "http":
        return _request(effect, hosts, providers)
    if kind == "websocket":
        return _message(effect)
    if kind == "process":
        return _program(effect)
    if kind == "socket":
        return _named(effect, _places(effect.name), "unknown", "it is a connection that is not recorded")
    if kind == "model":
        return _named(effect, (effect.name,), "model", "a language model")
    declared = effect.declared
    if declared is not None:
        word = "it is declared to write" if declared else "it is declared to read only"
        return _named(effect, (effect.name,), "writes" if declared else "reads", word)
    if kind == "browser":
        reads = effect.name.removeprefix("page.") in _PAGE_READS
        return _named(effect, (effect.name,), "reads" if reads else "writes", "an action in a browser")
    if kind in _OWN:
        return _named(effect, (effect.name,), "reads", "the program's own state")
    return _named(effect, (effect.name,), "unknown", "it is not declared")


def impact_of_name(kind: str, name: str) -> Impact:
    """Return the impact of a recorded effect, from its name."""
    return act_of(Effect(kind, name)).impact


def _named(effect: Effect, targets: tuple[str, ...], impact: Impact, basis: str) -> Act:
    kind = effect.kind
    names = dict.fromkeys((effect.label, *(f"{kind}:{word}" for word in targets), *targets, kind))
    plain = targets[0] if kind in (TOOL, "http", "process", "socket", "websocket") else effect.label
    return Act(effect, plain, tuple(names), impact, basis)


def _places(place: str) -> tuple[str, ...]:
    host, _, port = place.rpartition(":")
    return (place, host) if host and port.isdecimal() else (place,)


def _request(effect: Effect, hosts: Collection[str], providers: Collection[str]) -> Act:
    from reenact.core.messages.http import asks_model_at  # noqa: PLC0415 - for calls that run for real

    method, _, rest = effect.name.partition(" ")
    place = rest.partition("/")[0]
    targets = _places(place) if place else (_host(effect.args) or "?",)
    if place in providers or asks_model_at(effect.name, effect.args, hosts):
        return _named(effect, targets, "model", "a language model")
    reads = method.upper() in SAFE_METHODS
    return _named(effect, targets, "reads" if reads else "writes", f"the method {method}")


def _host(args: Mapping[str, Any]) -> str:
    return split_address(str(args.get("url") or "")).hostname or ""


def _message(effect: Effect) -> Act:
    from reenact.core.messages.http import is_model_host  # noqa: PLC0415 - as above

    verb, _, rest = effect.name.partition(" ")
    place = rest.partition("/")[0]
    if is_model_host(place.partition(":")[0]):
        return _named(effect, _places(place), "model", "a language model")
    return _named(effect, _places(place), "writes" if verb == "send" else "reads", "a websocket's message")


def _program(effect: Effect) -> Act:
    """Return a program's act: its name, or `sh` where a shell may run several."""
    given = effect.args.get("command") or effect.name
    command = [given] if isinstance(given, str) else [str(word) for word in given]
    if "command" not in effect.args and effect.name.endswith(_PARTS):
        title = effect.name.rpartition(" ")[0]
        return _named(effect, (title,), "reads", "an act on a command that was allowed to start")
    if len(command) == 1 and _SHELLS.search(command[0]):
        return _named(effect, ("sh",), "unknown", "it is a program")
    try:
        words = command if len(command) > 1 else shlex.split(command[0])
    except ValueError:
        words = ["sh"]
    while len(words) > 1 and "=" in words[0]:
        words = words[1:]
    program = PurePath(words[0]).name if words else "?"
    return _named(effect, (program,), "unknown", "it is a program")
