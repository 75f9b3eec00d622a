"""The heal record: failed step, rung and verification; one effect for each heal.

The arguments of `heal:record` are only the step and the rung; the record is its outcome. So a replay returns the
recorded one, and a script that was edited or moved since does not diverge because of it.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from reenact.browser.page.target import TargetIdentity
from reenact.core.boundary import perform
from reenact.core.model.event import Effect, Tree
from reenact.core.web_address import split_address

if TYPE_CHECKING:
    from reenact.browser.actions.results import ExecutionResult
    from reenact.browser.heal.mend import FailedStep, Mend, RungRefusal
    from reenact.browser.session.session import Session

Selectors = str | dict[str, Any]
"""Selectors as `reenact.browser.page.selectors` reads them: one, or a dict of several."""

AGENT = "agent"
"""The last rung: an agent took over."""

STOP = "stop"
"""No rung: all of them refused."""

_EVIDENCE = (
    "url", "title", "reason", "why", "closed", "left", "fingerprint", "frames", "consequence", "meant", "found",
    "differs", "also", "identity", "refused",
)  # fmt: skip
_TYPED = frozenset({"value", "values", "secret_value"})


@dataclass(frozen=True, slots=True)
class HealRecord:
    """One mend of a step, or one agent's takeover. It contains no filled-in values.

    Attributes:
        key: The identity of the script step, the same in every run.
        action: The type of its action: `click`, or `page.click` for a call of `session.page`.
        rung: The rung: `wait`, `dismiss`, `alternative`, `ask`, `remembered`, `agent`; or `stop` for none.
        file: The caller's file, absolute, or empty. With `line` and `function`, the place of the failure.
        source: The beginning of that file's SHA-256 at the time, or empty.
        old: The selector that failed, as the script has it, or None.
        new: Durable selectors of the intended element, the best first, or None.
        error: The failure, in one line.
        healed: True if the step, or for an agent the task, was done in the end.
        verified_by: The check that verified it, or empty.
        score: The likeness of the element to the known one, 0 to 1; `margin` is its lead over the next one.
        before: The page at the failure: `url` (without its query) and `title`.
        after: The same after the mend, and the rung's findings: the element's `fingerprint`, the reason `why`, the
            `closed` layers; and the `consequence` of the mend.
        cost: US dollars for models, or None where a price is unknown.
        tokens: Tokens of those models, in and out.
        seconds: The duration.
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
        """True if the step was done and a check verified it."""
        return self.healed and bool(self.verified_by)

    @property
    def place(self) -> str:
        """Place in the user's code, such as `shop.py:12`; empty if unknown."""
        return f"{self.file}:{self.line}" if self.file else ""

    def to_tree(self) -> dict[str, Tree]:
        """Return the record as plain data."""
        tree = asdict(self)
        tree["cost"] = None if self.cost is None else str(self.cost)
        return tree

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> HealRecord:
        """Build a record from plain data. Ignores fields of later versions. Raises ValueError."""
        known = {one.name: tree[one.name] for one in fields(cls) if one.name in tree}
        try:
            return _adapter().validate_python(known)
        except ValidationError as error:
            raise ValueError(f"no heal record: {error.errors()[0]['msg']}") from None


@functools.cache
def _adapter() -> TypeAdapter[HealRecord]:
    return TypeAdapter(HealRecord)


def mended(failed: FailedStep, mend: Mend, *, seconds: float) -> HealRecord:
    """Return the record of a mend."""
    return replace(
        _of(failed),
        rung=mend.rung,
        old=mend.old,
        # If the script's own selector found the element after all, nothing was learned.
        new=None if mend.same_element else mend.new or None,
        healed=mend.result.success,
        verified_by=mend.verified_by,
        score=mend.score,
        margin=mend.margin,
        before=_evidence(failed.result),
        after=_evidence(mend.result, mend.evidence),
        cost=mend.cost,
        seconds=round(seconds, 3),
    )


