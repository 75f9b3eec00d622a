"""What names an element: selectors as users write them, found in any frame; and those that last, to be recorded.

css=…   xpath=…   ~text            by style sheet's, by XPath, by a text that it shows
#id > a   //div[1]   text=Save      whatever else Playwright reads
get_by_role("button", name="Save")  a locator as Playwright's own tools print it
frame=#pay >> css=button            in a frame; several nest
{"css": …, "xpath": …}              several, tried in this order
"""

from __future__ import annotations

import ast
import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error, Frame, FrameLocator, Locator, Page

from reenact.browser.world import chained, frame_chain, of_element, origin
from reenact.errors import ReenactError, UsageError

type_of = {"css": "css=", "xpath": "xpath=", "text": "~", "role": "", "playwright": "", "test_id": ""}
KINDS = tuple(type_of)
"""The members that a selector of several may have."""

POLL = 0.05
LARGE = 6000
"""Elements of a page above which what costs a look at each of them is left out."""

_METHODS = {
    "get_by_role", "get_by_text", "get_by_label", "get_by_placeholder", "get_by_alt_text", "get_by_title",
    "get_by_test_id", "locator", "frame_locator", "nth", "filter", "owner",
}  # fmt: skip
_PROPERTIES = {"first", "last", "content_frame"}
_BAD_SYNTAX = (
    "Unexpected token",
    "Unknown engine",
    "not a valid",
    "Malformed",
    "while parsing",
    "Invalid selector",
)


class SelectorError(UsageError):
    """A selector that does not parse; the text says what is wrong with it."""


class ElementNotFound(ReenactError, LookupError):
    """No element of the page matched in time."""


class AmbiguousElement(ReenactError, LookupError):
    """Several elements match. `locator` stands for all of them."""

    def __init__(self, text: str, locator: Locator, count: int) -> None:
        super().__init__(f"{count} elements match {text}; say which")
        self.locator = locator
        self.count = count


@dataclass(frozen=True, slots=True)
class Selector:
    """One selector, read.

    Attributes:
        text: As it was written.
        frames: Selectors of the frames to enter first, from the outermost.
        body: What Playwright is given, or the locator's expression.
        kind: `engine` (Playwright's own), `text` (`~`), `expression` (`get_by_role(…)`).
    """

    text: str
    frames: tuple[str, ...]
    body: str
    kind: str

    def within(self, scope: Page | Frame) -> Locator:
        """The locator of what it names, in a page or a frame of it."""
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
    """The selectors to try, in order.

    Raises:
        SelectorError: One of them cannot be read. (What only the page can judge, as a slip within CSS, `resolve`
            says.)
    """
    if isinstance(selector, str):
        return (_one(selector),)
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
        found.append(_one(_prefixed(kind, value)))
    if not found:
        raise SelectorError(f"the selector is empty; give one or more of {', '.join(KINDS)}")
    return tuple(found)


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


def _one(text: str) -> Selector:
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
    """Only locators' own methods, with constants: nothing else that an expression can be is ever run."""
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
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        _checked(node, text)  # a locator within a filter
        return node
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise SelectorError(f"{text!r} has more in it than texts and numbers") from None


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
        return _built(value, root) if isinstance(value, ast.Call) else ast.literal_eval(value)

    return method(*map(argument, node.args), **{str(one.arg): argument(one.value) for one in node.keywords})


def _locator(found: Any) -> Locator:
    if isinstance(found, FrameLocator):
        return found.owner
    assert isinstance(found, Locator)
    return found


async def resolve(
    page: Page,
    selector: str | Mapping[str, Any],
    timeout: float = 15000,  # noqa: ASYNC109 - as Playwright says it
) -> Locator:
    """The locator of the one element that a selector names, in the main frame or the first other frame that has any.

    Of several selectors the first that names exactly one. Where all that match name more than one, half a second is
    given for the others to come true; the wrong one of two is never taken.

    Args:
        page: The page.
        selector: As above.
        timeout: How long to wait for the element to exist, in milliseconds.

    Raises:
        SelectorError: It does not parse.
        AmbiguousElement: Several elements match.
        ElementNotFound: Nothing matched in time.
    """
    tried = parse(selector)
    end = time.monotonic() + timeout / 1000
    settled: float | None = None
    while True:
        several = None
        for one in tried:
            found, count = await _matching(page, one)
            if found is not None and count == 1:
                return found
            if found is not None and several is None:
                several = AmbiguousElement(one.text, found, count)
        now = time.monotonic()
        if several is not None:
            settled = settled or now
            if len(tried) == 1 or now - settled > 0.5 or now > end:
                raise several
        elif now >= end:
            words = " or ".join(one.text for one in tried)
            raise ElementNotFound(f"no element matches {words} after {timeout / 1000:g} s")
        await asyncio.sleep(POLL)


