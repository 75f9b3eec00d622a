"""Objects of texts, cleaned member by member."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from reenact.core.redact import Redactor
from tests.core.redact.samples import CANARIES, SALT

names = st.sampled_from(
    ["authorization", "cookie", "accept", "x-api-key", "password", "name", "user", "token", "content-length"]
) | st.text(max_size=6)
texts = st.sampled_from(
    [
        *CANARIES.values(),
        "Bearer opaque12345opaque",
        "a=b; sid=opaque12345",
        "x-api-key",
        "--api-key",
        "12345678",
    ]
) | st.text(max_size=20)


def joined(redactor: Redactor, texts: dict[str, str]) -> bytes | None:
    members = redactor.members(texts)
    return None if members is None else b"{" + b",".join(member.data for member in members) + b"}"


@given(st.dictionaries(names, texts, max_size=5))
def test_member_by_member_is_what_the_whole_object_gives(headers: dict[str, str]) -> None:
    redactor = Redactor(salt=SALT)
    whole = redactor.line(
        json.dumps(headers, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    )
    once, again = joined(redactor, headers), joined(redactor, headers)
    assert once == again
    if once is not None and "\\" not in whole.decode():
        assert json.loads(once) == json.loads(whole)


def test_a_member_is_given_as_it_is_written_and_in_its_halves(redactor: Redactor) -> None:
    member = redactor.member("authorization", "Bearer opaque12345opaque")
    assert member is not None
    assert json.loads(b"{" + member.data + b"}") == {member.name: member.text}
    assert member.name == "authorization"
    assert member.text.startswith("Bearer [[secret:")


def test_what_is_learnt_later_is_hidden_in_members_that_were_clean_before() -> None:
    redactor = Redactor(salt=SALT)
    before = joined(redactor, {"x-trace": "opaque-known-value"})
    redactor.learn("opaque-known-value")
    after = joined(redactor, {"x-trace": "opaque-known-value"})
    assert before is not None
    assert after is not None
    assert b"opaque-known-value" in before
    assert b"opaque-known-value" not in after


def test_a_name_and_a_value_that_tell_a_secret_only_together_are_left_to_be_seen_whole(
    redactor: Redactor,
) -> None:
    assert redactor.members({"name": "x-api-key", "value": "hunter2-hunter2"}) is None


def test_other_values_than_texts_and_names_like_tags_are_no_object_of_texts(redactor: Redactor) -> None:
    assert redactor.members({"n": 1}) is None  # type: ignore[dict-item]
    assert redactor.members({"$set": "x"}) is None
    assert redactor.members({"a": "\udc80"}) is None


def test_many_different_members_do_not_fill_the_memory() -> None:
    redactor = Redactor(salt=SALT)
    for number in range(5000):
        redactor.member("id", str(number))
    assert len(redactor._members._known) <= 1024
