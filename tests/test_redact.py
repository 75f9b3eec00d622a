"""Secrets: each canary, in each place, leaves; and what only looks like one, stays."""

from __future__ import annotations

import base64
import gzip
import json
import re
import threading
import zlib
from dataclasses import replace
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.redact import DEFAULT_RULES, Redactor

SALT = b"a recording's salt"
TOKEN = re.compile(r"\[\[secret:([a-z0-9-]+):[0-9a-f]{8}\]\]")


def words(text: str) -> list[str]:
    return text.split()


def fake(*parts: str) -> str:
    """A canary, put together here: as one literal it would stop this file at every secret scanner."""
    return "".join(parts)


HEX32 = "0123456789abcdef" * 2
ALNUM = "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF4hJ6"
CANARIES = {
    "openai": fake("sk", "-", "abcdefghijklmnopqrst", "T3BlbkFJ", ALNUM[:20]),
    "openai-proj": fake("sk-", "proj-", ALNUM, "-_", ALNUM),
    "openai-svcacct": fake("sk-", "svcacct-", ALNUM),
    "anthropic": fake("sk-", "ant-api03-", ALNUM, "-", ALNUM, "AA"),
    "openrouter": fake("sk-", "or-v1-", HEX32),
    "google": fake("AI", "za", ALNUM[:35]),
    "google-oauth": fake("ya", "29.", "a0Af", ALNUM),
    "aws": fake("AK", "IA", "IOSFODNN7EXAMPLE"),
    "aws-temporary": fake("AS", "IA", "IOSFODNN7EXAMPLE"),
    "github": fake("gh", "p_", ALNUM),
    "github-oauth": fake("gh", "o_", ALNUM),
    "github-server": fake("gh", "s_", ALNUM),
    "github-fine": fake("github", "_pat_", ALNUM[:22], "_", ALNUM),
    "gitlab": fake("gl", "pat-", ALNUM[:20]),
    "slack": fake("xo", "xb-", "123456789012-", ALNUM[:24]),
    "slack-user": fake("xo", "xp-", "123456789012-", ALNUM[:24]),
    "stripe": fake("sk", "_live_", ALNUM[:24]),
    "stripe-restricted": fake("rk", "_live_", ALNUM[:24]),
    "stripe-webhook": fake("wh", "sec_", ALNUM),
    "jwt": fake("ey", "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.", ALNUM, "_-", ALNUM[:5]),
    "huggingface": fake("h", "f_", ALNUM[:34]),
    "groq": fake("gs", "k_", ALNUM),
    "npm": fake("np", "m_", ALNUM),
    "pypi": fake("py", "pi-", "AgEIcHlwaS5vcmc", ALNUM),
    "sendgrid": fake("S", "G.", ALNUM[:22], ".", ALNUM, "1234567"),
    "twilio": fake("S", "K", HEX32),
    "databricks": fake("da", "pi", HEX32),
    "xai": fake("xa", "i-", ALNUM, ALNUM),
    "perplexity": fake("pp", "lx-", ALNUM),
    "replicate": fake("r", "8_", ALNUM),
    "nvidia": fake("nv", "api-", ALNUM, ALNUM[:28]),
    "tavily": fake("tv", "ly-dev-", ALNUM),
    "langsmith": fake("ls", "v2_pt_", HEX32, "_0123456789"),
}
PEM = fake(
    "-----BEGIN RSA PRIV",
    "ATE KEY-----\n",
    "MIIEowIBAAKCAQEA7bq0/+Zk4tVd\n" * 6,
    "9a8b7c==\n",
    "-----END RSA PRIV",
    "ATE KEY-----",
)
PLACES = {
    "a JSON value": lambda s: json.dumps({"note": s, "n": 1}),
    "a JSON key": lambda s: json.dumps({s: 1}),
    "JSON in a JSON string": lambda s: json.dumps({"arguments": json.dumps({"note": f"use {s}!"})}),
    "JSON in JSON in JSON": lambda s: json.dumps({"a": json.dumps({"b": json.dumps({"password": s})})}),
    "a secret key's value": lambda s: json.dumps({"api_key": s}),
    "a header list": lambda s: json.dumps([["accept", "*/*"], ["X-Api-Key", s]]),
    "a header pair": lambda s: json.dumps(["authorization", f"Bearer {s}"]),
    "a header dict": lambda s: json.dumps({"headers": {"x-api-key": s, "accept": "*/*"}}),
    "a header dict of lists": lambda s: json.dumps({"Authorization": [f"Bearer {s}"]}),
    "a HAR header": lambda s: json.dumps([{"name": "X-Api-Key", "value": s}]),
    "a cookie": lambda s: json.dumps({"cookie": f"a=xyz; sid={s}; theme=dark"}),
    "a query": lambda s: json.dumps({"url": f"https://api.example.com/v1?q=a&api_key={quote(s)}&page=2"}),
    "a form": lambda s: json.dumps({"body": urlencode({"user": "ann", "password": s, "x": "y"})}),
    "a URL's password": lambda s: json.dumps(
        {"dsn": f"postgres://ann:{quote(s, safe='')}@db.example.com:5432/x"}
    ),
    "prose": lambda s: json.dumps({"content": f"My key is {s}, please keep it."}),
    "a line of its own": lambda s: json.dumps({"content": f"Here:\n{s}\nThanks"}),
    "an exception": lambda s: json.dumps(
        {"error": f"AuthError: Incorrect API key provided: {s}. See https://x.y/z"}
    ),
    "a Python repr": lambda s: json.dumps({"repr": repr({"api_key": s, "n": 1})}),
    "a header line": lambda s: json.dumps(
        {"raw": f"GET / HTTP/1.1\r\nAuthorization: Bearer {s}\r\nAccept: */*\r\n"}
    ),
    "a command": lambda s: json.dumps({"cmd": f"curl -H 'X-Api-Key: {s}' https://x.y"}),
    "an env file": lambda s: json.dumps({"text": f"DEBUG=1\nexport SERVICE_API_KEY={s}\nA=b\n"}),
    "a flag": lambda s: json.dumps({"cmd": f"tool --api-key {s} run"}),
}


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor(salt=SALT)


