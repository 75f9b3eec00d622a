"""Files at signed addresses."""

from __future__ import annotations

import httpx
import pytest

from reenact.browser.session.file_server import FileServer, shelf
from reenact.browser.session.signatures import Signer


@pytest.fixture
def lent(tmp_path):
    file = tmp_path / "a.mp4"
    file.write_bytes(bytes(range(256)) * 8)
    address, _ = shelf(tmp_path).lend("videos/a b.mp4", file, seconds=60)
    return address


def test_a_lent_file_comes_whole_and_as_what_it_is(lent):
    answer = httpx.get(lent)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.content == bytes(range(256)) * 8
    assert httpx.head(lent).headers["content-length"] == "2048"
    assert lent.startswith("http://127.0.0.1:")


def test_a_player_may_jump(lent):
    answer = httpx.get(lent, headers={"Range": "bytes=10-12"})
    assert (answer.status_code, answer.content) == (206, b"\n\x0b\x0c")
    assert answer.headers["content-range"] == "bytes 10-12/2048"
    assert httpx.get(lent, headers={"Range": "bytes=99999-"}).status_code == 416


def test_a_forged_or_expired_address_is_refused(lent, tmp_path):
    assert httpx.get(lent.split("?")[0]).status_code == 403
    assert httpx.get(lent[:-1] + ("0" if lent[-1] != "0" else "1")).status_code == 403
    assert httpx.get(lent.replace("a%20b", "c")).status_code == 403
    expired, _ = shelf(tmp_path).lend("videos/old.mp4", tmp_path / "a.mp4", seconds=-1)
    answer = httpx.get(expired)
    assert (answer.status_code, answer.text) == (403, "this address is not signed, or has expired\n")


def test_what_is_gone_or_was_never_lent_is_not_found(lent, tmp_path):
    base = lent.split("/videos")[0]
    never, _ = Signer.of(tmp_path).sign("/etc/passwd", seconds=60)
    assert httpx.get(base + never).status_code == 404
    (tmp_path / "a.mp4").unlink()
    assert httpx.get(lent).status_code == 404


def test_only_reading_is_possible(lent):
    assert httpx.post(lent).status_code == 405


def test_one_server_does_for_all_files_of_a_store(tmp_path):
    assert shelf(tmp_path) is shelf(tmp_path)
    one = FileServer(Signer(b"k" * 32))
    assert one.port == one.port


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.vtt", "text/vtt; charset=utf-8"),
        ("a.html", "text/html; charset=utf-8"),
        ("a.xyz", "application/octet-stream"),
    ],
)
def test_every_file_has_its_own_kind(tmp_path, name, kind):
    (tmp_path / name).write_text("x")
    address, _ = shelf(tmp_path).lend(name, tmp_path / name, seconds=60)
    assert httpx.get(address).headers["content-type"] == kind
