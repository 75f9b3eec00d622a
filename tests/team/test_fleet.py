"""The recordings of a team's store, verified: each is fetched when its turn comes."""

from __future__ import annotations

import pytest

from reenact.core.store.base import Piece
from reenact.core.store.local import LocalStore
from reenact.team.ship.exchange import TeamExchange
from reenact.team.store import TeamStore
from reenact.verbs.verify import Status, verify
from reenact.verbs.verify.engine import Local

SHOP = """
import reenact

@reenact.tool
def price(order):
    return len(order)

@reenact.recorded
def answer(question):
    return price(question)
"""


@pytest.fixture
def shop(shell, place, monkeypatch):
    """A program, three recordings of which the team has, and nobody here."""
    monkeypatch.chdir(shell.folder)
    shell.write("shop.py", SHOP)
    shell.plain("-c", "import shop\nfor question in ('a', 'bb', 'ccc'): shop.answer(question)")
    here = LocalStore(shell.home)
    shell.ids = sorted(here.ids())
    with TeamStore(place) as team:
        exchange = TeamExchange(here, team)
        exchange.push(shell.ids)
        exchange.close()
    for id in shell.ids:
        here.remove(id)
    shell.environ |= {
        "REENACT_STORE": place.database, "REENACT_OBJECTS": place.objects, "REENACT_CACHE": str(place.cache),
    }  # fmt: skip
    return shell


class Counting(Local):
    """This machine; it remembers what it was given."""

    def run(self, tasks, job, done):
        self.given = [task.ref for task in tasks]
        super().run(tasks, job, done)


@pytest.mark.thorough
def test_the_command_finds_and_replays_them(shop):
    done = shop.run("verify", "--team", "--filter", "tool:price", "--entry", "shop:answer")
    assert (done.status, done.out.partition("  ")[0]) == (0, "3 recordings: 3 same"), done.err
    shop.write("shop.py", SHOP.replace("price(question)", "price(question + '!')"))
    assert shop.run("verify", "--team", shop.ids[0][:6], "--entry", "shop:answer").status == 1
    assert shop.run("verify", "--entry", "shop:answer").status == 2  # nothing is here
    assert "one of the two" in shop.run("verify", "--team", "--home", shop.home).err


def test_nothing_is_fetched_before_its_turn_and_one_that_is_gone_costs_itself_only(shop, team):
    class Late(Local):
        def run(self, tasks, job, done):
            assert not list(team.recordings.glob("*"))
            team.remove(tasks[1].ref)
            super().run(tasks, job, done)

    outcomes = verify(shop.ids, entry="shop:answer", engine=Late(1), team=team)
    assert [outcome.status for outcome in outcomes] == [Status.SAME, Status.UNABLE, Status.SAME]
    assert f"no recording '{shop.ids[1]}'" in outcomes[1].detail


@pytest.mark.thorough
def test_what_was_found_holds_until_the_recording_has_grown(shop, team):
    verify(shop.ids, entry="shop:answer", team=team)
    again = Counting()
    assert len(verify(shop.ids, entry="shop:answer", engine=again, resume=True, team=team)) == 3
    assert not hasattr(again, "given")
    grown = Piece(shop.ids[0], "session.x.jsonl", 0, b'{"at":1}\n')
    assert team.intake.take([grown])[0].status == "ok"
    verify(shop.ids, entry="shop:answer", engine=again, resume=True, team=team)
    assert again.given == [shop.ids[0]]
