"""Draw commands and all that they print as a picture."""

from __future__ import annotations

import contextlib
import fcntl
import html
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 100
MOST_LINES = 60
LONGEST = 300
BIN = Path(sys.executable).parent
FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
CONTROLS = re.compile(r"(\n|\r|\x1b\[\d*A(?![a-zA-Z])|\x1b\[2K)")
HIDDEN = re.compile(r"\x1b\[\?25[hl]")
VOLATILE = re.compile(
    r"terminal-\d+|127\.0\.0\.1:\d+|<?[\d,.]+ ?(?:ms|s|µs|MB|kB|bytes)\b|\+?\d+\.\d+|\d{4}-\d\d-\d\d(?:T\d\d-\d\d-\d\dZ)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?|"
    r"(?<![a-z0-9])[0-9a-hjkmnp-tv-z](?:\0*[0-9a-hjkmnp-tv-z]){9}(?![a-z0-9])|index=\d+|"
    r"(?<![0-9a-z])[0-9a-f]{8,32}(?![0-9a-z])|(?:[0-9a-f]{4}-)+[0-9a-f]{4,12}"
)
"""What another run of the same command prints in another way: durations, times, ports, ids (in two colours), numbers of elements."""


class Terminal:
    """A terminal in a folder; its screen is kept as a picture.

    Args:
        folder: The folder of the commands.
        environ: Variables of the commands.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("REENACT", "PYTEST", "COV_"))}
        path = f"{BIN}{os.pathsep}{kept.get('PATH', os.defpath)}"
        self.environ = {
            **kept, "PATH": path, "TERM": "xterm-256color", "COLORTERM": "truecolor", "PYDANTIC_AI_NO_BANNER": "1",
            "XDG_CONFIG_HOME": str(folder.parent / "config"), **(environ or {}),
        }  # fmt: skip
        for name in ("CI", "COLUMNS", "FORCE_COLOR", "NO_COLOR"):
            self.environ.pop(name, None)
        self._console = Console(
            record=True,
            width=WIDTH,
            file=io.StringIO(),
            force_terminal=True,
            color_system="truecolor",
            highlight=False,
        )

    def widen(self, columns: int) -> None:
        """Give the terminal more columns."""
        self._console.width = columns

    def run(self, command: str, *, status: int = 0, shown: bool = True, lines: int | None = None) -> str:
        """Run a command; draw it with its first lines of output. Raises RuntimeError for another status."""
        printed, left = self._run(command)
        output = self._without_places(printed)
        if left != status:
            raise RuntimeError(f"{command} ended with status {left}:\n{output}")
        if shown:
            self.prompt(command)
            self.text(output, lines)
        return output

    def prompt(self, command: str) -> None:
        """Draw a command."""
        self._space()
        self._console.print(Text.assemble(("$ ", "bold green"), (command, "bold")), soft_wrap=True)

    def comment(self, text: str) -> None:
        """Draw a remark before a command."""
        self._space()
        self._console.print(Text(f"# {text}", style="cyan"), soft_wrap=True)

    def _space(self) -> None:
        if self._console.export_text(clear=False):
            self._console.print()

    def text(self, output: str, lines: int | None = None) -> None:
        """Draw text with its colours; what is left out is a `…`."""
        all_lines = output.rstrip().splitlines()
        for line in all_lines[:lines]:
            drawn = Text.from_ansi(line)
            self._console.print(drawn, overflow="fold")
        if lines is not None and len(all_lines) > lines:
            self._console.print(Text("…", style="dim"))

    def save(self, target: Path, title: str) -> None:
        """Write the picture, unless the one that is there says the same."""
        rows = self._console.export_text(clear=False).splitlines()
        if len(rows) > MOST_LINES:
            raise RuntimeError(f"{target.name}: {len(rows)} lines are too many for a picture")
        drawn = self._console.export_svg(title=title)
        # A picture of a page loads nothing: the reader's own fixed-width font is used.
        drawn = FONT_FACE.sub("", drawn).replace("Fira Code", "ui-monospace, Menlo, Consolas")
        drawn = "\n".join(line.rstrip() for line in drawn.strip().splitlines()) + "\n"
        if target.exists() and said(target.read_text(encoding="utf-8")) == said(drawn):
            return
        target.write_text(drawn, encoding="utf-8")

    def _run(self, command: str) -> tuple[str, int]:
        """Run a command with a terminal as its output. Return what it wrote there, and its exit status."""
        above, below = pty.openpty()
        size = struct.pack("HHHH", MOST_LINES, self._console.width, 0, 0)
        fcntl.ioctl(below, termios.TIOCSWINSZ, size)
        started = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=below,
            stderr=below,
        )
        os.close(below)
        pieces = []
        # Linux ends the reading with EIO once the command has ended.
        with contextlib.suppress(OSError):
            while piece := os.read(above, 1 << 16):
                pieces.append(piece)
        os.close(above)
        return settled(b"".join(pieces).decode("utf-8", "replace")), started.wait(LONGEST)

    def _without_places(self, output: str) -> str:
        """Name this machine's Python and folders as the page's reader would."""
        home = self.folder.parent
        for place, name in ((f"{BIN}/", ""), (str(self.folder), f"~/{self.folder.name}"), (str(home), "~")):
            output = output.replace(place, name)
        return output


def settled(text: str) -> str:
    """Return what stays on the screen; of a progress bar that is nothing."""
    rows, row = [""], 0
    for part in CONTROLS.split(HIDDEN.sub("", text.replace("\r\n", "\n"))):
        if part == "\n":
            row += 1
            rows += [""] * (row == len(rows))
        elif part.startswith("\x1b[") and part.endswith("A") and len(part) < 6:
            row = max(0, row - int(part[2:-1] or 1))
        elif part in ("\r", "\x1b[2K"):
            rows[row] = ""
        else:
            rows[row] += part
    return "\n".join(rows)


def said(picture: str) -> str:
    """Return the text of a picture without what differs in each run."""
    text = re.sub(r"<style>.*?</style>|<[^>]*>", "\0", picture, flags=re.DOTALL)
    kept = VOLATILE.sub("…", html.unescape(text).replace("\xa0", " "))
    return " ".join(kept.replace("\0", " ").split())
