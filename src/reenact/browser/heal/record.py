"""The heal record: what failed in a step, who helped, by what it was verified. One effect of the recording each.

`heal:record` asks with the step and the rung alone, and is answered by the record: so a replay gives back what was
recorded, and a script that was edited or moved since does not depart from its recording for it.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reenact.core.boundary import perform
from reenact.core.model.event import Effect, Tree

if TYPE_CHECKING:
    from reenact.browser.actions.results import ExecutionResult
    from reenact.browser.heal.mend import Failed, Mend
    from reenact.browser.session.session import Session

Selectors = str | dict[str, Any]
"""As `reenact.browser.page.selectors` reads them: one, or a dict of several."""

AGENT = "agent"
"""The last rung: an agent took over."""

_EVIDENCE = (
    "url", "title", "reason", "why", "closed", "left", "fingerprint", "frames", "consequence",
)  # fmt: skip
_TYPED = frozenset({"value", "values", "secret_value"})


@dataclass(frozen=True, slots=True)
class Heal:
    """One mend of a step, or one agent's takeover. Nothing that was filled in is in it.

    Attributes:
        key: The identity of the script step, the same in every run.
        action: The type of its action: `click`, or `page.click` for a call of `session.page`.
        rung: Who helped: `wait`, `dismiss`, `alternative`, `ask`, `remembered`, `agent`.
        file: The caller's file, absolute; empty where that is not known. With `line` and `function`, where it failed.
        source: The beginning of the SHA-256 of that file as it was then, or empty.
        old: The selector that failed, as the script has it; None where it has none.
        new: Durable selectors of the element that was meant, the best first; None where none is known.
        error: What went wrong, in one line.
        healed: Whether the step, or for an agent the task, was done in the end.
        verified_by: What decided that it was done rightly; empty where nothing did.
        score: How like the element is to the known one, 0 to 1; `margin` is how far ahead of the next one.
        before: The page when the step failed: `url` (without its query) and `title`.
        after: The same when it was mended, and what the rung found: the element's `fingerprint`, `why` that one, what
            was `closed`; and the `consequence` of the mend.
        cost: US dollars for models, or None where a price is not known.
        tokens: Of those models, in and out.
        seconds: What it took.
    """

    key: str
    action: str
    rung: str
    file: str = ""
    line: int = 0
    function: str = ""
    source: str = ""
    old: Selectors | None = None
    new: Selectors | None = None
    error: str = ""
    healed: bool = True
    verified_by: str = ""
    score: float | None = None
    margin: float | None = None
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    cost: Decimal | None = Decimal(0)
    tokens: int = 0
    seconds: float = 0.0

    @property
    def verified(self) -> bool:
        """Whether it was done, and something else than hope says so."""
        return self.healed and bool(self.verified_by)

    @property
    def place(self) -> str:
        """Where in the user's code: `shop.py:12`; empty where that is not known."""
        return f"{self.file}:{self.line}" if self.file else ""

    def to_tree(self) -> dict[str, Tree]:
        """It as plain data."""
        told = asdict(self)
        told["cost"] = None if self.cost is None else str(self.cost)
        return told

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Heal:
        """It again. What a later version added is left out. Raises ValueError where it is no heal record."""
        known = {one.name: tree[one.name] for one in fields(cls) if one.name in tree}
        try:
            price = known.get("cost", "0")
            known["cost"] = None if price is None else Decimal(str(price))
            return cls(**known)
        except (TypeError, InvalidOperation) as error:
            raise ValueError(f"no heal record: {error}") from None


def mended(failed: Failed, mend: Mend, *, seconds: float, tokens: int = 0) -> Heal:
    """The record of a mend."""
    return replace(
        _of(failed),
        rung=mend.rung,
        old=mend.old,
        # Where the script's own selector found it after all there is nothing to learn.
        new=None if mend.same_element else mend.new or None,
        healed=mend.result.success,
        verified_by=mend.verified_by,
        score=mend.score,
        margin=mend.margin,
        before=_evidence(failed.result),
        after=_evidence(mend.result, mend.evidence),
        cost=mend.cost,
        tokens=tokens,
        seconds=round(seconds, 3),
    )


def taken_over(
    failed: Failed,
    *,
    healed: bool,
    url: str = "",
    title: str = "",
    verified_by: str = "",
    cost: Decimal | None = Decimal(0),
    tokens: int = 0,
    seconds: float = 0.0,
) -> Heal:
    """The record of an agent's takeover.

    Args:
        failed: The step at which it was called.
        healed: Whether it did the task.
        url: Where the browser was when it was through.
        title: Of the page there.
        verified_by: What says so besides the agent: the block's `expect`. Its own word is not enough.
        cost: What its model cost, in US dollars; None where that is not known.
        tokens: What it used.
        seconds: What it took.
    """
    return replace(
        _of(failed),
        rung=AGENT,
        healed=healed,
        verified_by=verified_by,
        before=_evidence(failed.result),
        after=_kept({"url": url, "title": title}),
        cost=cost,
        tokens=tokens,
        seconds=round(seconds, 3),
    )


def written(session: Session, heal: Heal) -> Heal:
    """Write a record into the session's recording. Gives what stands there: in a replay what was recorded.

    Where a server has the session, it is written there too. The script is where the program is: only here its hash is
    known.
    """

    def live() -> dict[str, Tree]:
        tree = replace(heal, source=heal.source or digest(heal.file)).to_tree()
        there = session._there
        if there is not None and there.up:
            session._driver.call(functools.partial(there.ask, "POST", "page/heal", tree))
        return tree

    with session._crossing.inside():
        asked = Effect("heal", "record", {"step": heal.key, "rung": heal.rung}, leaf=True)
        return Heal.from_tree(perform(asked, live))


def digest(file: str, data: bytes | None = None) -> str:
    """The beginning of a source file's SHA-256; empty where it cannot be read."""
    try:
        return hashlib.sha256(Path(file).read_bytes() if data is None else data).hexdigest()[:16]
    except (OSError, ValueError):
        return ""


def _of(failed: Failed) -> Heal:
    """What is known of the step alone."""
    place = failed.place
    action = failed.action
    return Heal(
        key=failed.key,
        action=str(action.get("type") or ""),
        rung="",
        file="" if place is None else _absolute(place.file),
        line=0 if place is None else place.line,
        function="" if place is None else place.function,
        old=action.get("selector"),
        error=_one_line(failed.result.message),
    )


def _absolute(file: str) -> str:
    """A file's path; what is no file (a notebook's cell, `<stdin>`) is called as it is."""
    return file if file.startswith("<") else str(Path(file).absolute())


def _evidence(result: ExecutionResult, found: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The page after an action, with what a rung found there: about the element it may say more under `after`."""
    more = dict(found or {})
    return _kept({"url": result.url, "title": result.title, **more, **(more.pop("after", None) or {})})


def _kept(told: Mapping[str, Any]) -> dict[str, Any]:
    """Of what is known of a page only what a record has room for: never what somebody typed there."""
    found = {name: told[name] for name in _EVIDENCE if told.get(name)}
    if "url" in found:
        found["url"] = _bare(str(found["url"]))
    if isinstance(found.get("fingerprint"), Mapping):
        found["fingerprint"] = {
            name: value for name, value in found["fingerprint"].items() if name not in _TYPED
        }
    return found


def _bare(url: str) -> str:
    """An address without its query and fragment, and without who logs in: tokens travel there."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        return url.partition("?")[0].partition("#")[0] if parts.scheme != "data" else "data:…"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _one_line(text: str) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= 300 else line[:299] + "…"