def line(redactor: Redactor, text: str) -> str:
    clean = redactor.line(text.encode())
    json.loads(clean)
    assert redactor.line(clean) == clean, "redacting twice changes nothing"
    return clean.decode()


class TestShapes:
    @pytest.mark.parametrize("place", PLACES)
    @pytest.mark.parametrize("canary", CANARIES)
    def test_a_secret_of_a_known_shape_leaves_every_place_and_gets_the_same_token(
        self, redactor: Redactor, canary: str, place: str
    ) -> None:
        secret = CANARIES[canary]
        clean = line(redactor, PLACES[place](secret))
        assert secret[6:] not in clean
        assert Redactor(salt=SALT).secret("any", secret) in clean

    @pytest.mark.parametrize("canary", CANARIES)
    def test_the_label_names_the_shape(self, redactor: Redactor, canary: str) -> None:
        label = TOKEN.fullmatch(redactor.secret("x", CANARIES[canary]))
        assert label is not None
        assert label[1] != "secret"
        assert label[1] in {canary, canary.partition("-")[0]}

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


OPAQUE = "correct-Horse_battery9"
NAMES = words(
    "password passwd secret client_secret clientSecret CLIENT-SECRET access_token accessToken "
    "refresh_token private_key api_key apikey apiKey API-Key X-Api-Key auth authorization session "
    "credential db_password dbPassword openai_api_key aws_secret_access_key github_token AccountKey token "
    "passphrase"
)


