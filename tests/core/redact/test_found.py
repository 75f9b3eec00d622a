"""Secrets that were found by their names, and are known from then on."""

from __future__ import annotations

import json

import pytest

from reenact.core.redact import Redactor
from reenact.core.redact.found import FoundValues
from reenact.core.redact.work import Work
from tests.core.redact.samples import SALT, line


class TestValuesFoundByTheirNames:
    COOKIE = "0a1b2c3d4e5f60718293"

    @pytest.mark.parametrize(
        "named",
        [
            '{"headers": {"set-cookie": "sid=%s; Path=/; HttpOnly"}}',
            '{"args": {"authorization": "Bearer %s"}}',
            '{"body": "{\\"access_token\\": \\"%s\\"}"}',
            '{"url": "https://shop.example/pay?api_key=%s&page=2"}',
        ],
    )
    def test_a_value_that_was_named_once_leaves_without_its_name(self, named: str) -> None:
        redactor = Redactor(salt=SALT)
        token = redactor.secret("x", self.COOKIE)
        other = Redactor(salt=SALT)
        assert token in line(other, named % self.COOKIE)
        assert other.raw(f"got {self.COOKIE}\n".encode()) == f"got {token}\n".encode()
        assert other.raw(f"GET /carts/{self.COOKIE}/items".encode()) == f"GET /carts/{token}/items".encode()

    def test_a_value_named_in_a_stream_leaves_its_next_pieces(self) -> None:
        redactor = Redactor(salt=SALT)
        token = redactor.secret("x", self.COOKIE)
        other = Redactor(salt=SALT)
        stream = other.stream()
        first = stream.chunk(f'{{"access_token": "{self.COOKIE}", "text": "use '.encode())
        pieces = [stream.chunk(piece.encode()) for piece in (self.COOKIE[:9], self.COOKIE[9:], ' now"}')]
        assert b"".join([first, *pieces, stream.end()]).decode().count(token) == 2

    @pytest.mark.parametrize(
        "word",
        [
            "customer-support-agent",
            "session-2024-11-28",
            "anthropic/claude-sonnet-4-5",
            "production-eu-west-1",
        ],
    )
    def test_words_under_a_secret_name_stay_elsewhere(self, word: str) -> None:
        redactor = Redactor(salt=SALT)
        line(redactor, json.dumps({"session": word, "password": word}))
        assert redactor.raw(f"run of {word}".encode()) == f"run of {word}".encode()

    def test_the_latest_values_are_known_and_searching_stays_bounded(self) -> None:
        found = FoundValues()
        values = [f"{number:04d}a1b2c3d4e5f6a7" for number in range(300)]
        for value in values:
            assert found.add([value])
        assert not found.add([values[-1]])
        assert len(found.known()) <= 8
        hits = [hit for known in found.known() for hit in known.find(values[-1].encode(), Work(0))]
        assert [hit.value for hit in hits] == [values[-1]]
