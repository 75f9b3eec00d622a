"""Secrets by the names of their keys."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from reenact.core.redact import DEFAULT_RULES, Redactor
from tests.core.redact.samples import NAMES, OPAQUE, SALT, TOKEN, line

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
    "aligned program text": lambda v: f'user     = "ann"\npassword   = "{v}"\n',
    "program text with tabs": lambda v: f'user\t\t= "ann"\npassword\t= "{v}"\n',
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
    @pytest.mark.parametrize("separator", ["", "_", "-", ".", " "])
    def test_every_built_in_name_counts_with_all_separators_in_any_case_and_behind_others(
        self, redactor, separator
    ):
        keys = []
        for name in sorted(DEFAULT_RULES.names | DEFAULT_RULES.headers):
            spelled = re.sub("[_-]", separator, name)
            keys += [spelled, spelled.upper(), spelled.title()]
            keys += [f"my_{spelled}"] if name in DEFAULT_RULES.names else []
        assert [key for key in keys if OPAQUE in line(redactor, json.dumps({key: OPAQUE}))] == []

    @pytest.mark.parametrize("flag", ["--password", "--db-password", "--x-api-key", "--openaiApiKey"])
    def test_a_flag_counts_by_the_end_of_its_name(self, redactor, flag):
        for text in (
            f"tool {flag} {OPAQUE} -v",
            json.dumps(["tool", flag, OPAQUE]),
            f"['{flag}', '{OPAQUE}']",
        ):
            assert OPAQUE not in line(redactor, json.dumps({"text": text}))

    def test_a_dash_in_prose_makes_no_flag(self, redactor):
        text = "so -- as for the token', 'an0ther-word1' -- it --is the password though"
        assert line(redactor, json.dumps({"text": text})) == json.dumps({"text": text})

    @pytest.mark.parametrize("spelling", SPELLINGS)
    def test_a_value_without_any_shape_leaves_in_every_spelling(self, redactor, spelling):
        text = SPELLINGS[spelling](OPAQUE)
        for _ in range(3):
            clean = line(redactor, json.dumps({"text": text}))
            assert OPAQUE not in clean
            assert clean.count(Redactor(salt=SALT).secret("x", OPAQUE)) == text.count(OPAQUE)
            assert redactor.raw(text.encode()).count(b"[[secret:") == text.count(OPAQUE)
            text = json.dumps({"nested": text})

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
    def test_a_value_under_a_secret_name_leaves(self, redactor: Redactor, form: object) -> None:
        clean = {name: line(redactor, form(name, OPAQUE)) for name in NAMES}  # type: ignore[operator]
        assert [name for name in NAMES if OPAQUE in clean[name]] == []
        token = Redactor(salt=SALT).secret("x", OPAQUE)
        assert [name for name in NAMES if token not in clean[name]] == []

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
            assert inner == {"password": Redactor(salt=SALT).secret("x", value), "after": "stays"}

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
            patterns=(r"CUST-\d{6}", r"code (\w{5})\b", r"acct=(\w+)", "für-[a-z]+"),
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
