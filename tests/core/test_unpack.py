"""Data from elsewhere is unpacked within limits, counted after decompression."""

from __future__ import annotations

import gzip
import importlib
import io
import time
import tracemalloc
import zipfile
import zlib

import brotli
import pytest

from reenact.core import unpack
from reenact.errors import CorruptRecording, TooLarge

zstd = importlib.import_module(unpack.ZSTD)
PACKERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=1),
    "zstd": zstd.compress,
}


def archive(*members, method=zipfile.ZIP_DEFLATED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as packed:
        for name, content in members:
            packed.writestr(name, content)
    data.seek(0)
    return data


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_body_comes_out_whole_whatever_its_pieces(encoding):
    body = b"".join(b"%d, " % number for number in range(50_000))
    packed = PACKERS[encoding](body)
    for size in (1, 100, len(packed)):
        unpacker = unpack.Unpacker(encoding)
        found = b"".join(unpacker.decode(packed[at : at + size]) for at in range(0, len(packed), size))
        assert found == body


@pytest.mark.parametrize(
    "encoding", ["gzip, gzip", "GZIP,deflate", "br , gzip", "utf-8, gzip", "identity,zstd,br,gzip"]
)
def test_a_body_of_several_codings_is_unpacked_from_the_last_to_the_first(encoding):
    body = packed = b"".join(b"%d, " % number for number in range(5_000))
    for coding in unpack.codings(encoding):
        packed = PACKERS[coding](packed)
    for size in (1, 100, len(packed)):
        unpacker = unpack.Unpacker(encoding)
        assert b"".join(unpacker.decode(packed[at : at + size]) for at in range(0, len(packed), size)) == body


@pytest.mark.parametrize("encoding", ["", "identity", "utf-8, none", ",".join(["gzip"] * 5)])
def test_a_body_without_known_codings_or_with_very_many_is_left_alone(encoding):
    with pytest.raises(LookupError):
        unpack.Unpacker(encoding)


def test_a_bomb_in_a_bomb_is_refused_by_the_size_of_the_body():
    packed = gzip.compress(gzip.compress(bytes(1 << 28)))
    tracemalloc.start()
    with pytest.raises(TooLarge, match="a gzip, gzip body unpacks to more than 64 MB"):
        unpack.unpacked(packed, "gzip, gzip")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 300 << 20


@pytest.mark.sampled
@pytest.mark.parametrize("encoding", PACKERS)
def test_a_body_that_unpacks_to_very_much_is_refused_before_it_is_in_memory(encoding):
    packed = PACKERS[encoding](bytes(80 << 20))
    tracemalloc.start()
    with pytest.raises(TooLarge, match=f"a {encoding} body unpacks to more than 64 MB"):
        unpack.unpacked(packed, encoding)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 200 << 20


def test_a_body_may_be_of_several_gzip_members_and_of_very_many_in_linear_time():
    assert unpack.unpacked(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip") == b"one two"

    def cost(count):
        packed = gzip.compress(b"x") * count
        begun = time.process_time()
        assert unpack.unpacked(packed, "gzip") == b"x" * count
        return time.process_time() - begun

    assert min(cost(40_000) for _ in range(3)) < 20 * min(cost(4_000) for _ in range(3))


def test_zstandard_of_another_library_has_the_same_limit(monkeypatch):
    pytest.importorskip("zstandard")
    monkeypatch.setattr(unpack, "ZSTD", "no_such_module")
    monkeypatch.setattr(
        unpack, "optional", lambda *names: [__import__("zstandard")] if "zstandard" in names else []
    )
    assert unpack.unpacked(zstd.compress(b"body"), "zstd") == b"body"
    with pytest.raises(TooLarge):
        unpack.unpacked(zstd.compress(bytes(80 << 20)), "zstd")


def test_an_encoding_that_is_not_known_is_a_lookup_error():
    with pytest.raises(LookupError):
        unpack.Unpacker("lzma")


@pytest.mark.parametrize(
    ("packed", "limit", "capacity"),
    [(1000, 1 << 40, 64 << 20), (1 << 20, 1 << 40, 100 << 20), (1 << 20, 1 << 10, 1 << 10)],
)
def test_the_limit_is_the_smaller_of_a_size_and_a_ratio_with_room_for_small_data(packed, limit, capacity):
    assert unpack.capacity(packed, limit) == capacity


def test_an_archives_members_are_counted_together_as_they_are_read():
    opened = unpack.Archive(archive(*((f"{n}.txt", bytes(1000)) for n in range(3))), "x.zip", 2500)
    assert opened.read("0.txt") == opened.read("1.txt") == bytes(1000)
    with pytest.raises(TooLarge, match=r"x\.zip unpacks to more than 2500 bytes"):
        opened.read("2.txt")


def test_a_member_may_have_a_limit_of_its_own():
    opened = unpack.Archive(archive(("manifest.json", bytes(10_000))), "x.zip", 1 << 20)
    with pytest.raises(TooLarge, match=r"x\.zip: manifest\.json"):
        opened.read("manifest.json", 5000)


def test_what_a_member_says_of_its_size_is_not_believed():
    packed = archive(("a.txt", bytes(20 << 20))).getvalue()
    lying = packed.replace((20 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lying != packed
    opened = unpack.Archive(io.BytesIO(lying), "x.zip", 1 << 30)
    with pytest.raises((TooLarge, zipfile.BadZipFile)):
        opened.read("a.txt")


@pytest.mark.parametrize(
    "name",
    [
        "../evil", "/etc/evil", "a/../../evil", "a\\..\\evil", "C:/evil", "a//evil", "./evil", "ev\0il", "nul", "a/COM1.txt",
        "con", "x" * 300, "a/" * 600 + "evil", "ev\nil", "evil:stream",
    ],
)  # fmt: skip
def test_names_that_lead_elsewhere_are_refused(name):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        info = zipfile.ZipInfo("x" * len(name.encode()))
        file.writestr(info, b"evil")
    # Written by hand: Python's own writer cleans names.
    data = packed.getvalue().replace(b"x" * len(name.encode()), name.encode())
    with pytest.raises((CorruptRecording, zipfile.BadZipFile)):
        unpack.Archive(io.BytesIO(data), "x.zip", 1 << 20)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", ["events.jsonl", "Events.JSONL"])
def test_a_name_that_is_there_twice_is_refused(second):
    with pytest.raises(CorruptRecording, match="appears twice"):
        unpack.Archive(archive(("events.jsonl", b"1"), (second, b"2")), "x.zip", 1 << 20)


@pytest.mark.parametrize("mode", [0o120777, 0o060600, 0o020600, 0o010600])
def test_links_devices_and_pipes_are_refused(mode):
    info = zipfile.ZipInfo("events.jsonl")
    info.create_system, info.external_attr = 3, mode << 16
    with pytest.raises(CorruptRecording, match="a link or a device"):
        unpack.Archive(archive((info, b"/etc/passwd")), "x.zip", 1 << 20)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_ways_of_packing_that_have_no_limit_are_refused(method):
    with pytest.raises(CorruptRecording, match="unsupported compression"):
        unpack.Archive(archive(("a.txt", b"x" * 100), method=method), "x.zip", 1 << 20)


def test_a_list_of_members_that_would_fill_the_memory_is_not_read(monkeypatch):
    monkeypatch.setattr(unpack, "_DIRECTORY", 1000)
    with pytest.raises(TooLarge, match="members"):
        unpack.Archive(archive(*((f"{n}.txt", b"") for n in range(100))), "x.zip", 1 << 20)
