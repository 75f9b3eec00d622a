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


@pytest.mark.parametrize("name", [":memory:", "orders.db"])
def test_a_tool_that_uses_the_program_s_connection_runs_again(shell, name):
    program = f"""
        import reenact, sqlite3
        database = sqlite3.connect({name!r}, isolation_level=None)
        cursor = database.cursor()
        cursor.execute("create table orders (what, number default (random()))")
        @reenact.tool
        def order(what):
            cursor.execute("insert into orders (what) values (?)", (what,))
            database.execute("update orders set what = upper(what)")
        for what in ("tea", "milk"):
            order(what)
        print(database.execute("select * from orders").fetchall())
    """
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    replay = shell.replay("--json")
    verdict = replay.json["verdict"]
    assert (replay.status, verdict["again"]) == (0, {"tool:order": 2}), replay.out
    shell.write("agent.py", program.replace("upper(what)", "lower(what)"))
    assert shell.replay().status == 1


def test_a_tool_is_answered_that_uses_a_connection_from_before_the_run(home):
    database = sqlite3.connect(":memory:")
    database.execute("create table orders (what)")

    @reenact.tool
    def order(what):
        database.execute("insert into orders values (?)", (what,))
        return database.execute("select count(*) from orders").fetchone()[0]

    with reenact.record("orders") as recording:
        assert order("tea") == 1
    with reenact.replay(recording.id) as replay:
        assert order("tea") == 1
    database.close()
    assert "it uses the database `database`" in str(replay.verdict)
