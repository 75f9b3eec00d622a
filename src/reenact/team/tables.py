"""The present tables. The migrations that lead to them are in `versions`.

    projects     the names of projects
    limits       the most bytes and recordings of a project, and the seconds for which they are kept
    holds        filters; recordings that match one are not deleted
    tombstones   deleted recordings with their receipts; recordings of these ids are refused
    project_keys the key pair with which a project endorses recordings
    leases       blobs that are being put into the object store, before a recording names them
    recordings   the line of a recording in lists, for lists and searches
    files        the length of each file of lines
    chunks       the lines as they were received; all other data is derived from them
    blobs        the blobs that a recording names; their bytes are in the object store
    steps        the values of steps that filters need, in columns
    details      the other values that filters need: texts, arguments and outputs, packed (`store.details`)
    texts        the same in lower case, to find the recordings that contain a word
    facts        values of arguments and outputs as numbers (`store.fact_numbers`), to find the recordings with a value

`recordings.version` grows with each append. `recordings.known` is the version from which the line, the steps and the
details were made; they are made again if it differs. `recordings.worded` is the version from which the texts were made;
if it differs from `known`, the rows in `texts` do not count. `recordings.facted` is the same for `facts`.
`recordings.outcome` is null if an earlier version wrote the line: a server with a copy of the recording writes it
again.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Sequence,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    cast,
    func,
    literal_column,
)
from sqlalchemy.dialects.postgresql import ARRAY

HEAD = "0008"
"""The version of these tables."""

META = MetaData(schema="reenact")

VERSIONS = Sequence("versions", metadata=META)

PROJECTS = Table(
    "projects",
    META,
    Column("key", Integer, Identity(always=True), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
)

PROJECT_KEYS = Table(
    "project_keys",
    META,
    Column("project", Integer, ForeignKey(PROJECTS.c.key), primary_key=True, autoincrement=False),
    Column("seed", LargeBinary, nullable=False),
    Column("public", Text, nullable=False),
)
"""The project's keys. Writers may use the seed; readers need only the column `public`."""

LIMITS = Table(
    "limits",
    META,
    Column("project", Integer, ForeignKey(PROJECTS.c.key), primary_key=True, autoincrement=False),
    Column("keep", BigInteger),
    Column("most_bytes", BigInteger),
    Column("most_recordings", BigInteger),
)

