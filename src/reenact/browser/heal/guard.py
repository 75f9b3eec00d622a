"""Replace a session's own calls while a block lasts, on that session alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.browser.heal.block import AgentFallback
    from reenact.browser.session.session import Session

_CALLS = ("execute", "aexecute", "scrape", "ascrape")


class CallGuard:
    """Replaces a session's calls by a block's, and restores them.

    Attributes:
        execute: The session's own call, while the guard is up; so are `aexecute`, `scrape` and `ascrape`.
    """

    execute: Any
    aexecute: Any
    scrape: Any
    ascrape: Any

    def __init__(self, session: Session, block: AgentFallback) -> None:
        self._session = session
        self._block = block
        self._before: dict[str, Any] = {}

    def put(self) -> None:
        """Send the session's steps to the block from here on.

        Raises UsageError within another block.
        """
        session, block = self._session, self._block
        other = getattr(session.execute, "__self__", None)
        if type(other) is type(block):
            raise UsageError(
                f"this session is within an AgentFallback already, {other.task!r}: let one block end before the next "
                "begins"
            )
        mine = vars(session)
        self._before = {name: mine[name] for name in _CALLS if name in mine}
        for name in _CALLS:
            setattr(self, name, getattr(session, name))
            mine[name] = getattr(block, name)
        session._watchers.append(block.page_failed)
        session._skips.append(block.page_skipped)

    def remove(self) -> None:
        """Restore the session's own calls. Harmless if none were replaced."""
        session, block = self._session, self._block
        for name in _CALLS:
            if getattr(vars(session).get(name), "__self__", None) is block:
                del vars(session)[name]
        vars(session).update(self._before)
        self._before = {}
        if block.page_failed in session._watchers:
            session._watchers.remove(block.page_failed)
            session._skips.remove(block.page_skipped)
