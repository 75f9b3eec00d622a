"""What a user calls a secret is kept out of the recording, and its replay knows of it by itself."""

from dataclasses import replace
from pathlib import Path

import pytest

import reenact
from reenact.core.redact import DEFAULT_RULES
from reenact.errors import DivergenceError


@reenact.tool
def look_up(customer):
    return f"{customer} is fine"


def recorded(**rules):
    with reenact.record("support", secrets=replace(DEFAULT_RULES, **rules)) as recording:
        look_up("CUST-123456")
    return recording.load()


def written(recording):
    return b"".join(file.read_bytes() for file in Path(recording.path).rglob("*") if file.is_file())


@pytest.mark.usefixtures("home")
def test_a_pattern_of_ones_own_is_known_to_the_replay():
    recording = recorded(patterns=(r"CUST-\d{6}",))
    assert b"CUST-123456" not in written(recording)
    with reenact.replay(recording.id) as replay:
        look_up("CUST-123456")
    assert replay.verdict.faithful


@pytest.mark.usefixtures("home")
def test_a_pattern_in_which_the_secret_itself_stands_is_not_kept():
    recording = recorded(patterns=("CUST-123456", r"CUST-\d{6}"))
    assert b"CUST-123456" not in written(recording)
    assert recording.header["secrets"]["patterns"] == [r"CUST-\d{6}"]


@pytest.mark.usefixtures("home")
def test_an_exact_value_is_not_kept_and_the_replay_recognises_it_by_its_token():
    recording = recorded(values=frozenset({"CUST-123456"}))
    assert b"CUST-123456" not in written(recording)
    with reenact.replay(recording.id) as replay:
        look_up("CUST-123456")
    assert replay.verdict.faithful


@pytest.mark.usefixtures("home")
def test_another_value_in_the_place_of_an_exact_one_is_a_departure():
    recording = recorded(values=frozenset({"CUST-123456"}))
    with pytest.raises(DivergenceError, match="customer"), reenact.replay(recording.id):
        look_up("CUST-123457")