HOLDS = Table(
    "holds",
    META,
    Column("key", Integer, Identity(always=True), primary_key=True),
    Column("project", Integer, ForeignKey(PROJECTS.c.key), nullable=False),
    Column("filter", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    UniqueConstraint("project", "filter"),
)

TOMBSTONES = Table(
    "tombstones",
    META,
    Column("project", Integer, ForeignKey(PROJECTS.c.key), primary_key=True, autoincrement=False),
    Column("id", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("why", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("receipt", Text, nullable=False),
    Index("tombstones_at", "project", "at"),
)

LEASES = Table(
    "leases",
    META,
    Column("key", BigInteger, Identity(always=True), primary_key=True),
    Column("project", Integer, ForeignKey(PROJECTS.c.key), nullable=False),
    Column("address", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("leases_address", "project", "address"),
)

RECORDINGS = Table(
    "recordings",
    META,
    Column("key", BigInteger, Identity(always=True), primary_key=True),
    Column("project", Integer, ForeignKey(PROJECTS.c.key), nullable=False),
    Column("id", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("known", BigInteger, nullable=False, server_default="0"),
    Column("worded", BigInteger, nullable=False, server_default="0"),
    Column("facted", BigInteger, nullable=False, server_default="0"),
    Column("bytes", BigInteger, nullable=False, server_default="0"),
    Column("written", BigInteger, nullable=False, server_default="0"),
    Column("moment", Double, nullable=False, server_default="0"),
    Column("broken", Text, nullable=False, server_default=""),
    Column("name", Text, nullable=False, server_default=""),
    Column("status", Text, nullable=False, server_default=""),
    Column("started", Text, nullable=False, server_default=""),
    Column("entry", Text, nullable=False, server_default=""),
    Column("duration", Double, nullable=False, server_default="0"),
    Column("steps", Integer, nullable=False, server_default="0"),
    Column("failed", Integer, nullable=False, server_default="0"),
    Column("models", ARRAY(Text), nullable=False, server_default="{}"),
    Column("input_tokens", BigInteger, nullable=False, server_default="0"),
    Column("output_tokens", BigInteger, nullable=False, server_default="0"),
    Column("cost", Double),
    Column("tags", ARRAY(Text), nullable=False, server_default="{}"),
    Column("problem", Text, nullable=False, server_default=""),
    Column("seal", Text, nullable=False, server_default=""),
    Column("signer", Text, nullable=False, server_default=""),
    Column("endorser", Text, nullable=False, server_default=""),
    Column("endorsement", Text, nullable=False, server_default=""),
    Column("script", Text),
    Column("prompt", Text),
    Column("outcome", Text),
    Column("note", Text, nullable=False, server_default=""),
    UniqueConstraint("project", "id"),
    Index("recordings_newest", "project", "version"),
    Index("recordings_written", "project", "written"),
)
Index(
    "recordings_began",
    RECORDINGS.c.project,
    RECORDINGS.c.moment.desc(),
    RECORDINGS.c.written.desc(),
    RECORDINGS.c.id.collate("C"),
)
Index("recordings_beginning", RECORDINGS.c.project, RECORDINGS.c.id.collate("C"))
Index(
    "recordings_unread",
    RECORDINGS.c.project,
    postgresql_where=RECORDINGS.c.known < RECORDINGS.c.version,
)
Index(
    "recordings_unworded",
    RECORDINGS.c.project,
    postgresql_where=RECORDINGS.c.worded != RECORDINGS.c.known,
)
Index(
    "recordings_unfacted",
    RECORDINGS.c.project,
    postgresql_where=RECORDINGS.c.facted != RECORDINGS.c.known,
)
Index(
    "recordings_without_outcome",
    RECORDINGS.c.project,
    postgresql_where=RECORDINGS.c.outcome.is_(None),
)


CLOCK = cast(func.extract("epoch", func.clock_timestamp()) * 1_000_000_000, BigInteger)
"""The database's clock, in nanoseconds since 1970, by which all ages are computed."""

ODD = ("\u0130\u0131\u017f\u212a", "iisk")
"""Letters that Python's patterns match with i, s and k, and these."""


def lowered(text: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a text with ASCII letters in lower case, as `model.filter.fold` does it."""
    return func.lower(text.collate("C"))


def folded(text: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a text in the form that is compared with a pattern's ASCII letters, ignoring case."""
    return lowered(func.translate(text, literal_column(f"'{ODD[0]}'"), literal_column(f"'{ODD[1]}'")))


def _recording() -> Column[int]:
    return Column("recording", BigInteger, ForeignKey(RECORDINGS.c.key, ondelete="CASCADE"), primary_key=True)


FILES = Table(
    "files",
    META,
    _recording(),
    Column("name", Text, primary_key=True),
    Column("length", BigInteger, nullable=False),
)

CHUNKS = Table(
    "chunks",
    META,
    _recording(),
    Column("name", Text, primary_key=True),
    Column("at", BigInteger, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

BLOBS = Table(
    "blobs",
    META,
    _recording(),
    Column("address", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Index("blobs_address", "address"),
)

STEPS = Table(
    "steps",
    META,
    _recording(),
    Column("number", Integer, primary_key=True),
    Column("kind", Text),
    Column("label", Text),
    Column("ended", Text),
    Column("scope", Text),
    Column("duration", Double),
    Column("model", Text),
    Column("calls", Text),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cost", Double),
    Column("error", Text),
)

DETAILS = Table(
    "details",
    META,
    _recording(),
    Column("part", SmallInteger, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

Index("steps_label", folded(STEPS.c.label), STEPS.c.recording)
Index("steps_model", folded(STEPS.c.model), STEPS.c.recording, postgresql_where=STEPS.c.model.is_not(None))
Index("steps_kind", STEPS.c.kind, STEPS.c.recording)
Index("steps_ended", STEPS.c.ended, STEPS.c.recording, postgresql_where=STEPS.c.ended != "ok")
Index(
    "steps_tokens",
    STEPS.c.input_tokens + STEPS.c.output_tokens,
    STEPS.c.recording,
    postgresql_where=STEPS.c.input_tokens.is_not(None),
)
Index("steps_cost", STEPS.c.cost, STEPS.c.recording, postgresql_where=STEPS.c.cost.is_not(None))
Index("steps_duration", STEPS.c.duration, STEPS.c.recording)

TEXTS = Table(
    "texts",
    META,
    _recording(),
    Column("part", SmallInteger, primary_key=True),
    Column("body", Text(collation="C"), nullable=False),
)

FACTS = Table(
    "facts",
    META,
    _recording(),
    Column("facts", ARRAY(BigInteger), nullable=False),
)
Index("facts_facts", FACTS.c.facts, postgresql_using="gin", postgresql_with={"fastupdate": "off"})

ANALYZE = "ANALYZE " + ", ".join(
    table.fullname for table in (RECORDINGS, FILES, STEPS, DETAILS, TEXTS, FACTS)
)
"""Refreshes the planner's statistics, without which searches of new rows scan whole tables."""
