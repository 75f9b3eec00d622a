"""SQLite's clock is recorded; its functions of time are SQLite's own."""

from __future__ import annotations

import sqlite3
import time

import pytest

import reenact

QUESTIONS = [
    "datetime('now')", "date()", "time('NOW')", "julianday('now', '+1 day')", "strftime('%f', 'now')",
    "strftime('%Y-%m-%d')", "current_timestamp", "current_time", "current_date",
]  # fmt: skip


@reenact.tool
def ask(question):
    return question


def answers():
    database = sqlite3.connect(":memory:")
    try:
        return database.execute(f"select {', '.join(QUESTIONS)}").fetchone()
    finally:
        database.close()


def test_what_is_now_is_recorded(home):
    with reenact.record("now") as recording:
        found = answers()
        ask(found)
    time.sleep(1.1)
    with reenact.replay(recording.id) as replay:
        assert answers() == found
        ask(found)
    assert replay.verdict.faithful, str(replay.verdict)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "question",
    [
        "date('2020-01-31', '+1 month')", "datetime(0, 'unixepoch')", "julianday('2000-01-01')", "date('no date')",
        "strftime('%Y', '2020-05-05')", "date(null)", "time('12:34:56.789')",
    ],
)  # fmt: skip
def test_another_moment_is_computed_by_sqlite(question, home):
    plain = sqlite3.connect(":memory:")
    with reenact.record("moment"):
        recorded = sqlite3.connect(":memory:")
        found = recorded.execute(f"select {question}").fetchall()
    assert found == plain.execute(f"select {question}").fetchall()
    recorded.close()
    plain.close()


def test_a_default_and_an_index_have_the_functions(home):
    with reenact.record("schema"):
        database = sqlite3.connect(":memory:")
        database.execute("create table t (day, at default current_timestamp, x default (datetime('now')))")
        database.execute("create index i on t (date(day))")
        database.execute("insert into t (day) values ('2020-01-01')")
        ((at, x),) = database.execute("select at, x from t").fetchall()
        database.close()
    assert at[:10] == x[:10]
