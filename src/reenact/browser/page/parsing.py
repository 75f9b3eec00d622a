"""Parse selectors as users write them.

css=…   xpath=…   ~text            by CSS, by XPath, by its visible text
#id > a   //div[1]   text=Save      any other selector of Playwright
get_by_role("button", name="Save")  a locator as Playwright's own tools print it
frame=#pay >> css=button            in a frame; several nest
{"css": …, "xpath": …}              several, tried in this order
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Frame, FrameLocator, Locator, Page

from reenact.errors import UsageError

type_of = {"css": "css=", "xpath": "xpath=", "text": "~", "role": "", "playwright": "", "test_id": ""}
KINDS = tuple(type_of)
"""The members that a dict of selectors may have."""

_METHODS = {
    "get_by_role", "get_by_text", "get_by_label", "get_by_placeholder", "get_by_alt_text", "get_by_title",
    "get_by_test_id", "locator", "frame_locator", "nth", "filter", "owner",
}  # fmt: skip
_PROPERTIES = {"first", "last", "content_frame"}


class SelectorError(UsageError):
    """A selector that cannot be parsed; the message names the error."""


@dataclass(frozen=True, slots=True)
class Selector:
    """One parsed selector.

    Attributes:
        text: As it was written.
        frames: Selectors of the frames to enter first, from the outermost.
        body: The text for Playwright, or the locator's expression.
        kind: `engine` (Playwright's own), `text` (`~`), `expression` (`get_by_role(…)`).
    """

    text: str
    frames: tuple[str, ...]
    body: str
    kind: str

    def within(self, scope: Page | Frame) -> Locator:
        """Return the locator in a page or a frame of it."""
        place: Any = scope
        for frame in self.frames:
            place = place.frame_locator(frame)
        if self.kind == "text":
            return _locator(place.get_by_text(self.body))
        if self.kind == "expression":
            try:
                return _locator(_built(_expression(self.body), place))
            except (TypeError, ValueError) as error:
                raise SelectorError(f"{self.text!r} does not parse: {error}") from None
        return _locator(place.locator(self.body))


def parse(selector: str | Mapping[str, Any]) -> tuple[Selector, ...]:
    """Return the selectors to try, in order.

    Raises:
        SelectorError: One of them cannot be parsed. (`resolve` reports errors that only the page finds, as in CSS.)
    """
    if isinstance(selector, str):
        return (one_of(selector),)
    if not isinstance(selector, Mapping):
        raise SelectorError(f"a selector is text or a dict of texts, not {type(selector).__name__}")
    found = []
    for key, value in selector.items():
        kind = str(key).removesuffix("_selector")
        if kind not in type_of:
            raise SelectorError(f"a selector has no member {key!r}; it may have {', '.join(KINDS)}")
        if value is None:
            continue
        if not isinstance(value, str):
            raise SelectorError(f"a selector's {key} is text, not {type(value).__name__}")
        found.append(one_of(_prefixed(kind, value)))
    if not found:
        raise SelectorError(f"the selector is empty; give one or more of {', '.join(KINDS)}")
    return tuple(found)


def written(selector: str | Mapping[str, Any] | None) -> str | None:
    """Return a selector as the user wrote it, for a sentence."""
    if isinstance(selector, Mapping):
        return " or ".join(str(value) for value in selector.values() if value) or None
    return selector


def _prefixed(kind: str, value: str) -> str:
    mark = type_of[kind]
    frames, body = _split(value)
    known = ("css=", "xpath=", "~", "text=", "internal:", "role=")
    if mark and not body.startswith(known):
        body = mark + body
    return " >> ".join([*(f"frame={one}" for one in frames), body])


def _split(text: str) -> tuple[list[str], str]:
    frames: list[str] = []
    rest = text.strip()
    while rest.startswith("frame="):
        frame, mark, rest = rest.removeprefix("frame=").partition(" >> ")
        if not mark or not frame.strip():
            raise SelectorError(f"{text!r} names a frame and nothing in it; write `frame=#pay >> css=button`")
        frames.append(frame.strip())
        rest = rest.strip()
    return frames, rest


def one_of(text: str) -> Selector:
    if not text.strip():
        raise SelectorError("the selector is empty")
    frames, body = _split(text)
    if body.startswith("~"):
        if not body[1:].strip():
            raise SelectorError("`~` is followed by a text that the element shows, as in `~Sign in`")
        return Selector(text, tuple(frames), body[1:].strip(), "text")
    for mark in ("css=", "xpath="):
        if body.startswith(mark) and not body.removeprefix(mark).strip():
            raise SelectorError(f"{text!r} names nothing: after `{mark}` comes a selector")
    if body.startswith(("page.", *(f"{name}(" for name in _METHODS))):
        body = body.removeprefix("page.")
        _expression(body)
        return Selector(text, tuple(frames), body, "expression")
    return Selector(text, tuple(frames), body, "engine")


def _expression(text: str) -> ast.expr:
    try:
        tree = ast.parse(text, mode="eval").body
        _checked(tree, text)
    except SyntaxError as error:
        raise SelectorError(f"{text!r} is no locator: {error.msg}") from None
    return tree


def _checked(node: ast.expr, text: str) -> None:
    """Raise SelectorError unless an expression has only locator methods and constants."""
    if isinstance(node, ast.Name):
        if node.id not in _METHODS:
            raise SelectorError(f"{text!r} is no locator: it has no method {node.id!r}")
        return
    if isinstance(node, ast.Attribute):
        if node.attr not in _METHODS | _PROPERTIES:
            raise SelectorError(f"{text!r} is no locator: it has no method {node.attr!r}")
        _checked(node.value, text)
        return
    if not isinstance(node, ast.Call):
        raise SelectorError(f'{text!r} is no locator, as get_by_role("button", name="Save") is')
    _checked(node.func, text)
    for value in [*node.args, *(one.value for one in node.keywords)]:
        _value(value, text)


def _value(node: ast.expr, text: str) -> Any:
    if _is_pattern(node):
        return _pattern(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        _checked(node, text)  # a locator within a filter
        return node
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise SelectorError(f"{text!r} has more in it than texts and numbers") from None


_FLAGS = {"IGNORECASE": re.IGNORECASE, "MULTILINE": re.MULTILINE, "DOTALL": re.DOTALL}


def _is_pattern(node: ast.expr) -> bool:
    """Return True for `re.compile("…")`, which Playwright itself writes for exact texts."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile" and not node.keywords


def _pattern(node: ast.expr) -> re.Pattern[str]:
    assert isinstance(node, ast.Call)
    flags = [_FLAGS.get(ast.unparse(one).removeprefix("re.")) for one in node.args[1:]]
    text = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
    if not isinstance(text, str) or len(flags) > 1 or None in flags:
        raise SelectorError(f'{ast.unparse(node)!r} is no pattern, as re.compile("^Save$") is')
    try:
        return re.compile(text, flags[0] or 0 if flags else 0)
    except re.error as error:
        raise SelectorError(f"{text!r} is no pattern: {error}") from None


def _built(node: ast.expr, scope: Any, root: Any = None) -> Any:
    root = scope if root is None else root
    if isinstance(node, ast.Attribute):
        return getattr(_built(node.value, scope, root), node.attr)
    assert isinstance(node, ast.Call)
    if isinstance(node.func, ast.Attribute):
        method = getattr(_built(node.func.value, scope, root), node.func.attr)
    else:
        assert isinstance(node.func, ast.Name)
        method = getattr(scope, node.func.id)

    def argument(value: ast.expr) -> Any:
        if _is_pattern(value):
            return _pattern(value)
        return _built(value, root) if isinstance(value, ast.Call) else ast.literal_eval(value)

    return method(*map(argument, node.args), **{str(one.arg): argument(one.value) for one in node.keywords})


def _locator(found: Any) -> Locator:
    if isinstance(found, FrameLocator):
        return found.owner
    assert isinstance(found, Locator)
    return found


def styles(selectors: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split selectors into those that the page itself can match, as CSS, and the others."""
    inside: list[str] = []
    outside: list[str] = []
    for text in selectors:
        (one,) = parse(text)
        style = one.body.removeprefix("css=")
        word = style.split("=", 1)[0]
        engine = "=" in style and word.replace("-", "").replace(":", "").isalnum()
        marked = ">>" in style or style.startswith(("/", "(", "..")) or engine
        plain = one.kind == "engine" and not one.frames and not marked
        (inside if plain else outside).append(style if plain else text)
    return inside, outside
