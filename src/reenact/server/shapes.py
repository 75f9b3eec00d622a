"""What the reading routes answer with, as types: the console's own are made from these."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Json = Any
"""A recorded value: whatever JSON the program had there."""

Status = Literal["ok", "error", "stopped", "unsealed", "broken"]
Severity = Literal["error", "warning", "info"]
Ended = Literal["ok", "error", "cancelled", "in flight"]


class Shape(BaseModel):
    """An answer; nothing is in it that is not said here."""

    model_config = ConfigDict(extra="forbid")


class Tokens(Shape):
    """Tokens of model calls, as their providers counted them."""

    input: int
    output: int


class Origin(Shape):
    """The recording that another one was made from: at which step, and how (`fork`, `resume`)."""

    id: str
    step: int | None
    how: str


class Line(Shape):
    """A recording as a list has it.

    `problem` says why a run failed, or why the recording cannot be read (then its status is `broken`). `anomalies` is
    how many findings there are, null until somebody has looked. `live`: its program still writes it.
    """

    id: str
    name: str
    status: Status
    problem: str | None
    started: str | None
    duration: float
    steps: int
    failed_steps: int
    models: list[str]
    tokens: Tokens
    cost: float | None
    tags: list[str]
    imported: bool
    parent: Origin | None
    anomalies: int | None
    found_in: list[int]
    sessions: int
    live: bool


class Indexing(Shape):
    """How far the reading of new recordings has come; both are 0 where there is nothing to read."""

    done: int
    total: int


class Recordings(Shape):
    """A page of the list.

    `total` is how many the filter means, as far as the search has come where it is not `complete`. `version` grows with
    every change of any recording.
    """

    items: list[Line]
    total: int
    complete: bool
    offset: int
    version: int
    indexing: Indexing


class FacetValue(Shape):
    """One value of a facet, how many recordings have it, and the filter that adds it."""

    value: str
    count: int
    filter: str


class Facets(Shape):
    """What the recordings that a filter means have in common; of each the most frequent values."""

    agent: list[FacetValue]
    status: list[FacetValue]
    model: list[FacetValue]
    tag: list[FacetValue]
    anomaly: list[FacetValue]
    cost: list[FacetValue]
    total: int
    complete: bool


class Bucket(Shape):
    """One hour or day, from `at` (ISO 8601, UTC) on. `p50` and `p95` are of the runs' durations, in seconds."""

    at: str
    recordings: int
    failed: int
    tokens: int
    cost: float
    p50: float
    p95: float


class Trends(Shape):
    """Recordings over time, the oldest first; an hour or day without any is left out."""

    by: Literal["hour", "day"]
    buckets: list[Bucket]
    complete: bool


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


class Row(Shape):
    """A step as a line of a table.

    `began` is in seconds since the recording began, `duration` null while no answer has come. `within` is the step that
    it is inside of, `depth` how many those are. `anomalies` are the rules that found something, null until known.
    """

    step: int
    kind: str
    name: str
    model_name: str | None
    status: Ended
    began: float
    duration: float | None
    depth: int
    within: int | None
    scope: str
    process: str
    error: str | None
    summary: str
    tokens: Tokens | None
    cost: float | None
    chunks: int
    edited: bool
    anomalies: list[str] | None


class Rows(Shape):
    """A page of steps; `total` is how many the filter means."""

    items: list[Row]
    total: int


class Call(Shape):
    """A tool that a model asks for."""

    name: str
    args: Json
    id: str | None


class Message(Shape):
    """One message of a conversation; of what it has not there is nothing."""

    role: str
    text: str
    calls: list[Call] = []
    name: str = ""
    id: str = ""
    thinking: str = ""


class Usage(Shape):
    """A model call's tokens, as its provider counted them."""

    input: int
    output: int
    cached: int
    written: int
    heard: int
    spoken: int
    heard_cached: int


class Embedded(Shape):
    """What a call for embeddings made."""

    inputs: int
    vectors: int
    dimension: int


class ModelCall(Shape):
    """A step as a model call: what is new in it, and how many messages were sent before."""

    model: str
    new_messages: list[Message]
    known_messages: int
    answer: Message | None
    tokens: Usage | None
    cost: float | None
    problem: str | None
    embedded: Embedded | None


class Changed(Shape):
    """What a prompt has that the one before it had not, and the other way round; the answer in between is not new."""

    added: list[Message]
    removed: list[Message]
    from_step: int


class Value(Shape):
    """A tracked value: as of which step it is known, whether it is exactly that of the step, and who looked."""

    value: Json
    why: str
    as_of_step: int | None
    exact: bool
    label: str | None


class StateChange(Shape):
    """A part of the state that differs; of a side that has nothing there the key is missing."""

    path: str
    before: Json = None
    after: Json = None


