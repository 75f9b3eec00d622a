"""Taking bodies out of their framing, and putting them back, whatever the reads."""

import io
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.adapters.http import coding, exchange
from reenact.adapters.http.framing import Unframed

bodies = st.lists(st.binary(min_size=1, max_size=60), max_size=8)


def in_pieces(data, cuts):
    file, pieces = io.BytesIO(data), []
    while piece := file.read(cuts[len(pieces) % len(cuts)]):
        pieces.append(piece)
    return pieces


@given(bodies, st.lists(st.integers(1, 25), min_size=1, max_size=5))
def test_a_chunked_body_comes_out_whole_whatever_the_reads(parts, cuts):
    wire = b"".join(b"%x;note=1\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\nTrailer: x\r\n\r\n"
    body = Unframed(chunked=True, length=None)
    found = [part for piece in in_pieces(wire, cuts) for part in body.feed(piece)]
    assert b"".join(found) == b"".join(parts)
    assert body.is_done()


@given(bodies, st.lists(st.integers(1, 25), min_size=1, max_size=5))
def test_chunks_are_not_joined(parts, cuts):
    wire = b"".join(b"%X\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    body = Unframed(chunked=True, length=None)
    assert body.feed(wire) == parts


@given(st.binary(max_size=100), st.lists(st.integers(1, 25), min_size=1, max_size=5))
def test_a_body_of_known_length_is_done_at_its_end(data, cuts):
    body = Unframed(chunked=False, length=len(data))
    assert [part for piece in in_pieces(data, cuts) for part in body.feed(piece)] == in_pieces(data, cuts)
    assert body.is_done()


def test_a_body_that_is_cut_off_says_how_much_was_to_come():
    body = Unframed(chunked=True, length=None)
    assert body.feed(b"a\r\n0123") == [b"0123"]
    assert body.cut_off().left == 6
    assert Unframed(chunked=False, length=None).cut_off() is None
    assert Unframed(chunked=False, length=3).cut_off().left == 3


@pytest.mark.sampled
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
@given(parts=bodies)
def test_a_recorded_chunk_is_decoded_to_itself(encoding, parts):
    head = {"headers": [["Content-Encoding", encoding]]}
    sender = coding._encoder(encoding)
    recording, replaying, reader = coding.Coding(), coding.Coding(), coding._decoder(encoding)
    kept_head = recording.dump(head)
    assert kept_head["decoded"] == encoding
    replaying.load(kept_head)
    for part in parts:
        kept = recording.dump(sender.encode(part))
        assert kept == part
        assert reader.decode(replaying.load(kept)) == part
    if parts:
        assert recording.dump(sender.finish()) == b""
        assert reader.decode(replaying.finish()) == b""


def test_a_gzip_of_two_members_is_read_whole():
    import gzip

    assert coding.decoded(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip") == b"one two"


def test_deflate_without_its_header_is_read():
    deflater = zlib.compressobj(6, zlib.DEFLATED, -15)
    assert coding.decoded(deflater.compress(b"bare") + deflater.flush(), "deflate") == b"bare"


def test_what_cannot_be_decompressed_is_kept_as_it_is():
    wire = coding.Coding()
    wire.dump({"headers": [["content-encoding", "gzip"]]})
    assert wire.dump(b"no gzip") == {"raw": b"no gzip"}
    assert coding.Coding().load({"raw": b"no gzip"}) == b"no gzip"
    assert coding.decoded(b"no gzip", "gzip") == b"no gzip"
    assert coding.Coding().dump({"headers": [["content-encoding", "compress, x"]]}) == {
        "headers": [["content-encoding", "compress, x"]]
    }


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1/responses?a=1", "api.openai.com/v1/responses"),
        ("https://api.openai.com:443/v1", "api.openai.com/v1"),
        ("http://LOCALHOST:8080", "localhost:8080/"),
        ("http://[::1]:8080/x", "[::1]:8080/x"),
        ("https://user:pass@host/x", "host/x"),
    ],
)
def test_an_effect_is_named_by_host_and_path(url, name):
    assert exchange.effect("GET", url, [], exchange.Body()).name == f"GET {name}"


def test_headers_are_joined_under_their_lower_case_names():
    effect = exchange.effect("GET", "http://h/", [("X-A", "1"), ("x-a", "2")], exchange.Body())
    assert effect.args["headers"] == {"x-a": "1, 2"}