def stopped(failed: FailedStep, refusals: Sequence[RungRefusal], *, seconds: float) -> HealRecord:
    """Return the record of a stop; `after.refused` has each rung's candidate and reason."""
    return replace(
        _of(failed),
        rung=STOP,
        healed=False,
        before=_evidence(failed.result),
        after={"refused": [asdict(one) for one in refusals]},
        seconds=round(seconds, 3),
    )


def taken_over(
    failed: FailedStep,
    *,
    healed: bool,
    url: str = "",
    verified_by: str = "",
    cost: Decimal | None = Decimal(0),
    tokens: int = 0,
    seconds: float = 0.0,
) -> HealRecord:
    """Return the record of an agent's takeover.

    Args:
        failed: The step at which it was called.
        healed: True if it did the task.
        url: The address of the page at the end.
        verified_by: The check of the block's `expect`: the agent's own report is not enough.
        cost: Cost of its model in US dollars; None where unknown.
        tokens: The tokens it used.
        seconds: The duration.
    """
    return replace(
        _of(failed),
        rung=AGENT,
        healed=healed,
        verified_by=verified_by,
        before=_evidence(failed.result),
        after=_kept({"url": url}),
        cost=cost,
        tokens=tokens,
        seconds=round(seconds, 3),
    )


def written(session: Session, heal: HealRecord) -> HealRecord:
    """Write a record into the session's recording and return it; in a replay, the recorded one.

    For a session on a server, it is written there, too; the script's hash is computed here, where the file is.
    """

    def live() -> dict[str, Tree]:
        tree = replace(heal, source=heal.source or digest(heal.file)).to_tree()
        there = session.core.remote
        if there is not None and there.up:
            session.core.driver.call(functools.partial(there.ask, "POST", "page/heal", tree)).block()
        return tree

    with session.core.recording.inside():
        asked = Effect("heal", "record", {"step": heal.key, "rung": heal.rung}, leaf=True)
        return HealRecord.from_tree(perform(asked, live))


def digest(file: str, data: bytes | None = None) -> str:
    """Return the beginning of a source file's SHA-256; empty if it cannot be read."""
    try:
        return hashlib.sha256(Path(file).read_bytes() if data is None else data).hexdigest()[:16]
    except (OSError, ValueError):
        return ""


def _of(failed: FailedStep) -> HealRecord:
    """Return a record with only the facts of the step."""
    place = failed.place
    action = failed.action
    return HealRecord(
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
    """Return a file's absolute path.

    A name that is no file (a notebook's cell, `<stdin>`) is returned unchanged.
    """
    return file if file.startswith("<") else str(Path(file).absolute())


def _evidence(result: ExecutionResult, found: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the page after an action with a rung's findings.

    The findings may hold more facts of the element under `after`.
    """
    more = dict(found or {})
    drifted: Mapping[str, Any] = result.why or {}
    evidence: dict[str, Any] = {
        name: drifted[name] for name in ("meant", "found", "also", "differs") if name in drifted
    }
    kept = _kept(
        {"url": result.url, "title": result.title, **evidence, **more, **(more.pop("after", None) or {})}
    )
    if "fingerprint" in kept:
        kept["identity"] = TargetIdentity.of(kept["fingerprint"]).shown
    return kept


def _kept(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a page that a record keeps: few, short, and never typed values."""
    found = {name: facts[name] for name in _EVIDENCE if facts.get(name)}
    if "url" in found:
        found["url"] = _bare(str(found["url"]))
    if isinstance(found.get("fingerprint"), Mapping):
        found["fingerprint"] = {
            name: value for name, value in found["fingerprint"].items() if name not in _TYPED
        }
    return found


def _bare(url: str) -> str:
    """Return an address without query, fragment and user name, because these may carry tokens."""
    parts = split_address(url)
    if parts.scheme not in {"http", "https"}:
        return url.partition("?")[0].partition("#")[0] if parts.scheme != "data" else "data:…"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _one_line(text: str) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= 300 else line[:299] + "…"