class StepShape(Row):
    """One step whole.

    `changed` is null for what is no model call and for the first of its scope. `state` is that of the moment when the
    step was asked, `state_changes` what differs from the step before. `events` are its lines as they are stored.
    """

    address: str
    args: dict[str, Json]
    output: Json
    model: ModelCall | None
    changed: Changed | None
    nested: list[Row]
    state: dict[str, Value]
    state_changes: list[StateChange]
    events: list[str]
    blobs: list[str]


class Messages(Shape):
    """All messages that a model saw in a step, the newest last, those from `new` on for the first time."""

    items: list[Message]
    new: int


class Item(Shape):
    """Something that was said or done.

    `part` is `asked` (a message that is new in a model call), `answer` (what the model said), or `done` (a tool or
    another effect, with its arguments and what it gave as `text`). `more` is how many characters of a very long text
    are left out; the step has them. `dropped` is how many earlier messages the program left out of its history.
    """

    step: int
    kind: str
    depth: int
    process: str
    part: Literal["asked", "answer", "done"]
    role: str
    text: str
    more: int = 0
    thinking: str = ""
    name: str = ""
    calls: list[Call] = []
    args: dict[str, Json] | None = None
    model: str | None = None
    dropped: int = 0
    error: str | None = None
    status: Ended | None = None
    duration: float | None = None
    tokens: Tokens | None = None
    cost: float | None = None
    edited: bool = False


class Conversation(Shape):
    """The items of a page of steps; `total` is how many steps there are."""

    items: list[Item]
    total: int


class Lane(Shape):
    """A lane of the timeline."""

    scope: str
    label: str
    process: str


Bar = tuple[int, int, float, float | None, str, Ended]


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


class Difference(Shape):
    """A part that differs. Of a side that has nothing there the key is missing; `words` where both are texts."""

    path: str
    who: str = ""
    a: Json = None
    b: Json = None
    words: list[tuple[Literal["=", "-", "+"], str]] | None = None


class Side(Shape):
    """One of two runs that are compared."""

    id: str
    name: str
    status: Status
    started: str | None
    tags: list[str]
    steps: int
    failed_steps: int
    models: list[str]
    duration: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None


class PairStep(Shape):
    """One side of a pair."""

    step: int
    kind: str
    name: str
    address: str
    status: Ended
    duration: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


class Pair(Shape):
    """Two steps that belong together, or one that has no counterpart."""

    kind: Literal["same", "changed", "inserted", "deleted", "moved"]
    a: PairStep | None
    b: PairStep | None
    carried: bool
    differences: list[Difference]


class Parting(Shape):
    """Where two runs part first: the steps, why, and the place among the pairs."""

    a: int | None
    b: int | None
    why: str
    pair: int


class Counts(Shape):
    """How many pairs there are of each kind."""

    same: int
    changed: int
    inserted: int
    deleted: int
    moved: int


class Diff(Shape):
    """Two recordings compared, as `reenact diff --json` says it."""

    same: bool
    a: Side
    b: Side
    counts: Counts
    shared: int
    parting: Parting | None
    ending: list[Difference]
    program: list[Difference]
    ignored: list[str]
    pairs: list[Pair]


class LastHeal(Shape):
    """Where a step of a script was helped last."""

    recording: str
    step: int
    started: str


class Story(Shape):
    """One step of a script over all runs: in how many it ran, in how many it needed help, who helped how often."""

    key: str
    file: str | None
    line: int | None
    function: str | None
    action: str
    selector: Json
    ran: int | None
    helped: int
    rungs: dict[str, int]
    state: Literal["mended", "verified", "unverified", "failed"]
    verified: bool
    runs_since: int
    last: LastHeal


class Heals(Shape):
    """The steps of scripts that needed help, the last one first."""

    items: list[Story]


class Heal(Shape):
    """One heal, and where it is recorded."""

    recording: str
    step: int
    started: str
    verified: bool
    key: str
    action: str
    rung: str
    file: str
    line: int
    function: str
    source: str
    old: Json
    new: Json
    error: str
    healed: bool
    verified_by: str
    score: float | None
    margin: float | None
    before: dict[str, Json]
    after: dict[str, Json]
    cost: str | None
    tokens: int
    seconds: float


class HealRuns(Shape):
    """Each heal by itself, the newest first."""

    items: list[Heal]


class Patch(Shape):
    """What was learned about one script, as a unified diff; `readable` is false where the script is not here.

    `mark` names this patch where it is to be applied; `refusal` says why it cannot be applied from here, if that is so.
    """

    file: str
    patch: str
    readable: bool
    mark: str
    refusal: str | None


class Applied(Shape):
    """A script that was changed: how many of its selectors, and how its old text is kept."""

    file: str
    changed: int
    kept: str


class State(Shape):
    """The declared state at a step, null for the end; `changes` against the step that was asked for."""

    step: int | None
    state: dict[str, Value]
    changes: list[StateChange]