async def _matching(page: Page, selector: Selector) -> tuple[Locator | None, int]:
    for frame in page.frames:
        if frame.is_detached():
            continue
        if selector.frames and frame != page.main_frame:
            break
        locator = selector.within(frame)
        try:
            count = await locator.count()
        except Error as error:
            if any(words in error.message for words in _BAD_SYNTAX):
                raise SelectorError(f"{selector.text!r} does not parse: {plain(error)}") from None
            if frame == page.main_frame and page.is_closed():
                raise
            continue
        if count:
            return locator, count
    return None, 0


def plain(error: Error) -> str:
    """What an error of Playwright's says, in its first line."""
    line = error.message.splitlines()[0]
    return line.removeprefix("Locator.count: ").split("Error: ")[-1].strip()


async def durable(
    locator: Locator,
    *,
    secret: Sequence[str] = (),
    timeout: float = 1000,  # noqa: ASYNC109 - as Playwright says it
) -> dict[str, str]:
    """Selectors that find this element again, on this page or on another run's: best first, each tried and exact.

    `playwright` (its own normalised locator), `test_id`, `role` (with its name), `text`, `css`, `xpath`. One that
    names another element, or several, is left out; the position on the page is the last resort of `css`. What people
    typed is in none of them, nor a text within what one of the CSS selectors `secret` names.

    Raises Playwright's Error where the element is not there within `timeout` (milliseconds).
    """
    handle = await locator.element_handle(timeout=timeout)
    frame = await handle.owner_frame()
    if frame is None:
        raise Error("the element is in no frame")
    hidden = [one.removeprefix("css=") for one in secret]
    told = await of_element(
        handle, "({...eyes.selectorsOf(el, argument), count: eyes.state().count})", hidden
    )
    chain = await frame_chain(frame)
    offered = await _offered(locator, told, chain)
    checks = await asyncio.gather(*(_exact(frame.page, text, handle) for _, text in offered))
    exact: dict[str, str] = {}
    for (kind, text), good in zip(offered, checks, strict=True):
        if good:
            exact.setdefault(kind, text)
    return exact


async def _offered(locator: Locator, told: dict[str, Any], chain: list[str]) -> list[tuple[str, str]]:
    offered: list[tuple[str, str]] = []
    large = told["count"] >= LARGE  # a look at each element for its role or text would take seconds
    if not large:
        normal = str(await locator.normalize())
        # A text area's "text" is what somebody typed.
        if not ((told["field"] or told["secret"]) and ("get_by_text(" in normal or "has_text" in normal)):
            offered.append(("playwright", normal))
    if told["test_id"]:
        offered.append(("test_id", chained(chain, told["test_id"])))
    role, name = told["role"], told["name"]
    if not large and role != "generic" and name and "…" not in name and not told["secret"]:
        offered.append(("role", chained(chain, f"role={role}[name={_quoted(name)}]")))
    if not large and told["text"] and not told["secret"] and "…" not in told["text"] and not told["field"]:
        offered.append(("text", chained(chain, "~" + told["text"])))
    offered.append(("css", chained(chain, "css=" + told["css"])))
    offered.append(("css", chained(chain, "css=" + told["place"])))
    if told["xpath"]:
        offered.append(("xpath", chained(chain, "xpath=" + told["xpath"])))
    return offered


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


async def _exact(page: Page, text: str, handle: Any) -> bool:
    try:
        found = _one(text).within(page)
        return bool(await found.evaluate_all("(found, el) => found.length === 1 && found[0] === el", handle))
    except (Error, SelectorError):
        return False


async def fingerprint(
    locator: Locator,
    *,
    secret: Sequence[str] = (),
    timeout: float = 1000,  # noqa: ASYNC109 - as Playwright says it
) -> dict[str, Any]:
    """What tells an element from others, to know it again when its selectors fail (`likeness`).

    `tag`, `role`, `name` (accessible), `text`, `label`, `attributes` (id, name, type, placeholder, aria-label, title,
    alt, test ids, paths of href and src without their query), `classes`, `heading` (the nearest before it), `near`
    (its neighbours' texts), `box` (in the main viewport),
    `path` (in the DOM, with indices), `siblings`, `frames`, `secret`, `visible`.
    What people typed is not in it, nor what an element shows that one of the selectors `secret` names.

    Raises Playwright's Error where the element is not there within `timeout` (milliseconds).
    """
    handle = await locator.element_handle(timeout=timeout)
    hidden = [one.removeprefix("css=") for one in secret]
    found: dict[str, Any] = await of_element(handle, "eyes.fingerprint(el, argument)", hidden)
    frame = await handle.owner_frame()
    if frame is None or frame.parent_frame is None:
        return {**found, "frames": []}
    chain, (left, top) = await asyncio.gather(frame_chain(frame), origin(frame))
    x, y, width, height = found["box"]
    return {**found, "box": [x + left, y + top, width, height], "frames": chain}
