"""The groups of commands in `reenact --help`."""

from __future__ import annotations

PANELS = {
    "Record and replay": ("record", "replay", "fork", "resume", "debug"),
    "Read and find": ("list", "show", "label", "files", "diff", "diagnose", "browse", "watch", "console"),
    "Reproduce and test": ("reproduce", "bisect", "report", "keep", "prove", "verify", "doctor"),
    "Browser sessions": ("video", "harden", "heals", "export-script"),
    "Files": ("export", "import", "rm", "prune", "fsck", "config"),
    "Team and servers": (
        "push", "pull", "sync", "ship", "serve", "collect", "mcp", "keys", "team", "trust",
    ),
}  # fmt: skip
"""The titles of the groups, with their commands."""


COMMANDS = frozenset(name for names in PANELS.values() for name in names)
"""The names of all commands."""


def panel_of(command: str) -> str | None:
    """Return the group of a command in the list of all commands."""
    return next((title for title, names in PANELS.items() if command in names), None)
