"""Parts of a fleet for jobs that know nothing of each other."""

from __future__ import annotations

import pytest

from reenact.errors import UsageError
from reenact.verbs.verify.shard import Shard

IDS = [f"recording{number}" for number in range(200)]


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_the_parts_make_the_whole_and_share_nothing(of):
    parts = [Shard(number, of).among(IDS) for number in range(1, of + 1)]
    assert sorted(id for part in parts for id in part) == sorted(IDS)
    assert all(len(part) > 200 / of / 2 for part in parts)


def test_a_recording_is_in_the_same_part_whatever_else_there_is_and_wherever_it_lies():
    ours = Shard(2, 3).among(IDS)
    assert Shard(2, 3).among(reversed(IDS[50:])) == [id for id in reversed(ours) if id in IDS[50:]]
    assert Shard(2, 3).has(f"/elsewhere/{ours[0]}")


def test_it_is_written_as_a_number_of_a_number():
    assert Shard.parsed(" 2/5 ") == Shard(2, 5)


def test_who_counts_from_zero_says_so_and_is_told_to():
    """Kubernetes does: five parts are 0/5 to 4/5."""
    assert [Shard.parsed(f"{number}/5", first=0).number for number in range(5)] == [1, 2, 3, 4, 5]
    with pytest.raises(UsageError, match="from 1; to count from 0 use --from-zero"):
        Shard.parsed("0/5")
    with pytest.raises(UsageError, match="write it as 1/5"):
        Shard.parsed("5/5", first=0)


@pytest.mark.parametrize("text", ["0/5", "6/5", "2", "2/", "a/b", "-1/5", "1/0"])
def test_what_is_no_part_is_refused(text):
    with pytest.raises(UsageError, match="write it as 2/5"):
        Shard.parsed(text)
