"""Secrets that the process holds."""

from __future__ import annotations

import json
import threading
from urllib.parse import quote

import pytest

from reenact.core.redact import Redactor
from tests.core.redact.samples import CANARIES, SALT, TOKEN, line


class TestExactValues:
    def test_the_values_of_secret_variables_leave_wherever_they_stand(self) -> None:
        environ = {
            "OPENAI_API_KEY": "just-some-opaque-text",
            "DB_PASSWORD": 'quo"te\\d pass/word&',
            "MY_SERVICE_CREDENTIAL": "zürich-geheim",
            "HOME": "/home/ann-the-agent",
            "MAX_TOKENS": "1234567890",
            "GOOGLE_APPLICATION_CREDENTIALS": "/etc/keys/google.json",
            "SHORT_TOKEN": "abc1234",
        }
        redactor = Redactor(salt=SALT, environ=environ)
        values = [environ[n] for n in ("OPENAI_API_KEY", "DB_PASSWORD", "MY_SERVICE_CREDENTIAL")]
        for value in values:
            for spelled in (
                value,
                quote(value, safe=""),
                json.dumps({"x": value}),
                json.dumps({"y": json.dumps({"x": value})}),
            ):
                clean = line(redactor, json.dumps({"text": f"it is {spelled} ok"}))
                assert json.loads(clean)["text"] == f"it is {_redacted(spelled, value, redactor)} ok"
        same = json.dumps(
            [
                environ["HOME"],
                environ["MAX_TOKENS"],
                environ["GOOGLE_APPLICATION_CREDENTIALS"],
                environ["SHORT_TOKEN"],
            ]
        )
        assert line(redactor, same) == same

    @pytest.mark.parametrize(
        "value",
        [b"caf\xe9-opaque".decode("utf-8", "surrogateescape"), "lone \ud800 surrogate", "nul \0 within it"],
    )
    def test_a_value_that_is_no_proper_text_leaves_too(self, value):
        redactor = Redactor(salt=SALT, environ={"A_TOKEN": value})
        assert line(redactor, json.dumps({"x": f"is {value}!"})) == json.dumps(
            {"x": f"is {redactor.secret('x', value)}!"}
        )
        raw = value.encode("utf-8", "surrogatepass" if "\ud800" in value else "surrogateescape")
        assert redactor.raw(b"is " + raw) == b"is " + redactor.secret("x", value).encode()

    def test_what_is_learned_leaves_from_then_on_with_the_token_it_had_by_name(self) -> None:
        redactor = Redactor(salt=SALT)
        before = json.loads(line(redactor, '{"authorization":"Bearer opaque-value-1"}'))["authorization"]
        assert line(redactor, '{"x":"opaque-value-1"}') == '{"x":"opaque-value-1"}'
        redactor.learn("Bearer opaque-value-1")
        after = json.loads(line(redactor, '{"x":"say opaque-value-1."}'))["x"]
        assert after == f"say {before.removeprefix('Bearer ')}."

    def test_a_variable_of_many_kilobytes_leaves_also_where_much_was_read_before(self) -> None:
        key = "".join(map(str, range(2000)))
        redactor = Redactor(salt=SALT, environ={"SIGNING_KEY": key})
        for _ in range(3):
            redactor.raw(b"harmless " * 20_000)
        token = redactor.secret("x", key)
        assert redactor.raw(f"key {key}!".encode()) == f"key {token}!".encode()
        assert key.encode().hex().encode() not in redactor.raw(key.encode().hex().encode())

    def test_short_values_and_tokens_are_not_learned(self) -> None:
        redactor = Redactor(salt=SALT)
        token = redactor.secret("x", "hunter2hunter2")
        for value in ("short", token, f"Bearer {token}"):
            redactor.learn(value)
        text = json.dumps({"a": "short", "b": token})
        assert line(redactor, text) == text
        assert redactor.secret("x", token) == token

    def test_a_number_that_is_a_known_value_becomes_a_string(self) -> None:
        redactor = Redactor(salt=SALT)
        redactor.learn("1234567890")
        clean = json.loads(line(redactor, '{"a":1234567890,"b":[-1234567890.5,true],"c":"no 1234567890, x"}'))
        assert "1234567890" not in json.dumps(clean)
        assert TOKEN.fullmatch(clean["a"])

    def test_a_word_is_hidden_as_a_word_only(self) -> None:
        redactor = Redactor(salt=SALT, environ={"DB_PASSWORD": "sunshine", "PG_PASSWORD": "postgres"})
        assert line(redactor, '{"x":"sunshines postgres"}') == '{"x":"sunshines postgres"}'
        assert "sunshine" not in line(redactor, '{"x":"a sunshine!\\nsunshine"}')

    def test_env_gives_a_token_for_a_secret_name_or_a_secret_value_and_else_the_value(self) -> None:
        redactor = Redactor(salt=SALT)
        assert TOKEN.fullmatch(redactor.env("ACME_API_KEY", "abcd-efgh"))
        assert TOKEN.fullmatch(redactor.env("WHATEVER", CANARIES["github"]))
        assert "hunter2" not in redactor.env("DATABASE_URL", "postgres://ann:hunter2@db/x")
        for name, value in [
            ("HOME", "/home/ann"),
            ("PWD", "/srv/shop"),
            ("MAX_TOKENS", "100"),
            ("LANG", "C.UTF-8"),
            ("KEYBOARD", "de"),
            ("SSH_AUTH_SOCK", "/tmp/ssh/agent.1"),
            ("TOKENIZERS_PARALLELISM", "false"),
            ("XDG_SESSION_TYPE", "wayland"),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/token"),
            ("API_KEY", ""),
            ("SECRET_NAME", "prod/db"),
        ]:
            assert redactor.env(name, value) == value

    def test_another_salt_gives_another_token(self) -> None:
        assert Redactor(salt=b"1").secret("x", "value-value") != Redactor(salt=b"2").secret(
            "x", "value-value"
        )

    @pytest.mark.thorough
    def test_threads_share_a_redactor(self) -> None:
        redactor, failures = Redactor(salt=SALT, environ={"A_TOKEN": "opaque-value-1"}), []
        clean, text = (
            json.dumps({"x": "y" * 100_000}).encode(),
            json.dumps({"x": "y" * 100_000 + " opaque-value-1"}).encode(),
        )

        def work(number: int) -> None:
            for turn in range(50):
                redactor.learn(f"learned-{number}-{turn}")
                if redactor.line(clean) is not clean or b"opaque" in redactor.line(text):
                    failures.append(number)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures


def _redacted(spelled: str, value: str, redactor: Redactor) -> str:
    spellings = {value, quote(value, safe="")}
    for text in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        spellings |= {text, json.dumps(text)[1:-1]}
    for one in sorted(spellings, key=len, reverse=True):
        spelled = spelled.replace(one, redactor.secret("x", value))
    return spelled