SPELLINGS = {
    "a YAML file": lambda v: f"db:\n  user: ann\n  password: {v}\n  host: x\n",
    "a quoted YAML file": lambda v: f'db:\n  password: "{v}"\n',
    "an INI file": lambda v: f"[default]\naws_secret_access_key = {v}\n",
    "an env file": lambda v: f"A=b\nDB_PASSWORD={v}\nC=d\n",
    "curl with JSON": lambda v: f'curl -d \'{{"password":"{v}"}}\' https://x.y',
    "curl with a header": lambda v: f"curl -H 'X-Api-Key: {v}' https://x.y",
    "a tuple's repr": lambda v: f"[('x-api-key', '{v}')]",
    "a repr of bytes": lambda v: f"[(b'x-api-key', b'{v}'), (b'a', b'b')]",
    "a dict of bytes": lambda v: f"{{b'x-api-key': b'{v}'}}",
    "a header without a space": lambda v: f"a: b\r\nx-api-key:{v}\r\n",
    "a cookie being set": lambda v: f"Set-Cookie: sid={v}; Path=/\r\n",
    "a form with brackets": lambda v: f"user[name]=ann&user[password]={v}&c=d",
    "os.environ": lambda v: f'os.environ["OPENAI_API_KEY"] = "{v}"',
    "Ruby": lambda v: f"'password' => '{v}'",
    "Go": lambda v: f'password := "{v}"',
    "XML": lambda v: f"<a><ns:password>{v}</ns:password></a>",
    "an SQL server's address": lambda v: f"Server=x;User Id=sa;Password={v};Database=y",
    "libpq": lambda v: f"host=h user=u password={v} dbname=d",
    "redis": lambda v: f"redis://:{v}@localhost:6379/0",
    "git": lambda v: f"fatal: could not read https://x-access-token:{v}@github.com/a/b.git",
    "PHP's slashes": lambda v: f'{{"dsn":"postgres:\\/\\/ann:{v}@db\\/x"}}',
    "Go's ampersands": lambda v: f'{{"body":"user=a\\u0026password={v}\\u0026c=d"}}',
    "a list of headers": lambda v: json.dumps({"h": [["accept", "*/*"], ["x-api-key", v]]}),
    "a pretty list of headers": lambda v: json.dumps({"h": [["x-api-key", v]]}, indent=1),
    "a list of header objects": lambda v: json.dumps([{"key": "X-Api-Key", "value": v, "type": "text"}]),
    "a pretty list of values": lambda v: json.dumps({"x-api-key": [v, v, v]}, indent=1),
    "a list of values": lambda v: json.dumps({"x-api-key": [v], "a": ["b"]}),
    "a command": lambda v: f"tool --api-key {v} --verbose",
    "a command in quotes": lambda v: f"tool --api-key '{v}' --verbose",
    "a command's arguments": lambda v: json.dumps(["tool", "--api-key", v, f"--password={v}", "x"]),
}


