"""Agents ship to a server before a Postgres and an S3, and one of them fails in the middle: nothing that was
acknowledged is lost, nothing appears twice, every byte is what the agent wrote, and it heals by itself.
"""

from __future__ import annotations

import time
from contextlib import ExitStack

import pytest

from reenact.team.location import TeamPlace
from tests.soak.tables import SHORT
from tests.team.between import Between
from tests.team.conftest import served, stored
from tests.team.rig import Rig
from tests.team.servers import Weed, disk, found_at
from tests.team.ship.serving import eventually

pytestmark = pytest.mark.timeout(300)

ROUNDS = 1 if SHORT else 3


@pytest.fixture(scope="module")
def postgres():
    """Killed here: no other test's."""
    with served() as server:
        yield server


@pytest.fixture(scope="module")
def weed():
    """Killed here: no other test's."""
    with stored() as server:
        yield server


@pytest.fixture
def rig(postgres, weed, s3, tmp_path):
    """What makes a rig before them; a server that the test before left dead is started again."""
    postgres.start()
    weed.start()
    with ExitStack() as stack:

        def made(port=weed.port, objects=None, **homes):
            place = TeamPlace(
                postgres.database(f"test_{tmp_path.name}"), objects or f"s3://team/{tmp_path.name}"
            )
            made = Rig(place, found_at(port), tmp_path, **homes)
            stack.callback(made.close)
            return made

        yield made


def settled(rig, tmp_path, *, at_least=50):
    """The agents end, all is acknowledged, and compared."""
    rig.end()
    rig.all_there()
    events, blobs = rig.compare(tmp_path / "cache")
    assert events > at_least
    return events, blobs


@pytest.mark.thorough
def test_all_of_them_killed_one_after_the_other(rig, postgres, weed, tmp_path):
    rig = rig()
    rig.start()
    rig.going()
    for victim in (postgres, rig.server, weed):
        victim.kill()
        time.sleep(1)
        victim.start()
        rig.going()
    rig.kill_shipper()
    rig.end()
    # The next recording would start another shipper: here a person does.
    rig.ship()
    assert settled(rig, tmp_path)[1] > 10


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["postgres", "server", "objects", "shipper"])
def test_kill_9_again_and_again(rig, postgres, weed, tmp_path, victim):
    rig = rig()
    rig.start()
    one = {"postgres": postgres, "server": rig.server, "objects": weed, "shipper": rig.shipper}[victim]
    for number in range(ROUNDS):
        rig.going()
        # At another moment of what is going on each time.
        time.sleep(0.37 * number)
        one.kill()
        time.sleep(number)
        one.start()
        rig.going()
    settled(rig, tmp_path)


@pytest.mark.slow
def test_two_of_them_are_away_at_once_and_the_agents_end_meanwhile(rig, postgres, weed, tmp_path):
    rig = rig()
    rig.start()
    rig.going()
    postgres.kill()
    weed.kill()
    eventually(rig.told, 30)
    assert "cannot accept uploads now: " in rig.told()
    assert "(HTTP 503)" in rig.told()
    rig.end()
    weed.start()
    postgres.start()
    settled(rig, tmp_path)


BAD_DAYS = {
    "answers 500 and 503": ["", 500, 503, 503, "", 500],
    "cuts": ["cut", "", "lost", "torn", "", "cut", "cut", "lost"],
    "is slow": ["late:2"],
    "is very slow at times": ["", "late:8", "", "", "late:35"],
    "does not answer at times": ["deaf", "", "", "", "", "", "", ""],
    "all of it": ["late:1", 503, "cut", "", "lost", 500, "torn", "", "deaf", "", "", ""],
}


@pytest.mark.slow
@pytest.mark.parametrize("day", ["all of it"] if SHORT else list(BAD_DAYS))
def test_an_object_store_that_is_slow_or_flaky(rig, weed, tmp_path, monkeypatch, day):
    between, faults = Between(weed.port), BAD_DAYS[day]
    try:
        for name, value in found_at(between.port).items():
            monkeypatch.setenv(name, value)
        rig = rig(port=between.port)
        rig.start()
        rig.going()
        eventually(lambda: rig.listed(5))
        between.faults = faults
        for _ in range(5 if SHORT else 20):
            time.sleep(1)
            # Whoever reads is not kept waiting by it.
            assert rig.listed(5)
        # While it is so, it goes on.
        rig.going(90)
        eventually(lambda: all(between.seen.get(fault) for fault in faults), 60)
        between.faults = [""]
        settled(rig, tmp_path)
    finally:
        between.close()


@pytest.mark.slow
def test_a_full_disk_of_the_server(rig, tmp_path):
    with disk(tmp_path / "server", 400) as full:
        rig = rig(server=full.folder)
        rig.start()
        rig.going()
        full.fill()
        for _ in range(3):
            # The folder is a copy: what is sent is committed all the same.
            rig.going()
        full.drain()
        settled(rig, tmp_path)
        rig.close()


@pytest.mark.slow
def test_a_full_disk_of_the_agents(rig, tmp_path):
    with disk(tmp_path / "home", 60) as full:
        rig = rig(home=full.folder)
        rig.start()
        rig.going()
        full.fill()
        time.sleep(3)
        # They go on unrecorded, and what is recorded until then is sent.
        rig.end()
        full.drain()
        rig.ship()
        settled(rig, tmp_path)
        rig.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_a_full_disk_of_the_object_store(rig, tmp_path, monkeypatch, kind):
    with disk(tmp_path / "objects", 300) as full, ExitStack() as stack:
        if kind == "s3":
            weed = Weed(full.folder).start()
            stack.callback(weed.kill)
            for name, value in weed.environ.items():
                monkeypatch.setenv(name, value)
            rig = rig(port=weed.port)
        else:
            rig = rig(objects=f"file://{full.folder}")
        stack.callback(rig.close)
        rig.start()
        rig.going()
        full.fill()
        eventually(rig.told, 60)
        assert "cannot accept uploads now: " in rig.told()
        full.drain()
        rig.going(120)
        settled(rig, tmp_path)
