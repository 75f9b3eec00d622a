"""A server that has no room, or is asked too often: what is recorded waits, and nothing is lost."""

from __future__ import annotations

import pytest

import reenact
from reenact.team.ship.sender import Away
from tests.team.ship.conftest import Sending


def recorded(home):
    with reenact.record(home=home) as recording:
        reenact.effect("tool", "look").perform(lambda: "seen")
    return recording.id


@pytest.mark.thorough
def test_what_a_server_has_no_room_for_waits_and_is_there_once_it_has(mortal, tmp_path):
    mortal.words = ("--quota-recordings", "1")
    mortal.start()
    sending = Sending(tmp_path / "home", mortal)
    ids = sorted(recorded(tmp_path / "home") for _ in range(2))
    for id in ids:
        sending.mark(id)
    with pytest.raises(Away, match=r"the project has 1 recordings at most"):
        sending.shipper().flush(patience=0.5)
    assert len(list(mortal.recordings.iterdir())) == 1
    assert sending.queue.marks()
    sending.close()
    mortal.kill()
    mortal.words = ()
    mortal.start()
    sending.flush()
    assert sending.queue.marks() == []
    assert sorted(path.name for path in mortal.recordings.iterdir()) == ids
    assert all(sending.here(id).read_bytes() == sending.there(id).read_bytes() for id in ids)
    sending.close()


@pytest.mark.thorough
def test_who_is_told_to_come_later_comes_later(mortal, tmp_path):
    mortal.words = ("--rate", "5")
    mortal.start()
    sending = Sending(tmp_path / "home", mortal)
    impatient = sending.shipper()
    sending.mark(recorded(tmp_path / "home"))
    with pytest.raises(Away, match=r"more than 5 requests a second.*HTTP 429") as away:
        for _ in range(200):
            impatient._sender.greet()
    assert away.value.after >= 1
    impatient.flush()
    assert sending.queue.marks() == []
    sending.close()
