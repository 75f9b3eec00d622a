"""Secrets by their shape: each canary, in each place, leaves."""

from __future__ import annotations

import base64
import json

import pytest

from reenact.core.redact import Redactor
from tests.core.redact.samples import ALNUM, CANARIES, PEM, PLACES, SALT, TOKEN, fake, line


class TestShapes:
    @pytest.mark.parametrize("place", PLACES)
    def test_a_secret_of_a_known_shape_leaves_every_place_and_gets_the_same_token(
        self, redactor: Redactor, place: str
    ) -> None:
        clean = {canary: line(redactor, PLACES[place](secret)) for canary, secret in CANARIES.items()}
        assert [canary for canary, secret in CANARIES.items() if secret[6:] in clean[canary]] == []
        token = Redactor(salt=SALT).secret
        assert [
            canary for canary, secret in CANARIES.items() if token("any", secret) not in clean[canary]
        ] == []

    def test_the_label_names_the_shape(self, redactor: Redactor) -> None:
        labels = {canary: TOKEN.fullmatch(redactor.secret("x", CANARIES[canary])) for canary in CANARIES}
        wrong = [
            (canary, label)
            for canary, label in labels.items()
            if label is None or label[1] == "secret" or label[1] not in {canary, canary.partition("-")[0]}
        ]
        assert wrong == []

    @pytest.mark.parametrize("depth", [0, 1, 2, 3])
    def test_a_pem_block_leaves_whole_however_deep_its_newlines_are_escaped(
        self, redactor: Redactor, depth: int
    ) -> None:
        text: object = {"file": f"key:\n{PEM}\nend of file"}
        for _ in range(depth):
            text = {"nested": json.dumps(text)}
        clean = line(redactor, json.dumps(text))
        assert "MIIE" not in clean
        assert "end of file" in clean
        assert Redactor(salt=SALT).secret("x", PEM) in clean

    def test_a_pem_under_a_secret_name_gets_the_token_of_the_block(self, redactor: Redactor) -> None:
        assert redactor.secret("x", PEM) in line(redactor, json.dumps({"private_key": PEM + "\n"}))

    def test_a_pem_that_breaks_off_leaves_too(self, redactor: Redactor) -> None:
        assert "MIIE" not in line(redactor, json.dumps({"log": PEM[:120]}))

    def test_a_slack_webhook_keeps_its_address_but_not_its_secret(self, redactor: Redactor) -> None:
        hook = fake("https://hooks.slack.com", "/services/T01234567/B01234567/", ALNUM[:24])
        clean = line(redactor, json.dumps({"url": hook}))
        assert "B01234567" not in clean
        assert "https://hooks.slack.com/services/[[secret:slack:" in clean

    @pytest.mark.parametrize("word", ["Bearer", "bearer", "Basic", "BEARER"])
    def test_what_follows_bearer_or_basic_is_secret_in_prose(self, redactor: Redactor, word: str) -> None:
        secret = base64.b64encode(b"ann:hunter2-hunter2").decode()
        assert secret not in line(redactor, json.dumps({"text": f"send {word} {secret} along"}))
