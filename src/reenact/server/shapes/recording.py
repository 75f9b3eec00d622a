"""The types of one recording, its files, exports and deletion."""

from __future__ import annotations

from reenact.server.shapes.base import Ended, Json, Severity, Shape
from reenact.server.shapes.listing import Line

Bar = tuple[int, int, float, float | None, str, Ended]


class Session(Shape):
    """A browser session of a recording."""

    number: int


class Process(Shape):
    """A process that took part: its place in the tree, and the number of its events' file."""

    name: str
    file: str
    pid: int | None
    offset: float
    steps: int
    events: int


class Whole(Line):
    """A recording: its line, and what it says of itself."""

    header: dict[str, Json]
    program: Json
    source: Json
    notes: list[str]
    output: Json
    torn: bool
    processes: list[Process]
    browser_sessions: list[Session]


class Lane(Shape):
    """A lane of the timeline."""

    scope: str
    label: str
    process: str


class Lanes(Shape):
    """The timeline: lanes, and bars as `[step, lane, began, duration, kind, status]`."""

    lanes: list[Lane]
    bars: list[Bar]
    duration: float


class Events(Shape):
    """Lines of a process's events as they are stored, from number `first` on; `total` is how many there are."""

    process: str
    first: int
    items: list[str]
    total: int


class Finding(Shape):
    """Something odd: which rule says so, at which step (null: the run as a whole), and what it rests on."""

    rule: str
    severity: Severity
    step: int | None
    sentence: str
    evidence: str
    others: list[int]
    weight: float


class Findings(Shape):
    """What is odd about a recording, the most suspect step first; `problem` where it cannot be examined.

    A very long recording is examined in the background: it is not `complete` until then, and its line on `/live` says
    when it is.
    """

    items: list[Finding]
    problem: str | None
    complete: bool


class Found(Shape):
    """The steps that a filter means."""

    steps: list[int]


class Export(Shape):
    """A signed address of the exported file, and when it expires (ISO 8601, UTC)."""

    url: str
    expires_at: str


class Imported(Shape):
    """The recording that was brought in."""

    id: str


class Deleted(Shape):
    """The recording that is gone."""

    id: str
