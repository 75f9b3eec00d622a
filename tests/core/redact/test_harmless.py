"""What only looks like a secret stays."""

from __future__ import annotations

import json

import pytest

from reenact.core.redact import Redactor

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
