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


def test_each_command_that_a_text_names_is_followed_by_a_test():
    followed = {*followers(), *DESCRIBED}
    left = [
        f"{hint.module}:{hint.line}: {hint.command}"
        for hint in hints()
        if not any(module == hint.module and hint.command.startswith(command) for module, command in followed)
    ]
    assert left == []
