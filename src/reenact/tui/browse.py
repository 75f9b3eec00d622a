"""The browser of all recordings (`reenact browse`): a list with search and actions.

Slow work (the index, a search, a long transcript) runs in threads; an outdated result is dropped.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events, work
from textual.actions import SkipAction
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from reenact.analysis.views.text import many, numbers, one_line, size, visible
from reenact.core.query.filter import Filter
from reenact.core.query.sorting import order_of, ordered
from reenact.core.store import bundle, shared
from reenact.core.store.base import Hit
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.core.store.shared import Parentage
from reenact.core.trust import Book
from reenact.errors import FilterError, ReenactError
from reenact.tui.rows import SORTED, Rows, arranged, tags_of
from reenact.tui.transcript_screen import TranscriptScreen
from reenact.verbs.export_html import packed
from reenact.verbs.interface import Context

Told = Callable[[str, int], str]
"""Render a recording as a conversation of a given width, in colours.

Raises ReenactError.
"""

_Keys = tuple[tuple[str, str, str], ...]

_ON_ONE: _Keys = (
    ("r", "command('replay')", "replay"), ("d", "command('debug')", "debug"), ("e", "export", "export"),
)  # fmt: skip
_KEYS: _Keys = (
    ("Enter", "open", "open"), *_ON_ONE, ("/", "search", "search"), ("s", "sort", "sort"),
    ("t", "tree", "tree"), ("R", "reload", "reload"), ("q", "leave", "quit"),
)  # fmt: skip
_READING: _Keys = (*_ON_ONE, ("/", "search", "search"), ("q", "leave", "back"))

_PAUSE = 0.15
"""Seconds without typing until the search begins."""


class Browser(App[None]):
    """The application.

    Args:
        store: The recordings.
        told: Renders a recording.
        filter: The first search.
    """

    CSS_PATH = "browse.tcss"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = "Rows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "command('replay')", show=False),
        Binding("d", "command('debug')", show=False),
        Binding("e", "export", show=False),
        # Handled before the list gets it, so that text typed right after it is not taken for the list's keys.
        Binding("slash", "search", show=False, priority=True),
        Binding("s", "sort", show=False),
        Binding("S", "reverse", show=False),
        Binding("t", "tree", show=False),
        Binding("R", "reload", show=False),
        Binding("q", "leave", show=False),
        Binding("escape", "leave_search", show=False, priority=True),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(self, store: LocalStore, told: Told, filter: str = "") -> None:
        super().__init__()
        self.store = store
        self.rows = Rows()
        self.hits: list[Hit] = []
        self.below = True
        self.sort = "when"
        self._told = told
        self._filter = filter
        self._search = Input(id="search", compact=True, select_on_focus=False)
        self._search.placeholder = (
            '/ a filter: tool:cancel_order and error, tag:prod, tokens > 4000, "some text"'
        )
        self._origins: dict[str, Parentage] = {}
        self._all = 0
        self._asked = 0
        self._said = Text()

    def compose(self) -> ComposeResult:
        """Yield the widgets."""
        yield Static(id="head")
        yield self._search
        yield Static(id="titles")
        yield self.rows
        yield Static(id="about")
        yield Static(id="said")
        yield Static(_bar(_KEYS), id="bar")

    def on_mount(self) -> None:
        """Read the recordings."""
        with self.prevent(Input.Changed):
            self._search.value = self._filter
        self.say("reading …", "dim")
        self.look()

    def on_resize(self, event: events.Resize) -> None:
        """Show the columns for which there is room, and render an open recording for the new width."""
        self._title(event.size.width)
        if isinstance(self.screen, TranscriptScreen):
            # A window that is being dragged is rendered once it is at rest.
            self.set_timer(_PAUSE, partial(self._reopen, event.size.width))

    def _title(self, width: int) -> None:
        self.screen_stack[0].query_one("#titles", Static).update(self.rows.titles(width - 1, self.sort))

    def say(self, text: str = "", style: str = "bold red") -> None:
        """Show the result of an action, or its failure, in a line."""
        self._said = Text(one_line(text), style)
        self.screen_stack[0].query_one("#said", Static).update(self._said)

    @property
    def said(self) -> str:
        """The line with the last result or failure."""
        return self._said.plain

    # -- looking for -----------------------------------------------------------------------------------------

    def look(self) -> bool:
        """Search for the text of the search line.

        For an invalid filter, show the error, keep the list, and return False.
        """
        try:
            wanted = Filter(self._search.value)
        except FilterError as error:
            self.say(_first(error))
            return False
        self._asked += 1
        self._look(wanted, self._asked)
        return True

    @work(thread=True)
    def _look(self, wanted: Filter, asked: int) -> None:
        index = Index(self.store)
        try:
            lines = index.summaries(lambda done, total: self._count(done, total, asked))
            hits = list(index.search(wanted)) if wanted.text.strip() else [Hit(line) for line in lines]
            hint = "" if hits else wanted.unmatched(index.kinds())
            self.call_from_thread(self._found, asked, len(lines), hits, hint)
            origins = shared.origins(self.store.recordings, [hit.summary.id for hit in hits])
        except (ReenactError, OSError) as error:
            self.call_from_thread(self.say, _first(error))
            return
        finally:
            index.close()
        self.call_from_thread(self._related, asked, origins)

    def _count(self, done: int, total: int, asked: int) -> None:
        if done % 50 == 0 and asked == self._asked:
            self.call_from_thread(self.say, f"reading new recordings: {done} of {total}", "dim")

    def _found(self, asked: int, all: int, hits: list[Hit], hint: str) -> None:
        if asked != self._asked:
            return
        self._all, self.hits = all, hits
        self._arrange()
        count = f"{len(hits):,} of " if self._search.value.strip() else ""
        count += f"{many(all, 'recording')}  "
        head = Text.assemble((" reenact ", "bold"), count, (str(self.store.root), "dim"))
        self.query_one("#head", Static).update(head)
        if not all:
            self.say(
                f"no recordings in {self.store.root}; `reenact record -- python agent.py` makes one", "yellow"
            )
        elif not hits:
            self.say(f"no recordings match; Esc shows all again{f'; {hint}' if hint else ''}", "yellow")
        else:
            self.say()

    def _related(self, asked: int, origins: dict[str, Parentage]) -> None:
        if asked == self._asked and origins != self._origins:
            self._origins = origins
            self._arrange()

    def _arrange(self) -> None:
        sort = order_of(self.sort) or "started"
        hits = self.hits if sort == "started" else ordered(self.hits, sort, lambda hit: hit.summary)
        self.rows.show(arranged(hits, self._origins, tree=self.below, book=Book(self.store.root)))
        self._title(self.size.width)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search after a pause in typing."""
        text = event.value
        # The screen may be closed when the timer fires.
        self.set_timer(
            _PAUSE, lambda: self.look() if self.is_running and self._search.value == text else None
        )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search at once, and go back to the list if the filter is valid."""
        if self.look():
            self.screen.set_focus(self.rows)

    def action_search(self) -> None:
        """Go to the search line; within it, type the letter."""
        if self.focused is self._search:
            raise SkipAction
        if isinstance(self.screen, TranscriptScreen):
            _ = self.pop_screen()
        # Focus at once, because the next key already belongs to the search line.
        self.screen_stack[0].set_focus(self._search)

    def action_leave_search(self) -> None:
        """Go back to the list, or show all recordings again."""
        if isinstance(self.screen, TranscriptScreen):
            _ = self.pop_screen()
        elif self.focused is self._search:
            self.screen.set_focus(self.rows)
        elif self._search.value:
            self._search.value = ""

    # -- one recording ---------------------------------------------------------------------------------------

    def on_rows_highlighted(self) -> None:
        """Show details of the recording under the cursor."""
        row, about = self.rows.current, Text()
        if row is not None:
            line = row.line
            parts = [
                Text(visible(line.id), "yellow"),
                Text(
                    f"{row.origin.how or 'child'} of {row.origin.id}" if row.origin is not None else "",
                    "cyan",
                ),
                Text(row.mark, "yellow"),
                Text(f"found in {numbers(row.hit.steps)}" if row.hit.steps else "", "cyan"),
                Text(one_line(line.broken or line.problem), "red"),
                Text(one_line(", ".join(line.models))),
                Text(tags_of(line), "magenta"),
                Text("imported" if line.entry == "imported" else "", "dim"),
            ]
            about = Text("  ").join(part for part in parts if part.plain)
        self.screen_stack[0].query_one("#about", Static).update(about)

    def on_rows_opened(self) -> None:
        """Open the recording under the cursor."""
        self.action_open()

    def action_open(self) -> None:
        """Read the recording under the cursor."""
        row = self.rows.current
        if row is not None and not isinstance(self.screen, TranscriptScreen):
            self.say("reading …", "dim")
            self._open(row.line.id, self._room)

    def _reopen(self, width: int) -> None:
        if not self.is_running or width != self.size.width:
            return
        screen = self.screen
        if isinstance(screen, TranscriptScreen) and screen.width != self._room:
            screen.width = self._room
            self._open(screen.recording, self._room)

    @property
    def _room(self) -> int:
        """The width of an open recording, in columns."""
        return max(self.size.width - 3, 40)

    @work(thread=True, exclusive=True, group="open")
    def _open(self, id: str, width: int) -> None:
        try:
            told = self._told(id, width)
        except (ReenactError, OSError) as error:
            self.call_from_thread(self.say, _first(error))
            return
        self.call_from_thread(self._opened, id, width, told)

    def _opened(self, id: str, width: int, told: str) -> None:
        self.say()
        screen = self.screen
        if not isinstance(screen, TranscriptScreen):
            _ = self.push_screen(TranscriptScreen(id, width, told, _bar(_READING)))
        elif (screen.recording, screen.width) == (id, width):
            screen.show(told)

    def action_command(self, verb: str) -> None:
        """Run a command on the selected recording, with the whole terminal; then return."""
        row = self.rows.current
        if row is None:
            return
        environ = {**os.environ, "REENACT_HOME": str(self.store.root)}
        try:
            with self.suspend():
                done = subprocess.run(  # noqa: S603 - our own command
                    [sys.executable, "-m", "reenact", verb, row.line.id], env=environ, check=False
                )
                if verb != "debug" or done.returncode:
                    _wait(
                        f"reenact {verb} {row.line.id} ended with status {done.returncode}; Enter goes back "
                    )
        except SuspendNotSupported:
            self.say(f"this terminal cannot be given away; run: reenact {verb} {row.line.id}")
            return
        self.refresh(layout=True)
        self.say(
            f"{verb} {row.line.id} ended with status {done.returncode}",
            "dim" if not done.returncode else "yellow",
        )
        self.look()

    def action_export(self) -> None:
        """Write the recording under the cursor to a file of this folder."""
        row = self.rows.current
        if row is None:
            return
        try:
            page = partial(packed, context=Context(self.store.root), frames=True)
            target = bundle.export(self.store, row.line.id, Path(), page=page)
        except (ReenactError, OSError) as error:
            self.say(_first(error))
        else:
            self.say(f"exported to {target} ({size(target.stat().st_size)})", "green")

    def action_tree(self) -> None:
        """Show forks below their parents, or all recordings by time."""
        self.below = not self.below
        self._arrange()
        self.say("forks below their parents" if self.below else "all by their time", "dim")

    def action_sort(self) -> None:
        """Sort by the next column."""
        place = SORTED.index(self.sort.removeprefix("-"))
        self._sort_by(SORTED[(place + 1) % len(SORTED)])

    def action_reverse(self) -> None:
        """Reverse the order."""
        self._sort_by(self.sort[1:] if self.sort.startswith("-") else f"-{self.sort}")

    def _sort_by(self, sort: str) -> None:
        self.sort = sort
        self._arrange()
        self.rows.go_to(0)
        column = sort.removeprefix("-")
        self.say(f"sorted by {column}{', reversed' if sort != column else ''}; S reverses", "dim")

    def action_reload(self) -> None:
        """Read the recordings again."""
        self.say("reading …", "dim")
        self.look()

    def action_leave(self) -> None:
        """Go back to the list, or leave."""
        if isinstance(self.screen, TranscriptScreen):
            _ = self.pop_screen()
        else:
            self.exit()


def _bar(keys: _Keys) -> str:
    return " ".join(f"[b $accent]{key}[/][@click=app.{action}] {word}[/]" for key, action, word in keys)


def _first(error: Exception) -> str:
    """Return an error's first line; that of a filter's error contains the column."""
    return (str(error) or type(error).__name__).splitlines()[0]


def _wait(text: str) -> None:
    try:
        input(text)
    except (EOFError, KeyboardInterrupt):
        return


def browse(store: LocalStore, told: Told, filter: str = "") -> None:
    """Browse on this terminal until the user leaves.

    Args:
        store: The recordings.
        told: Renders a recording.
        filter: The first search.
    """
    Browser(store, told, filter).run()
