"""The state of a path in a recording, and states that are no such."""

from __future__ import annotations

import pytest

from reenact.core.files.states import FileState, address_of, fingerprint
from reenact.errors import CorruptRecording

ADDRESS = f"sha256:{'0' * 64}"


@pytest.mark.parametrize(
    "state",
    [
        FileState("none"),
        FileState("file", 0o644, 3, blob=ADDRESS),
        FileState("file", 0o644, 4, blob=address_of("Grü".encode()), text="Grü"),
        FileState("file", 0o644, 0, blob=address_of(b""), text=""),
        FileState("file", 0o600, 3, print="ab" * 8, why="ignored"),
        FileState("folder", 0o755, names=("a", "b/")),
        FileState("folder", 0o755, names=()),
        FileState("link", 0o777, target="../elsewhere"),
    ],
)
def test_a_state_is_read_as_it_was_written(state: FileState) -> None:
    read = FileState.from_tree(state.to_tree(), "x")
    assert (read, read.text) == (state, state.text)


@pytest.mark.parametrize(
    ("tree", "named"),
    [
        (None, "kind"),
        ({}, "kind"),
        ({"kind": "device"}, "kind"),
        ({"kind": []}, "kind"),
        ({"kind": "file", "mode": 0o10000}, "mode"),
        ({"kind": "file", "mode": True}, "mode"),
        ({"kind": "file", "size": -1}, "size"),
        ({"kind": "file", "blob": "sha256:../../etc/passwd"}, "blob"),
        ({"kind": "file", "size": 2, "text": "abc"}, "text"),
        ({"kind": "file", "size": 3, "text": "abc", "blob": ADDRESS}, "text"),
        ({"kind": "folder", "size": 3, "text": "abc"}, "text"),
        ({"kind": "file", "size": 1, "text": "a\ud800"}, "text"),
        ({"kind": "file", "size": 5000, "text": "a" * 5000}, "text"),
        ({"kind": "file", "size": 1, "text": ["a"]}, "text"),
        ({"kind": "file", "why": "because"}, "why"),
        ({"kind": "file", "why": {}}, "why"),
        ({"kind": "link"}, "target"),
        ({"kind": "link", "target": "a\0b"}, "target"),
        ({"kind": "link", "target": "a" * 5000}, "target"),
        ({"kind": "folder", "names": ["a/b"]}, "names"),
        ({"kind": "folder", "names": [".."]}, "names"),
        ({"kind": "folder", "names": ["../"]}, "names"),
        ({"kind": "folder", "names": [1]}, "names"),
        ({"kind": "folder", "names": "ab"}, "names"),
    ],
)
def test_an_invalid_state_is_refused_and_its_member_named(tree: object, named: str) -> None:
    with pytest.raises(CorruptRecording, match=f"the file 'x'.*{named}"):
        FileState.from_tree(tree, "the file 'x'")


def test_a_fingerprint_depends_on_the_recording() -> None:
    assert fingerprint(b"secret", b"one") == fingerprint(b"secret", b"one")
    assert fingerprint(b"secret", b"one") != fingerprint(b"secret", b"two")
