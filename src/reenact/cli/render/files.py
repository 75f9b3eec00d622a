"""The output of `reenact files`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from reenact.analysis.views.file_tree import FileDifferencesView, FileDifferenceView, FileView, root_of
from reenact.analysis.views.text import count, many, one_line
from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.cli.transcript import TextPage
from reenact.core import system
from reenact.verbs.files import Options, Result

_MARKS = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red"), "same": (" ", "dim")}


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print each file with its change and size, or the number of restored ones."""
    if context.json:
        return
    view = result.view
    if result.out is not None:
        kept = sum(1 for file in view.files if file.change != "removed" and file.kind != "folder")
        say(f"restored {many(kept - len(result.missing), 'file')} into {result.out}")
        for path in result.missing:
            say(f"not kept, so not restored: {one_line(str(path))}")
        return
    page = TextPage(present.out(), full=True)
    for root in view.roots:
        _root(page, root, view.roots, view.files)
    if not view.files:
        on_windows = "" if system.FILES else " (files are not recorded on Windows)"
        say(f"no files: the program used none in its folders, or their recording was off{on_windows}")


def tell_differences(page: TextPage, view: FileDifferencesView, ref: str) -> None:
    """Print what a step changed in files; `ref` names the recording in a command."""
    tell_files(page, view.files)
    if not view.files:
        say(f"{'the run' if view.step is None else f'step {view.step}'} changed no files")
    if view.left_out:
        say(f"… and {many(view.left_out, 'more file')}; `reenact files {ref}` lists all")


def tell_files(page: TextPage, files: Sequence[FileDifferenceView]) -> None:
    """Print the differences of files."""
    for file in files:
        mark, style = _MARKS[file.change]
        page.line(Text(one_line(f"{mark} {file.path}"), f"bold {style}"))
        for line in file.lines:
            page.line(Text(one_line(line, 400), {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")), 2)
        if file.left_out:
            page.line(Text(f"… {file.left_out} more lines", "dim"), 2)


def _root(page: TextPage, root: str, roots: Sequence[str], files: Sequence[FileView]) -> None:
    paths = [Path(each) for each in roots]
    inside = [file for file in files if str(root_of(Path(file.path), paths)) == root]
    if inside:
        page.line(Text(one_line(root), "bold"))
    for file in inside:
        mark, style = _MARKS[file.change]
        what = "" if file.kind == "folder" else count(file.size)
        name = str(Path(file.path).relative_to(root)) + ("/" if file.kind == "folder" else "")
        more = (
            f" -> {file.target}" if file.kind == "link" else f"  ({file.why}: not kept)" if file.why else ""
        )
        page.line(Text(f"{mark} {what:>9}  {one_line(name + more)}", style))
