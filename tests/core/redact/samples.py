"""Fake secrets, the places where they stand, and how to look at what comes out."""

from __future__ import annotations

import json
import re
from urllib.parse import quote, urlencode

from reenact.core.redact import Redactor

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

OPAQUE = "correct-Horse_battery9"

NAMES = words(
    "password passwd secret client_secret clientSecret CLIENT-SECRET access_token accessToken "
    "refresh_token private_key api_key apikey apiKey API-Key X-Api-Key auth authorization session "
    "credential db_password dbPassword openai_api_key aws_secret_access_key github_token AccountKey token "
    "passphrase"
)


def line(redactor: Redactor, text: str) -> str:
    clean = redactor.line(text.encode())
    json.loads(clean)
    assert redactor.line(clean) == clean, "redacting twice changes nothing"
    return clean.decode()