class TestNames:
    @pytest.mark.parametrize("depth", [0, 1, 2])
    @pytest.mark.parametrize("spelling", SPELLINGS)
    def test_a_value_without_any_shape_leaves_in_every_spelling(self, redactor, spelling, depth):
        text = SPELLINGS[spelling](OPAQUE)
        for _ in range(depth):
            text = json.dumps({"nested": text})
        clean = line(redactor, json.dumps({"text": text}))
        assert OPAQUE not in clean
        assert clean.count(Redactor(salt=SALT).secret("x", OPAQUE)) == text.count(OPAQUE)
        assert redactor.raw(text.encode()).count(b"[[secret:") == text.count(OPAQUE)

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize(
        "form",
        [
            lambda n, v: json.dumps({n: v}),
            lambda n, v: json.dumps({n: v}, separators=(",", ":")),
            lambda n, v: json.dumps({n: v}, indent=2),
            lambda n, v: json.dumps({"arguments": json.dumps({n: v})}),
            lambda n, v: json.dumps({"a": json.dumps({"b": json.dumps({n: v, "c": 1})})}),
            lambda n, v: json.dumps({"body": f"a=b&{n}={v}&c=d"}),
            lambda n, v: json.dumps({"url": f"https://x.y/?{n}={v}"}),
            lambda n, v: json.dumps({"repr": f"Config({n}='{v}', x=1)"}),
            lambda n, v: json.dumps({"code": f'{n} = "{v}"\n'}),
            lambda n, v: json.dumps({"conn": f"Endpoint=https://x.y/;{n}={v};Suffix=z"}),
        ],
        ids=["object", "compact", "indented", "nested", "twice", "form", "query", "repr", "code", "conn"],
    )
    def test_a_value_under_a_secret_name_leaves(self, redactor: Redactor, name: str, form: object) -> None:
        clean = line(redactor, form(name, OPAQUE))  # type: ignore[operator]
        assert OPAQUE not in clean
        assert Redactor(salt=SALT).secret("x", OPAQUE) in clean

    @pytest.mark.parametrize(
        "value", ['a"b\\c', "tab\tnew\nline", "ünïcödé ☃", "end with \\", '"', "''''", '\\\\\\""x']
    )
    @pytest.mark.parametrize("depth", [0, 1, 2, 3])
    def test_quotes_and_escapes_in_a_value_end_neither_the_value_nor_the_json(
        self, redactor: Redactor, value: str, depth: int
    ) -> None:
        value += "tail"
        for ascii_ in (True, False):
            text: object = {"password": value, "after": "stays"}
            for _ in range(depth):
                text = {"in": json.dumps(text, ensure_ascii=ascii_)}
            clean = line(redactor, json.dumps(text, ensure_ascii=ascii_))
            inner = json.loads(clean)
            for _ in range(depth):
                inner = json.loads(inner["in"])
            assert inner == {"password": Redactor(salt=SALT)._token(value), "after": "stays"}

    def test_numbers_under_pin_and_password_become_strings(self, redactor: Redactor) -> None:
        clean = json.loads(line(redactor, '{"pin": 123456,"password":98765432}'))
        assert all(TOKEN.fullmatch(v) for v in clean.values())
        nested = line(redactor, json.dumps({"arguments": json.dumps({"pin": 123456})}))
        assert TOKEN.fullmatch(json.loads(json.loads(nested)["arguments"])["pin"])

    def test_cookies_keep_names_and_attributes_and_are_the_same_in_both_directions(
        self, redactor: Redactor
    ) -> None:
        sent = json.loads(line(redactor, json.dumps({"Cookie": "sid=abcdef123456; theme=dark"})))["Cookie"]
        got = json.loads(
            line(
                redactor,
                json.dumps(
                    {
                        "set-cookie": [
                            "sid=abcdef123456; Path=/; HttpOnly; Expires=Wed, 21 Oct 2026 07:28:00 GMT"
                        ]
                    }
                ),
            )
        )
        token = TOKEN.search(sent)
        assert token
        assert (
            got["set-cookie"][0] == f"sid={token[0]}; Path=/; HttpOnly; Expires=Wed, 21 Oct 2026 07:28:00 GMT"
        )
        assert "dark" not in sent

    def test_the_scheme_of_an_authorization_stays(self, redactor: Redactor) -> None:
        assert json.loads(line(redactor, '{"authorization": "Bearer abc"}'))["authorization"].startswith(
            "Bearer [[secret:"
        )

    def test_a_users_own_names_headers_patterns_and_values_count(self) -> None:
        rules = replace(
            DEFAULT_RULES,
            names=DEFAULT_RULES.names | {"ssn", "Badge Number", "kundenkey"},
            headers=DEFAULT_RULES.headers | {"X-Tenant"},
            patterns=(r"CUST-\d{6}", r"(?<=code )\w{5}\b", r"acct=(\w+)", "für-[a-z]+"),
            values=frozenset({"Rumpelstilzchen", "12345678"}),
        )
        redactor = Redactor(rules, salt=SALT)
        document = {
            "ssn": "078-05-1120",
            "userSsn": "078-05-1121",
            "badgeNumber": "B-12345",
            "kunden_key": "k-12345",
            "headers": {"x-tenant": "acme"},
            "text": "CUST-123456 and code abcde and acct=zyx987 für-alle",
            "who": "I am Rumpelstilzchen.",
            "n": [12345678, 123456789],
            "lesson": "stays",
        }
        clean = line(redactor, json.dumps(document, ensure_ascii=False))
        for secret in (
            "078-05",
            "B-12345",
            "k-12345",
            "acme",
            "CUST-1",
            "abcde",
            "zyx987",
            "alle",
            "Rumpel",
            "12345678",
        ):
            assert secret not in clean
        assert json.loads(clean)["lesson"] == "stays"
        assert "acct=[[secret:" in clean


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

    def test_what_is_learned_leaves_from_then_on_with_the_token_it_had_by_name(self) -> None:
        redactor = Redactor(salt=SALT)
        before = json.loads(line(redactor, '{"authorization":"Bearer opaque-value-1"}'))["authorization"]
        assert line(redactor, '{"x":"opaque-value-1"}') == '{"x":"opaque-value-1"}'
        redactor.learn("Bearer opaque-value-1")
        after = json.loads(line(redactor, '{"x":"say opaque-value-1."}'))["x"]
        assert after == f"say {before.removeprefix('Bearer ')}."

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
            ("PWD", "/work/x"),
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


