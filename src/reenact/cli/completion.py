"""Completion of commands, options and ids in bash, zsh and fish, by click's scripts."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from click.shell_completion import CompletionItem, get_completion_class

from reenact.cli.printing import say
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError

_VARIABLE = "_REENACT_COMPLETE"
_ZSH = "fpath=(~/.zfunc $fpath)\nautoload -Uz compinit && compinit\n"


def ids(incomplete: str) -> list[CompletionItem]:
    """Return the ids of recordings that complete a word in a shell, with their names."""
    try:
        with closing(Index(LocalStore())) as index:
            known = [("last", "the newest"), *index.known()]
    except Exception:
        # A shell shows all output while it completes a word, so print nothing.
        return []
    return [CompletionItem(id, help=name) for id, name in known if id.startswith(incomplete)]


def show() -> None:
    """Print the script for the user's shell."""
    sys.stdout.write(_script(_shell()))


def install() -> None:
    """Write the script to the file from which the user's shell reads it."""
    shell = _shell()
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    path = {
        "bash": data / "bash-completion" / "completions" / "reenact",
        "zsh": Path.home() / ".zfunc" / "_reenact",
        "fish": settings / "fish" / "completions" / "reenact.fish",
    }[shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_script(shell), encoding="utf-8")
    if shell == "zsh":
        _read_folder(Path.home() / ".zshrc")
    say(f"wrote {path}; completion works in a new {shell}")


def _shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in ("bash", "zsh", "fish"):
        raise UsageError(f"completion is there for bash, zsh and fish; $SHELL is {name or 'not set'}")
    return name


def _script(shell: str) -> str:
    kind: Any = get_completion_class(shell)
    return f"{kind(None, {}, 'reenact', _VARIABLE).source()}\n"


def _read_folder(file: Path) -> None:
    """Let zsh read the functions of its folder."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    if ".zfunc" not in text:
        file.write_text(f"{text.rstrip()}\n{_ZSH}" if text else _ZSH, encoding="utf-8")
