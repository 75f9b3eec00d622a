"""What runs on a node, here: it needs no cluster."""

from __future__ import annotations

import pytest

import reenact
from reenact.core.store.local import LocalStore
from reenact.run.launch import Options
from reenact.verbs.verify.actor import UNREAD, Actor, line_of, packed
from reenact.verbs.verify.crew import CrewOptions

SHOP = """
import reenact

@reenact.tool
def look(order):
    return {"order": order, "picture": bytes(range(256)) * 300}

def program():
    return len(look("first")["picture"]) + len(look("another")["order"])

def run(recording):
    return program()
"""
MAKE = """
import reenact, shop
with reenact.record("parent"):
    shop.program()
reenact.load("last").fork(at=2, program=shop.program)
"""


@pytest.fixture
def home(shell, monkeypatch):
    """A recording with a blob, and a fork that shares lines with it."""
    monkeypatch.chdir(shell.folder)
    shell.write("shop.py", SHOP)
    shell.write("make.py", MAKE)
    shell.plain("make.py")
    return LocalStore(shell.home)


@pytest.fixture
def actor():
    actor = Actor(CrewOptions("shop:run", Options().tree(), 30.0))
    yield actor
    actor.close()
    assert not actor._folder.exists()


def test_what_is_sent_is_all_that_a_replay_needs(home, actor, shell):
    fork, parent = (home.folder(id) for id in home.ids())
    sent = [(0, packed(parent)), (1, packed(fork))]
    home.remove(fork.name)
    home.remove(parent.name)
    reports = dict(actor.run(sent))
    assert [reports[place].get("failed") or reports[place]["verdict"]["faithful"] for place in (0, 1)] == [
        True,
        True,
    ]
    assert not list(actor._folder.iterdir())


def test_one_that_says_who_it_is_says_its_version(actor, home):
    assert actor.ready()["version"] == reenact.__version__
    assert "failed" not in actor.ready()


def test_a_node_that_knows_of_no_store_says_so(actor, home, monkeypatch):
    monkeypatch.delenv("REENACT_STORE", raising=False)
    assert actor.run([(0, "someid")]) == [(0, {UNREAD: "REENACT_STORE is not set there"})]


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "The actor died because of an error:\n  File x, line 1\nModuleNotFoundError: No module named 'shop'\n",
            "ModuleNotFoundError: No module named 'shop'",
        ),
        (
            "\nThe actor died unexpectedly before finishing this task.\n\tclass_name: Actor\n",
            "The actor died unexpectedly before finishing this task.",
        ),
        ("", "RuntimeError"),
    ],
)
def test_an_error_of_rays_is_one_line(said, line):
    assert line_of(RuntimeError(said)) == line
