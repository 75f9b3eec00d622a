"""The first tables."""  # noqa: INP001 - run by Alembic, never imported

from alembic import op

revision = "0001"
down_revision = None

_STATEMENTS = """
CREATE SEQUENCE reenact.versions;

CREATE TABLE reenact.projects (
    key INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE reenact.recordings (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES reenact.projects (key),
    id TEXT NOT NULL,
    version BIGINT NOT NULL,
    known BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    written BIGINT NOT NULL DEFAULT 0,
    moment DOUBLE PRECISION NOT NULL DEFAULT 0,
    broken TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT '',
    started TEXT NOT NULL DEFAULT '',
    entry TEXT NOT NULL DEFAULT '',
    duration DOUBLE PRECISION NOT NULL DEFAULT 0,
    steps INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    models TEXT[] NOT NULL DEFAULT '{}',
    input_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    cost DOUBLE PRECISION,
    tags TEXT[] NOT NULL DEFAULT '{}',
    problem TEXT NOT NULL DEFAULT '',
    UNIQUE (project, id)
);
CREATE INDEX recordings_newest ON reenact.recordings (project, version);
CREATE INDEX recordings_moment ON reenact.recordings (project, moment);

CREATE TABLE reenact.files (
    recording BIGINT NOT NULL REFERENCES reenact.recordings (key) ON DELETE CASCADE,
    name TEXT NOT NULL,
    length BIGINT NOT NULL,
    PRIMARY KEY (recording, name)
);

CREATE TABLE reenact.chunks (
    recording BIGINT NOT NULL REFERENCES reenact.recordings (key) ON DELETE CASCADE,
    name TEXT NOT NULL,
    at BIGINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (recording, name, at)
);

CREATE TABLE reenact.blobs (
    recording BIGINT NOT NULL REFERENCES reenact.recordings (key) ON DELETE CASCADE,
    address TEXT NOT NULL,
    size BIGINT NOT NULL,
    PRIMARY KEY (recording, address)
);
CREATE INDEX blobs_address ON reenact.blobs (address);

CREATE TABLE reenact.steps (
    recording BIGINT NOT NULL REFERENCES reenact.recordings (key) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    kind TEXT,
    label TEXT,
    ended TEXT,
    scope TEXT,
    duration DOUBLE PRECISION,
    model TEXT,
    calls TEXT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cost DOUBLE PRECISION,
    error TEXT,
    PRIMARY KEY (recording, number)
);

CREATE TABLE reenact.details (
    recording BIGINT NOT NULL REFERENCES reenact.recordings (key) ON DELETE CASCADE,
    part SMALLINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (recording, part)
);
"""


def upgrade() -> None:
    """Create the tables."""
    for statement in _STATEMENTS.split(";\n"):
        if statement.strip():
            op.execute(statement)