HARMLESS: list[object] = [
    {"usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}, "max_tokens": 4096},
    {
        "id": "chatcmpl-9aB3dE5gH7jK9mN1pQ4sT6vW8yZ0b",
        "system_fingerprint": "fp_44709d6fcb",
        "object": "chat.completion",
    },
    {
        "tool_calls": [
            {
                "id": "call_aB3dE5gH7jK9mN1pQ4sT6vW8",
                "type": "function",
                "function": {"name": "f", "arguments": "{}"},
            }
        ]
    },
    {"id": "toolu_01A09q90qw90lq917835lq9", "type": "tool_use"},
    {"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"},
    {"id": "resp_68a1b2c3d4e5f60718293a4b5c6d7e8f", "item_id": "rs_68a1b2c3d4e5f60718293a4b5c6d7e8f"},
    {
        "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "md5": "d41d8cd98f00b204e9800998ecf8427e",
    },
    {"git": "3ea751c0f1e2d3c4b5a697887766554433221100", "uuid": "123e4567-e89b-12d3-a456-426614174000"},
    {"order": "W1234567890", "sku": "SKU-0012345", "phone": "+49 30 1234567", "card_last4": "4242"},
    {
        "auth": True,
        "password": None,
        "secret": "",
        "token": 12,
        "session": {},
        "api_key": [],
        "credentials": False,
    },
    {"auth": "oauth2", "token": "Hello", "session": "new", "pass": "yes", "token_type": "bearer", "pin": 13},
    {
        "logprobs": {
            "content": [{"token": "understanding", "logprob": -0.1, "bytes": [1], "top_logprobs": []}]
        }
    },
    {
        "logprobs": [
            {"token": "internationalization", "logprob": -0.1},
            {"token": "ISO8859123", "bytes": None},
        ]
    },
    {
        "type": "object",
        "properties": {"password": {"type": "string"}, "api_key": {"type": "string"}},
        "required": ["password", "api_key"],
    },
    {
        "next_page_token": "CAUQAA1234567890abcdef",
        "nextPageToken": "Q0FVUUFB",
        "eos_token": "<|endoftext|>1234567",
    },
    {"type": "thinking", "thinking": "Hm.", "signature": "EqQBCkYIARgCKkDx9a8b7c6d5e4f3g2h1" * 9},
    {"content": "The secret: hard work. My password is safe. Basic understanding of bearer instruments."},
    {"content": "Set your password: it should be long.\nAuth: see the docs\nThe session: a long one"},
    {
        "code": "def f(api_key=None, token: str = '', password: str | None = None):\n    "
        "api_key = os.getenv('OPENAI_API_KEY')\n"
    },
    {
        "code": "client = Client(api_key=api_key, token=self.token, secret=settings.secret)\n"
        "password = getpass('Password: ')\nx = 1"
    },
    {"code": 'x = input("Enter password: ")\nprint("token: ")\nsecret = load()\n', "next": "value"},
    {"code": "export API_KEY=$OPENAI_API_KEY\nTOKEN=$(cat f)\nPASSWORD=${PW}\nh={'Authorization': auth}"},
    {
        "html": '<div class="sk-toggleable__label sk-toggleable__label-arrow sk-container-id-1">',
        "css": "task-force-something-long",
    },
    {
        "url": "https://example.com:8080/path?q=a@b.c&page=2",
        "mail": "mailto:ann@example.com",
        "ssh": "git@github.com:a/b.git",
    },
    {"url": "https://user@example.com/x", "time": "12:30:45", "ratio": "a://b:c"},
    {"words": "ghp_short AKIA hf_model sk-learn eyJ xai-team npm_config SG.12 dapi r8_x pypi-x whsec glpat-"},
    {"image": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"},
    {
        "pem": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "key": "-----BEGIN PUBLIC KEY-----",
    },
    {
        "vary": ["authorization, cookie"],
        "access-control-allow-headers": "authorization,x-api-key,content-type",
    },
    {
        "authorization_url": "https://x.y/authorize",
        "secret_name": "prod",
        "password_hint": "your cat",
        "cookie_consent": "yes",
    },
    [["content-type", "application/json"], ["password", "required"], ["x", "y"]],
    {"model": "gpt-4o-mini-2024-07-18", "service_tier": "default", "finish_reason": "stop"},
]


class TestWhatStays:
    @pytest.mark.parametrize("document", HARMLESS, ids=lambda d: json.dumps(d)[:50])
    @pytest.mark.parametrize("nested", [False, True])
    def test_what_only_looks_like_a_secret_stays_and_the_same_object_comes_back(
        self, redactor: Redactor, document: object, nested: bool
    ) -> None:
        data = json.dumps({"arguments": json.dumps(document)} if nested else document).encode()
        assert redactor.line(data) is data
        assert redactor.raw(data) is data

    def test_binary_stays(self, redactor: Redactor) -> None:
        data = bytes(range(256)) * 400
        assert redactor.raw(data) is data
        assert redactor.raw(b"") == b""


class TestRaw:
    def test_a_form_is_cleaned(self, redactor: Redactor) -> None:
        assert redactor.raw(b"grant_type=password&username=ann&password=p%40ss+word&x=1").startswith(
            b"grant_type=password&username=ann&password=[[secret:"
        )

    def test_binary_around_a_secret_stays_as_it_is(self, redactor: Redactor) -> None:
        secret = CANARIES["anthropic"].encode()
        clean = redactor.raw(b"\x00\xff\xfe" + secret + b"\x80\x00")
        assert clean.startswith(b"\x00\xff\xfe[[secret:anthropic:")
        assert clean.endswith(b"]]\x80\x00")

    def test_a_url_keeps_all_but_its_password(self, redactor: Redactor) -> None:
        clean = redactor.raw(b"connect to amqp://ann:p%40ss@host:5672/v?x=1 failed")
        assert re.fullmatch(
            rb"connect to amqp://ann:\[\[secret:secret:\w{8}\]\]@host:5672/v\?x=1 failed", clean
        )

    def test_signed_urls_lose_their_signature(self, redactor: Redactor) -> None:
        assert b"deadbeef" not in redactor.raw(
            b"https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=deadbeefdeadbeef&z=1"
        )


class TestCompressedBodies:
    def test_a_compressed_body_is_packed_again_as_it_was(self, redactor):
        body = b'{"api_key": "hunter2-hunter2", "x": 1}'
        for encoding, pack, unpack in [
            ("gzip", gzip.compress, gzip.decompress),
            ("deflate", zlib.compress, zlib.decompress),
            ("", bytes, bytes),
        ]:
            clean = redactor.body(pack(body), encoding)
            assert unpack(clean) == redactor.raw(body)
            assert redactor.body(clean, encoding) is clean

    def test_a_body_that_does_not_unpack_is_cleaned_as_it_is(self, redactor):
        assert b"hunter2" not in redactor.body(b'{"api_key": "hunter2-hunter2"}', "gzip")
        assert redactor.body(b"nothing", "br, unheard-of") == b"nothing"


class TestStreams:
    @pytest.mark.parametrize("canary", [*CANARIES, "pem", "name", "form", "bearer", "url", "exact", "header"])
    def test_a_secret_cut_at_any_place_leaves_and_all_chunks_read_like_the_whole_redacted(
        self, canary: str
    ) -> None:
        special = {
            "pem": f"see\n{PEM}\nok",
            "name": '{"user": "ann", "password": "hunter2-hunter2", "x": "y"}',
            "form": "user=ann&password=hunter2-hunter2&x=y",
            "bearer": "send Bearer opaque12345opaque now",
            "url": "go to postgres://ann:hunter2-hunter2@host/db now",
            "exact": "so the word is opaque-known-value, is it",
            "header": "GET / HTTP/1.1\r\nX-Api-Key: hunter2-hunter2\r\nAccept: x\r\n\r\n",
        }
        whole = special.get(canary, f"my key: {CANARIES.get(canary)} is good").encode()
        secrets = [
            CANARIES.get(canary, "hunter2-hunter2"),
            "hunter2-hunter2",
            "opaque12345opaque",
            "opaque-known-value",
        ]
        redactor = Redactor(salt=SALT, environ={"THE_TOKEN": "opaque-known-value"})
        expected = redactor.raw(whole)
        assert b"[[secret:" in expected
        for cut in range(len(whole) + 1):
            stream = redactor.stream()
            out = stream.chunk(whole[:cut]) + stream.chunk(whole[cut:]) + stream.end()
            for secret in secrets:
                assert secret[8:].encode() not in out, (cut, out)
            assert b"MIIE" not in out
            assert b"[[secret:" in out
            assert len(out) <= len(expected) + 40
            if canary == "openai-proj" and not 8 < cut < 10:
                assert out == expected, cut

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
    def test_small_chunks_spell_no_secret(self, size: int) -> None:
        redactor = Redactor(salt=SALT, environ={"THE_TOKEN": "opaque-known-value"})
        secrets = [*CANARIES.values(), "opaque-known-value"]
        whole = (" and ".join(secrets) + "\npassword=hunter2-hunter2&x=y " + PEM + " end").encode()
        stream = redactor.stream()
        out = b"".join(stream.chunk(whole[i : i + size]) for i in range(0, len(whole), size)) + stream.end()
        for secret in [*secrets, "hunter2-hunter2", PEM]:
            assert secret[8:].encode() not in out, secret
        assert out.endswith(b" end")

    def test_what_turns_out_harmless_is_written_after_all(self, redactor: Redactor) -> None:
        whole = (
            b"use sk-learn and hf_model, xai-team; eyJab.c ghp_x http://localhost:80/x Basic ideas -----BEGIN"
        )
        for cut in range(len(whole)):
            stream = redactor.stream()
            assert stream.chunk(whole[:cut]) + stream.chunk(whole[cut:]) + stream.end() == whole

    @pytest.mark.parametrize("size", [1, 2, 3, 5, 11])
    @pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama", "responses"])
    def test_a_secret_spelled_over_the_events_of_a_stream_leaves(self, provider: str, size: int) -> None:
        redactor = Redactor(salt=SALT, environ={"THE_TOKEN": "opaque-known-value"})
        text = f'The key is {CANARIES["openai-proj"]} or {CANARIES["github"]}; the word "opaque-known-value".'
        text += "\nEnd with sk-le"
        stream, clean = redactor.stream(), b""
        for event in _events(provider, text, size):
            clean += stream.chunk(event)
        clean += stream.end()
        spelled = _spelled(clean)
        assert CANARIES["openai-proj"][12:] not in spelled
        assert CANARIES["github"][8:] not in spelled
        assert "known-value" not in spelled
        assert redactor.secret("x", CANARIES["openai-proj"]) in spelled
        assert redactor.secret("x", "opaque-known-value") in spelled
        assert spelled.endswith("End with sk-le")
        if size > 1:
            assert len(spelled) < len(redactor.raw(text.encode())) + 12

    def test_a_secret_in_the_arguments_of_a_streamed_tool_call_leaves(self, redactor: Redactor) -> None:
        arguments = '{"user": "ann", "password": "hunter2-hunter2", "n": 1}'
        stream = redactor.stream()
        clean = b"".join(stream.chunk(e) for e in _events("arguments", arguments, 4)) + stream.end()
        assert TOKEN.fullmatch(json.loads(_spelled(clean))["password"])

    def test_a_stream_without_secrets_comes_back_byte_for_byte(self, redactor: Redactor) -> None:
        for provider in ("openai", "anthropic", "ollama", "responses"):
            events = _events(
                provider, "It is a sky of asks; the key is in the masks. Python, guys, hf, sk.", 3
            )
            stream = redactor.stream()
            assert [e for chunk in events if (e := stream.chunk(chunk))][-1] == events[-1]
            whole = b"".join(events)
            for cut in (1, 17, len(whole) // 2, len(whole) - 3):
                stream = redactor.stream()
                out = stream.chunk(whole[:cut]) + stream.chunk(whole[cut:]) + stream.end()
                assert _spelled(out) == _spelled(whole)

    def test_a_long_value_is_not_held_for_ever(self, redactor: Redactor) -> None:
        stream = redactor.stream()
        out = (
            b"".join(
                stream.chunk(c) for c in [b'{"secret": "', *[b"s3cr3t " * 1000] * 40, b'", "x": "stays"}']
            )
            + stream.end()
        )
        assert b"s3cr3t" not in out
        assert out.endswith(b'", "x": "stays"}')


def _events(provider: str, text: str, size: int) -> list[bytes]:
    pieces = [text[i : i + size] for i in range(0, len(text), size)]

    def data(value: object) -> bytes:
        return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"

    if provider == "ollama":
        return [json.dumps({"message": {"content": p}, "done": False}).encode() + b"\n" for p in pieces] + [
            b'{"done":true}\n'
        ]
    if provider == "anthropic":
        start = {"type": "content_block_delta", "index": 0}
        body = [
            b"event: content_block_delta\n" + data(start | {"delta": {"type": "text_delta", "text": p}})
            for p in pieces
        ]
        return [*body, b"event: content_block_stop\n" + data({"type": "content_block_stop", "index": 0})]
    if provider == "responses":
        name = "response.output_text.delta"
        body = [
            f"event: {name}\n".encode() + data({"type": name, "output_index": 0, "delta": p}) for p in pieces
        ]
        return [*body, b"event: response.completed\n" + data({"type": "response.completed"})]
    if provider == "arguments":
        body = [
            data(
                {
                    "choices": [
                        {"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": p}}]}}
                    ]
                }
            )
            for p in pieces
        ]
    else:
        body = [
            data({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": {"content": p}}]}) for p in pieces
        ]
    return [
        *body,
        data({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        b"data: [DONE]\n\n",
    ]


def _spelled(stream: bytes) -> str:
    out = ""
    for row in stream.splitlines():
        if row.startswith((b"data: {", b"{")):
            event = json.loads(row.removeprefix(b"data: "))
            for choice in event.get("choices", []):
                out += choice["delta"].get("content", "")
                out += "".join(c["function"]["arguments"] for c in choice["delta"].get("tool_calls", []))
            delta = event.get("delta", "")
            out += delta.get("text", "") if isinstance(delta, dict) else delta
            out += event.get("message", {}).get("content", "")
    return out


WORDS = st.sampled_from(
    [
        *CANARIES.values(),
        *NAMES,
        PEM,
        "opaque-known-value",
        'we"ird\\va\nlue',
        "=",
        ": ",
        '": "',
        "\\",
        '"',
        "'",
        "&",
        "Bearer ",
        "\n",
        "{",
        "[",
        "]",
        ",",
        "://a:b@c",
        "cookie: a=b; c=d",
        "[[secret:x:01234567]]",
        "[[secret:",
        "1234567890",
        " ",
    ]
)
TEXT = st.lists(st.one_of(WORDS, st.text(max_size=6)), max_size=7).map("".join)
JSON = st.recursive(
    st.one_of(TEXT, st.integers(), st.booleans(), st.none(), st.just(1234567890)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(TEXT, st.sampled_from(NAMES)), inner, max_size=4),
        inner.map(json.dumps),
        inner.map(lambda v: json.dumps(v, ensure_ascii=False)),
    ),
    max_leaves=8,
)
EXAMPLES = settings(max_examples=200, deadline=None)
EAGER = Redactor(
    replace(
        DEFAULT_RULES,
        patterns=(r"op\w+", r"(?s)w.{3,9}l"),
        values=frozenset({"1234567890", 'we"ird\\va\nlue'}),
    ),
    salt=SALT,
    environ={"THE_TOKEN": "opaque-known-value"},
)


class TestProperties:
    @EXAMPLES
    @given(JSON, st.booleans())
    def test_json_stays_json_and_redacting_twice_changes_nothing(self, value: object, ascii_: bool) -> None:
        data = json.dumps(value, ensure_ascii=ascii_).encode("utf-8", "replace")
        for redactor in (EAGER, Redactor(salt=SALT)):
            clean = redactor.line(data)
            json.loads(clean)
            assert redactor.line(clean) == clean

    @EXAMPLES
    @given(JSON)
    def test_no_canary_survives_a_line(self, value: object) -> None:
        clean = EAGER.line(json.dumps(value).encode())
        assert b"opaque-known" not in clean
        for name in ("anthropic", "github-fine", "openai-proj"):
            found = clean.find(CANARIES[name].encode())
            assert found < 0 or clean[found - 1 : found].isalnum()

    @EXAMPLES
    @given(st.one_of(TEXT.map(str.encode), st.binary(max_size=80)))
    def test_redacting_any_bytes_twice_changes_nothing(self, data: bytes) -> None:
        clean = EAGER.raw(data)
        assert EAGER.raw(clean) == clean

    @EXAMPLES
    @given(TEXT, st.lists(st.integers(0, 300), max_size=4))
    def test_however_a_body_is_cut_no_known_value_survives(self, text: str, cuts: list[int]) -> None:
        data, stream, out, at = text.encode(), EAGER.stream(), b"", 0
        for cut in [*sorted(cuts), len(data)]:
            out += stream.chunk(data[at : max(at, cut)])
            at = max(at, cut)
        assert b"known-value" not in out + stream.end()
