"""All commands, with their modules, which are not imported here."""

from __future__ import annotations

from reenact.verbs.registry import VERBS, Verb

INTERFACES = [
    Verb("browse", "reenact.cli.browsing", extra="tui"),
    Verb("debug", "reenact.cli.debugging", extra="tui"),
    Verb("watch", "reenact.cli.watching", extra="browser"),
    Verb("console", "reenact.cli.console", extra="server"),
    Verb("serve", "reenact.cli.hosting", extra="server"),
    Verb("collect", "reenact.cli.collecting", extra="server"),
    Verb("mcp", "reenact.cli.serving", extra="mcp"),
    Verb("config", "reenact.cli.configuring"),
]
"""The commands that open another interface: a screen, a page, a server."""

GROUPS = {
    "keys": ("reenact.cli.keys", "API keys of `reenact serve`: add, list and revoke them."),
    "team": (
        "reenact.cli.projects",
        "The team's store: limits and retention of its projects, deletion, holds, backup.",
    ),
    "trust": (
        "reenact.cli.trusting",
        "The key of this home, and trusted keys: their recordings run without a question.",
    ),
}
"""The groups of commands, with their modules and their help."""


OPTIONS = (
    ("--version", "Show the version."),
    ("--install-completion", "Install completion for your shell."),
    ("--show-completion", "Show the script for completion in your shell."),
    ("-h, --help", "Show this help."),
)
"""The options of `reenact` itself, with their help."""


def extra_of(command: str) -> str:
    """Return the extra that a command needs; empty if it needs none, or is no command."""
    if command == "trust":
        return "sign"
    if command == "team":
        return "team"
    return next((verb.extra for verb in (*VERBS, *INTERFACES) if verb.name == command), "")
