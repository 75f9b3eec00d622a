"""What is known of a script's step from earlier recordings: of the same script, that ended well, the newest first."""

from __future__ import annotations

from pathlib import Path

import pytest

import reenact
from reenact.browser.heal import memory
from reenact.browser.script.step_key import key_of
from reenact.core.boundary import perform
from reenact.core.model.event import Effect
from reenact.core.query.overview import script_of
from reenact.errors import ReenactError

URL = "http://shop.test/cart/17"
KEY = "click #save @/cart/# #0"


def outcome(action, *, actor="script", success=True, name="Save", url=URL, added="text"):
    """What a browser's action gives, in short."""
    told = {
        "success": success, "action": action, "actor": actor, "url": url, "tab": 0, "selectors": {"role": f"role=button[name='{name}']"},
        "fingerprint": {"role": "button", "name": name}, "consequence": {"navigated": None, "requests": [], "dom": {"added": [added]}},
    }  # fmt: skip
    return "browser", action["type"], told


OPENED = outcome({"type": "goto", "url": URL})
SAVE = {"type": "click", "selector": "#save"}


@pytest.fixture
def store(tmp_path):
    """Makes recordings of a script, of what its browser gave; `known` asks a new one what it knows."""

    class Store:
        def ran(self, *steps, name="shop", fails=False):
            try:
                with reenact.record(name, home=tmp_path) as recording:
                    for kind, action, told in steps:
                        perform(Effect(kind, action, {}, leaf=True), lambda told=told: told)
                    if fails:
                        raise ReenactError("lost")
            except ReenactError:
                pass
            return recording.path

        def known(self, key=KEY, name="shop"):
            return memory.history_of(memory.read(Path(self.ran(name=name)), key))

    return Store()


def test_a_step_is_known_by_its_type_aim_and_page_whatever_the_numbers_in_it(store):
    store.ran(OPENED, outcome(SAVE))
    known = store.known()
    assert (known.recordings, len(known.pasts)) == (1, 1)
    assert known.pasts[0].fingerprint == {"role": "button", "name": "Save"}
    assert store.known("click #save @/other #0").pasts == ()
    assert store.known("fill #save @/cart/# #0").pasts == ()


def test_what_several_recordings_say_alike_is_one(store):
    for number in (1, 2):
        store.ran(OPENED, outcome(SAVE, added=f'text "Saved {number}"'))
    store.ran(OPENED, outcome(SAVE, name="Store"))
    first, second = store.known().pasts
    assert (first.fingerprint["name"], first.count) == ("Store", 1)
    assert (second.fingerprint["name"], second.count) == ("Save", 2)


def test_recordings_of_other_scripts_and_such_that_ended_badly_know_nothing(store):
    store.ran(OPENED, outcome(SAVE), name="another")
    store.ran(OPENED, outcome(SAVE), fails=True)
    store.ran(OPENED, outcome(SAVE, success=False))
    known = store.known()
    assert (known.recordings, known.pasts) == (1, ())


def test_a_step_is_known_though_many_other_sessions_of_the_program_came_after_it(store):
    store.ran(OPENED, outcome(SAVE))
    for _ in range(memory.NEWEST + 2):
        store.ran(OPENED, outcome({"type": "click", "selector": "#other"}))
    assert len(store.known().pasts) == 1


def test_sessions_with_the_same_name_count_before_others_of_the_program(store):
    store.ran(OPENED, outcome(SAVE, name="Store"), name="harbour")
    store.ran(OPENED, outcome(SAVE, name="Keep"), name="pier")
    known = store.known(name="harbour")
    assert [one.fingerprint["name"] for one in known.pasts] == ["Store"]


def test_of_several_equal_steps_the_one_at_the_same_place_is_meant(store):
    store.ran(OPENED, outcome(SAVE, name="first"), outcome(SAVE, name="second"))
    assert store.known("click #save @/cart/# #1").pasts[0].fingerprint["name"] == "second"
    assert store.known("click #save @/cart/# #2").pasts == ()


def test_a_verified_mend_is_known_with_the_element_that_it_found(store):
    heal = {
        "key": KEY,
        "rung": "alternative",
        "new": {"css": "#keep"},
        "healed": True,
        "verified_by": "consequence",
    }
    failed, healed = outcome(SAVE, success=False), outcome({"type": "click"}, actor="heal", name="Keep")
    store.ran(OPENED, failed, healed, ("heal", "record", heal))
    known = store.known()
    assert known.heals[0]["new"] == {"css": "#keep"}
    assert known.pasts[0].fingerprint["name"] == "Keep"


@pytest.mark.parametrize(
    "wrong", [{"verified_by": ""}, {"healed": False}, {"key": "click #other @/cart/# #0"}]
)
def test_a_mend_that_was_not_verified_teaches_nothing(store, wrong):
    heal = {
        "key": KEY,
        "rung": "alternative",
        "new": {"css": "#keep"},
        "healed": True,
        "verified_by": "x",
        **wrong,
    }
    failed, healed = outcome(SAVE, success=False), outcome({"type": "click"}, actor="heal", name="Keep")
    store.ran(OPENED, failed, healed, ("heal", "record", heal))
    assert (store.known().heals, store.known().pasts) == ((), ())


def test_a_damaged_recording_is_passed_over(store):
    path = store.ran(OPENED, outcome(SAVE))
    store.ran(OPENED, outcome(SAVE, name="whole"))
    file = Path(path) / "events.jsonl"
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([lines[0], b'{"event":"returned" "tab": no JSON', *lines[1:]]))
    assert {past.fingerprint["name"] for past in store.known().pasts} == {"whole", "Save"}


@pytest.mark.parametrize(
    ("argv", "script"),
    [
        (["/usr/bin/python3", "/srv/shop.py", "--fast"], "shop.py"),
        (["python", "-m", "shop.run"], "shop.run"),
        (["python", "-m", "pytest", "tests"], None),
        (["/venv/bin/pytest", "test_shop.py"], None),
        ([], None),
    ],
)
def test_the_script_of_a_recording_is_its_program_unless_that_runs_others(argv, script):
    assert script_of({"program": {"argv": argv}}) == script


def test_a_key_counts_equal_steps_of_the_script_alone():
    before = [OPENED[2], outcome(SAVE)[2], outcome(SAVE, actor="agent")[2]]
    assert key_of(SAVE, URL, before=before) == "click #save @/cart/# #1"
