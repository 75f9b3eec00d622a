"""A recording's moments are read within limits: what does not fit is a typed error, and nothing of it is run."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from reenact.browser.camera import moments
from reenact.browser.camera.footage import sessions
from reenact.errors import CorruptRecording, RecordingError
from tests.browser.filming import beside

PAGE = {
    "url": "https://shop.test/", "title": "Shop", "viewport": [800, 600], "whole": True, "parts": [],
    "nodes": [[-1, "#document", {}, {}], [0, "html"], [1, "body"], [2, "#text", "Hello"]],
}  # fmt: skip


def with_nodes(*nodes, **more):
    return {**PAGE, "nodes": [[-1, "#document", {}, {}], *nodes], **more}


def loaded(folder: Path, data: bytes):
    file = beside(folder)
    address = file.blob(data)
    file.write("dom", tab=0, why="before", blob=address, parts=[])
    file.close()
    (footage,) = sessions(folder)
    return moments.load(footage, address)


def packed(tree) -> bytes:
    return gzip.compress(json.dumps(tree).encode())


def test_a_moment_that_fits_is_read(tmp_path):
    assert loaded(tmp_path, packed(PAGE)) == PAGE


A = "sha256:" + "a" * 64
WRONG = {
    "no object": [],
    "no nodes": {**PAGE, "nodes": []},
    "no document first": {**PAGE, "nodes": [[-1, "html"]]},
    "a parent behind": with_nodes([2, "p"], [1, "p"]),
    "its own parent": with_nodes([1, "p"]),
    "a second root": with_nodes([-1, "#document"]),
    "a parent that is true": with_nodes([True, "p"], [0, "p"]),
    "a text with children": with_nodes([0, "#text", "x"], [1, "p"]),
    "a text that is a list": with_nodes([0, "#text", ["x"]]),
    "a document in a paragraph": with_nodes([0, "p"], [1, "#document", {}, {}]),
    "a shadow root in a shadow root": with_nodes([0, "p"], [1, "#shadow"], [2, "#shadow"]),
    "a tag that is a number": with_nodes([0, 7]),
    "a long tag": with_nodes([0, "x" * 200]),
    "attributes that are a list": with_nodes([0, "p", ["id"]]),
    "an attribute that is an object": with_nodes([0, "p", {"id": {"toString": "x"}}]),
    "many attributes": with_nodes([0, "p", {f"a{n}": "" for n in range(500)}]),
    "an unknown fact": with_nodes([0, "p", {}, {"html": "<script>"}]),
    "a box without end": with_nodes([0, "img", {}, {"box": [1e300, 1]}]),
    "a picture that it has not": with_nodes([0, "img", {}, {"image": 0}]),
    "a style sheet that it has not": with_nodes([0, "p", {}, {"sheets": [[3]]}], parts=[A]),
    "parts that are no addresses": {**PAGE, "parts": ["../../etc/passwd"]},
    "many parts": {**PAGE, "parts": [A] * 1000},
    "a page of no size": {**PAGE, "viewport": [800]},
    "many nodes": with_nodes(*([0, "p"] for _ in range(moments.NODES))),
    "deep": with_nodes(*([n, "div"] for n in range(moments.DEEPEST + 5))),
}


@pytest.mark.parametrize("tree", WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_a_damaged_recording(tmp_path, tree):
    with pytest.raises(CorruptRecording, match="a moment of the page is damaged"):
        loaded(tmp_path, packed(tree))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no gzip",
        gzip.compress(b"{"),
        packed(PAGE)[:-9],
        gzip.compress(b"[" * 100_000),
        gzip.compress(b"{}"),
    ],
    ids=["empty", "plain", "no JSON", "cut off", "nested JSON", "no members"],
)
def test_bytes_that_are_no_moment_are_a_damaged_recording(tmp_path, data):
    with pytest.raises(CorruptRecording, match="a moment of the page is damaged"):
        loaded(tmp_path, data)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    bomb = gzip.compress(bytes(400_000_000), 9)
    tracemalloc.start()
    with pytest.raises(CorruptRecording, match="more than 8,000,000 bytes"):
        loaded(tmp_path, bomb)
    assert tracemalloc.get_traced_memory()[1] < 60_000_000
    tracemalloc.stop()


def test_parts_that_are_lost_or_too_large_are_left_out(tmp_path):
    file = beside(tmp_path)
    parts = [
        file.blob(gzip.compress(b"p{}")),
        A,
        file.blob(gzip.compress(bytes(50_000_000))),
        file.blob(b"\x00not a picture"),
    ]
    parts += [file.blob(b"GIF89a"), file.blob(b"<script>alert(1)</script>")]
    address = file.blob(packed({**PAGE, "parts": parts}))
    file.close()
    (footage,) = sessions(tmp_path)
    found = moments.whole(footage, address)["parts"]
    assert found[:5] == ["p{}", "", "", "", "data:image/gif;base64,R0lGODlh"]
    assert found[5].startswith("data:image/svg+xml;base64,")  # as a picture it runs nothing


def test_a_moment_that_is_lost_is_said(tmp_path):
    beside(tmp_path).close()
    (footage,) = sessions(tmp_path)
    with pytest.raises(RecordingError, match="lost"):
        moments.load(footage, A)


def test_lines_of_moments_are_checked(tmp_path):
    file = beside(tmp_path)
    file.write("dom", tab=0, why="before", blob=A, parts=["javascript:alert(1)"])
    file.close()
    (footage,) = sessions(tmp_path)
    with pytest.raises(CorruptRecording, match="parts"):
        list(footage.entries("dom"))
