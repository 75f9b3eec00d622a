"""Bodies that arrive chunk by chunk."""

from __future__ import annotations

import json
import random

import pytest

from reenact.core.redact import Redactor
from tests.core.redact.samples import CANARIES, PEM, SALT, TOKEN


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

    @pytest.mark.sampled(every=5)
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("longest", [1, 40, 3000])
    @pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama", "responses"])
    def test_it_leaves_where_the_chunks_cut_the_events_anywhere(
        self, provider: str, longest: int, end: str
    ) -> None:
        redactor = Redactor(salt=SALT, environ={"THE_TOKEN": "opaque-known-value"})
        secrets = [*list(CANARIES.values())[:3], "opaque-known-value"]
        text = f"The keys are {' and '.join(secrets)}. Bye."
        chance = random.Random(longest)
        for size in (1, 5):
            whole = b"".join(_events(provider, text, size)).replace(b"\n", end.encode())
            stream, clean, at = redactor.stream(), b"", 0
            while at < len(whole):
                cut = at + chance.randint(1, longest)
                clean += stream.chunk(whole[at:cut])
                at = cut
            spelled = _spelled((clean + stream.end()).replace(b"\r\n", b"\n"))
            assert [secret for secret in secrets if secret[8:] in spelled] == []
            assert (spelled.startswith("The keys are "), spelled.endswith(". Bye.")) == (True, True)
            assert len(TOKEN.findall(spelled)) == len(secrets)

    @pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama", "responses"])
    def test_most_chunks_come_as_they_are_where_no_secret_may_begin_in_them(
        self, redactor: Redactor, provider: str
    ) -> None:
        whole = b"".join(_events(provider, 'He said: "no, öäü, \\n 12 of 30". ' * 40, 4))
        stream, chance, at, same, chunks = redactor.stream(), random.Random(1), 0, 0, 0
        while at < len(whole):
            chunk = whole[at : at + chance.randint(1, 400)]
            at, chunks, same = at + len(chunk), chunks + 1, same + (stream.chunk(chunk) == chunk)
        assert same > 0.8 * chunks

    def test_an_event_with_a_huge_text_is_not_held_until_its_end(self, redactor: Redactor) -> None:
        stream = redactor.stream()
        stream.chunk(b'data: {"content": "')
        parts = [stream.chunk(b"ab " * 5000) for _ in range(20)]
        assert len(b"".join(parts)) > 200_000
        whole = b"".join([b'data: {"content": "', *parts, stream.chunk(b'"}\n\n'), stream.end()])
        assert json.loads(whole[5:])["content"] == "ab " * 100_000

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
