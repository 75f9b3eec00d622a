"""The script that a command runs: code that a replay does not run.

The recording does not hold it either. The answer of a command holds its digest, so that a replay can say that it is
another one by now.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from reenact.core.boundary import current, entered
from reenact.core.dataclass import dataclass
from reenact.core.patterns import lazy

_SHELL = lazy(r"(?:ba|da|k|z|fi|a)?sh")
_OTHER = lazy(r"node|deno|bun|ruby|perl|php|lua|Rscript|(?:python|pypy)[\d.]*")
_CODE = lazy(r"-\w*c\w*")
"""An option of a shell behind which code stands."""

_OTHERS_CODE = ("-c", "-e", "-m", "-p", "-E", "--eval", "--print")
"""Options of other interpreters behind which code stands, or the name of a module."""

_MOST = 1 << 20
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/etc", "/opt", "/nix", sys.prefix, sys.base_prefix)
MEMBER = "script"
"""The member of a command's answer with the digest."""


@dataclass(slots=True)
class Script:
    """The script of one command.

    Attributes:
        path: Its file, as the command names it; empty without one.
        digest: 16 hex digits of its content; empty where it cannot be read.
    """

    path: str = ""
    digest: str = ""

    @classmethod
    def of(cls, line: Sequence[str], folder: Any) -> Script:
        """Return the script of a command.

        Args:
            line: The words of the command.
            folder: Its working folder, or None.
        """
        name = _named(line)
        if not name:
            return cls()
        scope = current()
        view = None if scope is None else scope.run.view
        seen = nullcontext() if view is None else view.shown()
        with entered(None), seen, suppress(OSError, ValueError, TypeError):
            path = Path(folder or "", name).absolute()
            if path.is_file() and path.stat().st_size <= _MOST and not str(path).startswith(_SYSTEM):
                return cls(name, hashlib.sha256(path.read_bytes()).hexdigest()[:16])
        return cls(name)

    def member(self) -> dict[str, str]:
        """Return the digest as a member of the command's answer."""
        return {MEMBER: self.digest} if self.digest else {}

    def compare(self, answer: Mapping[str, Any], title: str) -> None:
        """Name a script that has another content than recorded: the command did not run."""
        recorded, scope = answer.get(MEMBER), current()
        if scope is not None and recorded and self.digest and recorded != self.digest:
            scope.run.handler.remark(
                f"the command {title} was not started, and its script {self.path} has changed since: "
                f"--live process:{title} starts it"
            )


def _named(line: Sequence[str]) -> str:
    """Return the name of the script among the words of a command; empty without one."""
    if not line:
        return ""
    name = Path(line[0]).name
    shell = _SHELL.fullmatch(name) is not None
    if not shell and _OTHER.fullmatch(name) is None:
        return line[0] if os.sep in line[0] else ""
    for word in line[1:]:
        if not word.startswith("-"):
            return word
        if _CODE.fullmatch(word) if shell else word.startswith(_OTHERS_CODE):
            return ""
    return ""
