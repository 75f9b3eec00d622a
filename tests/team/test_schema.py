"""The tables of a team's store: made once, whoever comes first, and let alone where they are of a later version."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import create_engine, inspect

from reenact.errors import UsageError
from reenact.team.store import TeamStore
from reenact.team.tables import META


def ids(place):
    with TeamStore(place) as store:
        return store.ids()


def test_many_who_come_first_make_the_tables_once(place):
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ids, [place] * 4)) == [[]] * 4


def test_what_the_versions_make_is_what_the_tables_say(place):
    ids(place)
    engine = create_engine("postgresql+psycopg://" + place.database.partition("://")[2])
    found = inspect(engine)
    for table in META.tables.values():
        there = {
            column["name"]: (column["type"].compile(engine.dialect), column["nullable"])
            for column in found.get_columns(table.name, "reenact")
        }
        meant = {
            column.name: (column.type.compile(engine.dialect), bool(column.nullable))
            for column in table.columns
        }
        assert there == meant, table.name
        kept = set(found.get_pk_constraint(table.name, "reenact")["constrained_columns"])
        assert kept == {column.name for column in table.primary_key}
        indexes = {
            one["name"]
            for one in found.get_indexes(table.name, "reenact")
            if not one.get("duplicates_constraint")
        }
        assert indexes == {one.name for one in table.indexes}
    engine.dispose()


def test_tables_of_a_later_version_are_let_alone(place):
    ids(place)
    with psycopg.connect(place.database, autocommit=True) as connection:
        connection.execute("UPDATE reenact.alembic_version SET version_num = '9999'")
    with pytest.raises(UsageError, match="version 9999, which this Reenact does not know: upgrade"):
        ids(place)
    with psycopg.connect(place.database, autocommit=True) as connection:
        assert connection.execute("SELECT version_num FROM reenact.alembic_version").fetchone() == ("9999",)
