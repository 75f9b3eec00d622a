"""The commands that texts about a team's store name, each followed in the environment in which they were printed."""

from __future__ import annotations

import psycopg
import pytest

from reenact.analysis.interchange.importers import ImportedRun, keep
from reenact.core.store.local import LocalStore
from reenact.team.location import TeamPlace
from tests.analysis.conftest import does, says
from tests.hints import followed

RUN = ImportedRun("support", [does("fetch_page", {"n": 1}, "a text"), says("done")])


@pytest.fixture
def member(shell, place):
    """A terminal from which the team's store is reached."""
    shell.environ |= {"REENACT_STORE": place.database, "REENACT_OBJECTS": place.objects}
    return shell


@pytest.fixture
def pushed(member):
    """The id of a recording that is here and there."""
    id = keep(LocalStore(member.home), RUN)
    assert member.run("push", id).status == 0
    return id


def test_a_project_without_a_retention_names_the_command_that_sets_one(member, pushed):
    done = member.run("team", "clean", "--dry-run")
    words = followed(done.out + done.err, "cli/projects.py", "team limits")
    assert member.run(*words).status == 0
    done = member.run("team", "clean", "--dry-run")
    assert (done.status, "for ever" in done.out + done.err) == (0, False)


def test_a_hold_that_is_not_there_names_the_list_of_those_that_are(member, pushed):
    assert member.run("team", "hold", "add", "name:support", "--why", "case 17").status == 0
    refused = member.run("team", "hold", "remove", "name:suport")
    listed = member.run(*followed(refused.err, "cli/team_deleting.py", "team hold list"))
    assert "name:support" in listed.out + listed.err


def test_a_held_recording_names_the_command_that_removes_the_hold(member, pushed):
    filter = "name:support and not tag:'a b'"
    assert member.run("team", "hold", "add", filter, "--why", "case 17").status == 0
    refused = member.run("team", "rm", pushed)
    assert refused.status == 2
    removed = member.run(*followed(refused.err, "team/deleting.py", "team hold remove"))
    assert (removed.status, member.run("team", "rm", pushed).status) == (0, 0), removed.err


def test_the_commands_of_a_store_that_only_options_name_name_it_too(shell, place):
    """Without the environment of `member`, and in a project of its own."""
    there = ["--store", place.database, "--objects", place.objects]
    mine = [*there, "--project", "mine"]

    def follow(done, module, command):
        # The server's address has a password here.
        words = followed(done.out + done.err, module, command)
        assert "URL" in words
        return shell.run(*(place.database if word == "URL" else word for word in words))

    id = keep(LocalStore(shell.home), RUN)
    assert shell.run("push", id, *mine).status == 0
    cleaned = shell.run("team", "clean", "mine", "--dry-run", *there)
    limited = follow(cleaned, "cli/projects.py", "team limits")
    assert limited.status == 0, limited.err
    assert shell.run("team", "hold", "add", "name:support", "--why", "case 17", *mine).status == 0
    refused = shell.run("team", "hold", "remove", "name:suport", *mine)
    listed = follow(refused, "cli/team_deleting.py", "team hold list")
    assert "name:support" in listed.out + listed.err
    refused = shell.run("team", "rm", id, "--why", "asked", *mine)
    removed = follow(refused, "team/deleting.py", "team hold remove")
    assert removed.status == 0, removed.err


def test_a_store_with_a_password_is_named_without_it():
    place = TeamPlace("postgresql://ann:pa55@db.example/reenact", "s3://bucket/a b")
    assert place.options() == " --store URL --objects 's3://bucket/a b'"


def test_a_recording_that_was_deleted_here_names_the_command_that_brings_it(member, pushed):
    assert member.run("rm", pushed, "--yes").status == 0
    said = member.run("pull", "--all")
    brought = member.run(*followed(said.out + said.err, "team/ship/exchange.py", "pull"))
    assert (brought.status, member.last().id) == (0, pushed), brought.err


def test_a_user_without_the_right_to_create_the_tables_names_the_command_of_their_owner(member, place):
    with psycopg.connect(place.database, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN IN ROLE pg_read_all_data, pg_write_all_data")
    guest = {"REENACT_STORE": place.database.replace("postgres:", "guest:", 1)}
    refused = member.run("list", "--team", env=guest)
    assert refused.status == 2
    words = followed(refused.err, "team/schema.py", "list --team")
    assert member.run(*words).status == 0
    done = member.run("list", "--team", env=guest)
    assert done.status == 0, done.err
