"""The code that evaluates selectors in a player: Playwright's own, and Reenact's.

Playwright's driver injects a script into each page to evaluate selectors. The player runs the script of the installed
version on a kept page, so that a selector finds the same elements as in the live page. The script is not a public part
of Playwright: if it is not found, the player evaluates only CSS and XPath, and says so.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from reenact.browser.page.sources import eyes

_BUNDLE = Path("driver", "package", "lib", "coreBundle.js")
_BEGIN = re.compile(r'generated/injectedScriptSource\.ts"\(\) \{\s*"use strict";\s*\w+ = \'')
_TEXT = re.compile(r"(?:[^'\\\n]|\\.)*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}

WORLD = "document, getComputedStyle, innerWidth, innerHeight, location"
"""The globals of a page that `eyes.js` reads."""

_GIVEN = (
    "window.document, (...all) => window.getComputedStyle(...all), window.innerWidth, window.innerHeight, "
    "window.location"
)


@cache
def playwright_source() -> str:
    """Return Playwright's script that evaluates selectors; empty if it is not found."""
    spec = find_spec("playwright")
    if spec is None or spec.origin is None:
        return ""
    try:
        text = (Path(spec.origin).parent / _BUNDLE).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    begin = _BEGIN.search(text)
    found = _TEXT.match(text, begin.end()) if begin is not None else None
    source = _ESCAPE.sub(lambda one: _unescaped(one[1]), found[0]) if found is not None else ""
    return source if "InjectedScript" in source and "</script" not in source.lower() else ""


def _unescaped(code: str) -> str:
    return chr(int(code[1:], 16)) if len(code) > 1 else _LETTERS.get(code, code)


@cache
def engine() -> str:
    """Return a JavaScript expression: `{playwright, eyes}`, each a function or null."""
    source = playwright_source()
    playwright = "null"
    if source:
        playwright = f"(() => {{ const module = {{}};\n{source}\nreturn module.exports.InjectedScript(); }})"
    return f"{{ playwright: {playwright},\neyes: (window) => (({WORLD}) => {eyes()})({_GIVEN}) }}"
