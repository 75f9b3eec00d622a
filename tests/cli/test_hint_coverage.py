"""Each command that a text of the source names is followed by a test, or listed here with its reason."""

from __future__ import annotations

from tests.hints import followers, hints

DESCRIBED = {
    ("browser/page/session_options.py", "watch"), ("browser/script/python_code.py", "export-script"),
    ("cli/debugging.py", "debug"), ("cli/hosting.py", "keys"), ("cli/interfaces.py", "serve"),
    ("run/launch/__init__.py", "replay"), ("server/access.py", "keys add"), ("testing/pytest/taped.py", "replay"),
    ("verbs/record.py", "list"), ("verbs/record.py", "prove"), ("verbs/record.py", "replay"),
    ("verbs/report.py", "bisect --check"), ("verbs/verify/cluster.py", "verify"), ("verbs/verify/dispatch.py", "verify"),
}  # fmt: skip
"""Texts that describe a command, and suggest none: helps, options, names of features."""

UNTESTED = {
    # Of a screen, a browser, or a version of a framework.
    ("adapters/langchain/object_wire.py", "show"), ("adapters/pydantic_ai/object_wire.py", "show"),
    ("browser/heal/patch.py", "export-script"), ("browser/watch/content.py", "show"), ("cli/overview.py", "debug"),
    ("cli/overview.py", "watch"), ("tui/app.py", "fork"), ("tui/browse.py", "record"), ("tui/help.py", "debug"),
    ("verbs/player.py", "watch"),
    # Of a state that only damage or a race brings about.
    ("analysis/report/exported.py", "files"), ("analysis/report/exported.py", "show"),
    ("core/store/following.py", "list"), ("run/fork/started.py", "fork"), ("verbs/reproduce/bisection.py", "reproduce"),
    ("core/trust/book.py", "trust"),
}  # fmt: skip
"""Commands that no test follows yet."""


def test_each_command_that_a_text_names_is_followed_by_a_test():
    followed = {*followers(), *DESCRIBED}
    left = [
        hint
        for hint in hints()
        if not any(module == hint.module and hint.command.startswith(command) for module, command in followed)
    ]
    new = [
        f"{hint.module}:{hint.line}: {hint.command}"
        for hint in left
        if not any(module == hint.module and hint.command.startswith(command) for module, command in UNTESTED)
    ]
    assert new == []
    known = {
        (module, command) for module, command in UNTESTED
        if any(module == hint.module and hint.command.startswith(command) for hint in left)
    }  # fmt: skip
    assert UNTESTED - known == set()
