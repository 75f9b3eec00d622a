"""Bytes of any kind, and bodies under a Content-Encoding."""

from __future__ import annotations

import gzip
import re
import zlib

from reenact.core.redact import Redactor
from tests.core.redact.samples import CANARIES


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
