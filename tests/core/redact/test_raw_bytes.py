"""Bytes of any kind, and bodies under a Content-Encoding."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import re
import sqlite3
import zipfile
import zlib
from pathlib import Path

import pytest

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


class TestBinary:
    @pytest.mark.parametrize(
        "name", [b"oTp=", b"pwd:", b"password=", b"?key=", b"--pin ", b"token: ", b"://a:", b"pass='"]
    )
    @pytest.mark.parametrize(
        "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))]
    )
    def test_a_name_among_random_bytes_is_no_secret(self, redactor: Redactor, name: bytes, seed: int) -> None:
        made = random.Random(f"{name!r} {seed}")
        data = b"".join(made.randbytes(made.randrange(500, 4000)) + name for _ in range(200))
        assert redactor.raw(data) is data

    def test_a_name_before_a_zero_is_no_secret(self, redactor: Redactor) -> None:
        data = b"\0\0_Open\0Password:\0Paste\0api_key=\x00\x01\x02\x03\x04abcdefgh\0"
        assert redactor.raw(data) is data

    def test_a_value_ends_at_a_zero(self, redactor: Redactor) -> None:
        clean = redactor.raw(b"HOME=/root\0DB_PASSWORD=hunter2-hunter2\0LANG=C.UTF-8\0")
        assert re.fullmatch(rb"HOME=/root\0DB_PASSWORD=\[\[secret:secret:\w{8}\]\]\0LANG=C.UTF-8\0", clean)

    def test_secrets_in_databases_pickles_and_archives_are_found(
        self, redactor: Redactor, tmp_path: Path
    ) -> None:
        text = "DB_PASSWORD=hunter2-hunter2"
        database = sqlite3.connect(tmp_path / "a.db")
        database.execute("create table t (x)")
        database.executemany("insert into t values (?)", [(text,), ("else",)])
        database.commit()
        database.close()
        packed = io.BytesIO()
        # The bytes of this date hold a bracket: `name(` is code, and no value.
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo("settings", (2026, 11, 27, 17, 0, 10)), text)
        for data in [
            (tmp_path / "a.db").read_bytes(),
            pickle.dumps({"settings": text, "n": [1, 2.5, None]}),
            packed.getvalue(),
        ]:
            assert b"hunter2" in data
            assert b"hunter2" not in redactor.raw(data)

    def test_a_long_secret_among_random_bytes_is_found(self, redactor: Redactor) -> None:
        made = random.Random(7)
        for secret in (b"\nDB_PASSWORD=hunter2-hunter2\n", CANARIES["anthropic"].encode()):
            data = made.randbytes(3000) + b"\0" + secret + b"\0" + made.randbytes(3000)
            assert secret.strip().split(b"=")[-1] not in redactor.raw(data)

    @pytest.mark.parametrize("encoding", ["utf-8", "koi8-r", "cp1251", "shift-jis", "latin-1"])
    def test_text_of_any_encoding_is_no_noise(self, redactor: Redactor, encoding: str) -> None:
        words = {"shift-jis": "パスワード ", "latin-1": "ÄÖÜ äöü ß "}.get(encoding, "Пароль доступа ")
        text = f"{words * 20}\npin=hunt7\n{words * 20}\n"
        assert b"hunt7" not in redactor.raw(text.encode(encoding))


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
