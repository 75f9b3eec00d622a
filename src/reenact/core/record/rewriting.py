"""Take secrets that became known late out of the events and blobs that were written before.

A model's answer with a password is written before a browser fills the password into a field and so knows it for one.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import orjson

from reenact.core.files.states import FileState, fingerprint
from reenact.core.model import codec
from reenact.core.model.delta import Arg, base_of
from reenact.core.model.event import Event, Tree
from reenact.core.model.log import Log
from reenact.core.model.patch import patched
from reenact.core.patterns import lazy
from reenact.core.redact import LateSecrets
from reenact.core.store.base import NAMED_BLOB
from reenact.core.unpack import Unpacker
from reenact.errors import TooLarge

_KIND = lazy(rb'\{"event":"(\w+)"')
_BASES = lazy(rb'\{"\$(?:same":|text":\[|items":\[)(\d+)')
_CALL = lazy(rb'\{"event":"\w+","call":(\d+)')
_GZIP = b"\x1f\x8b"
_PICTURES = (b"\xff\xd8", b"\x89PNG", b"RIFF")
_KEPT = 64
"""Calls whose arguments are kept in memory for later ones to build on."""


class Rewriting:
    """Takes secrets out of the files of one process.

    Args:
        late: The secrets.
        folder: The recording's folder.
        blob: Keeps bytes there, and returns their address.
        salt: The salt of the recording's header.

    Attributes:
        moved: The new addresses of blobs that held one of the secrets, by the old ones; hexadecimal digits.
    """

    def __init__(
        self, late: LateSecrets, folder: Path, blob: Callable[[bytes], str], salt: bytes = b""
    ) -> None:
        self._late = late
        self._folder = folder
        self._blob = blob
        self._salt = salt
        self._looked: set[bytes] = set()
        self.moved: dict[bytes, bytes] = {}

    def lines(self, lines: Sequence[bytes]) -> list[bytes]:
        """Return as many events without the secrets; the same objects if they have none.

        Args:
            lines: All events of a file, without their sums.
        """
        whole = b"\n".join(lines)
        self._clean_blobs(whole)
        found = list(lines)
        if self.moved and NAMED_BLOB.search(whole):
            found = [self._with_new_addresses(line) for line in found]
        found = [self._without_texts(line) for line in found]
        clean = [self._late.line(line) for line in found]
        changed = {number for number, line in enumerate(clean) if line is not found[number]}
        kinds = [match[1] if (match := _KIND.match(line)) else b"" for line in found]
        if any(kinds[number] == b"called" for number in changed):
            self._rewrite_calls(found, clean, kinds)
        for events in _sequences(found, kinds):
            self._rewrite_sequence(found, clean, events)
        if any(kinds[number] == b"snapshot" for number in changed):
            self._rewrite_snapshots(found, clean, kinds)
        return clean

    # -- calls -----------------------------------------------------------------------------------------------

    def _rewrite_calls(self, found: Sequence[bytes], clean: list[bytes], kinds: Sequence[bytes]) -> None:
        """Write the arguments of calls with a secret again, and those stored as differences."""
        log = Log(_events(found, kinds, b"called"), self._read)
        fresh: dict[int, dict[str, Arg]] = {}
        all_fresh: set[int] = set()
        for number, line in enumerate(found):
            if kinds[number] != b"called":
                continue
            bases = {int(base) for base in _BASES.findall(line)}
            if clean[number] is line and bases.isdisjoint(all_fresh):
                continue
            called = codec.loads(clean[number])
            call = log.calls[called["call"]]
            args = codec.loads(self._late.line(codec.dumps(log.args(call))))
            made = {name: Arg.of(tree) for name, tree in args.items()}
            written = []
            for name, tree in call.called["args"].items():
                base = base_of(tree)
                earlier = None
                if base in fresh:
                    earlier = fresh[base][name]
                elif base is not None and base not in all_fresh:
                    earlier = Arg.of(log.args(log.calls[base])[name])
                written.append((name, _written(made[name], earlier, base)))
            members = b",".join(orjson.dumps(name) + b":" + data for name, data in written)
            clean[number] = codec.dumps({**called, "args": orjson.Fragment(b"{%b}" % members)})
            fresh[call.number] = made
            all_fresh.add(call.number)
            if len(fresh) > _KEPT:
                del fresh[next(iter(fresh))]

    # -- streams and printed texts -----------------------------------------------------------------------------

    def _rewrite_sequence(self, found: Sequence[bytes], clean: list[bytes], events: Sequence[int]) -> None:
        """Write again the pieces of one stream, or the texts that one call printed."""
        lines = [codec.loads(found[number]) for number in events]
        texts = {place: text for place, line in enumerate(lines) if (text := self._text(line)) is not None}
        trees = {
            place: codec.dumps({"value": line["value"]}) + b"\n"
            for place, line in enumerate(lines)
            if place not in texts
        }
        for pieces in (texts, trees):
            new = self._late.pieces(list(pieces.values()))
            for place, old, data in zip(pieces, pieces.values(), new, strict=True):
                if data == old:
                    continue
                line = lines[place]
                if pieces is trees:
                    line["value"] = codec.loads(data)["value"]
                elif line["event"] == "printed":
                    line["text"] = data.decode("utf-8", "replace")
                else:
                    line["value"] = codec.Encoder(blob=self._blob).encode(data)
                clean[events[place]] = self._late.line(codec.dumps(line))

    def _text(self, line: Mapping[str, Tree]) -> bytes | None:
        """Return the bytes of a piece; None if it is no text and no bytes."""
        if line["event"] == "printed":
            return str(line["text"]).encode("utf-8", "replace")
        tree = line["value"]
        if type(tree) is not dict or len(tree) != 1 or not {"$utf8", "$bytes", "$blob"} & set(tree):
            return None
        value = codec.view(Log((), self._read).filled(tree))
        return value if isinstance(value, bytes) else None

    # -- snapshots ---------------------------------------------------------------------------------------------

    def _rewrite_snapshots(self, found: Sequence[bytes], clean: list[bytes], kinds: Sequence[bytes]) -> None:
        """Write states whole from the first one with a secret on."""
        states: dict[str, Tree] = {}
        changed: set[str] = set()
        for number, line in enumerate(found):
            if kinds[number] != b"snapshot":
                continue
            event = codec.loads(line)
            name = event["name"]
            states[name] = patched(event["value"], states.get(name))
            if clean[number] is not line:
                changed.add(name)
            if name in changed:
                clean[number] = self._late.line(codec.dumps({**event, "value": states[name]}))

    # -- blobs -----------------------------------------------------------------------------------------------

    def _clean_blobs(self, whole: bytes) -> None:
        for match in NAMED_BLOB.finditer(whole):
            digest = match[1]
            if digest in self._looked:
                continue
            self._looked.add(digest)
            path = self._path(digest)
            if not path.is_file():
                continue
            data = path.read_bytes()
            clean = self._without(data)
            if clean != data:
                self.moved[digest] = self._blob(clean).removeprefix("sha256:").encode()

    def _without(self, data: bytes) -> bytes:
        if data.startswith(_PICTURES):
            return data
        if not data.startswith(_GZIP):
            return self._late.raw(data)
        try:
            text = Unpacker("gzip").decode(data)
        except (TooLarge, OSError, EOFError, ValueError, zlib.error):
            return data
        clean = self._late.raw(text)
        return data if clean == text else gzip.compress(clean, 6, mtime=0)

    def _with_new_addresses(self, line: bytes) -> bytes:
        """Return a line with the new addresses; the same object if it names none of them."""
        named = {match[1] for match in NAMED_BLOB.finditer(line)} & self.moved.keys()
        if not named:
            return line
        if line.startswith(b'{"event":"files"'):
            return self._without_content(line)
        return moved_to(line, self.moved)

    def _without_texts(self, line: bytes) -> bytes:
        """Return a line without texts that hold a secret; the same object if it has none."""
        if not line.startswith(b'{"event":"files"') or self._late.line(line) is line:
            return line
        return self._without_content(line)

    def _without_content(self, line: bytes) -> bytes:
        """Return an event of files in which those with a secret have no content."""
        event = codec.loads(line)
        for name, tree in event["states"].items():
            event["states"][name] = self.without_secret(FileState.from_tree(tree, name)).to_tree()
        return codec.dumps(event)

    def without_secret(self, state: FileState) -> FileState:
        """Return the state of a file as if the secrets in its bytes had been known."""
        digest = state.blob.removeprefix("sha256:").encode()
        if state.text is not None:
            data = state.text.encode()
            if self._late.raw(data) == data:
                return state
        elif digest in self.moved:
            data = self._path(digest).read_bytes()
        else:
            return state
        print_ = fingerprint(data, self._salt)
        return FileState("file", state.mode, state.size, print=print_, why="secret", mtime=state.mtime)

    def remove_blobs(self) -> None:
        """Delete the blobs that held a secret, unless the file of another process names them.

        Call it when all files of this process are rewritten.
        """
        for digest in self.moved:
            if not any(digest in path.read_bytes() for path in self._folder.glob("*.jsonl")):
                self._path(digest).unlink(missing_ok=True)

    def _path(self, digest: bytes) -> Path:
        name = digest.decode()
        return self._folder / "blobs" / name[:2] / name

    def _read(self, address: str) -> bytes:
        return self._path(address.removeprefix("sha256:").encode()).read_bytes()


def moved_to(line: bytes, moved: Mapping[bytes, bytes]) -> bytes:
    """Return an event with the new addresses of blobs in the place of the old ones."""
    for digest in {match[1] for match in NAMED_BLOB.finditer(line)} & moved.keys():
        line = line.replace(digest, moved[digest])
    return line


def _events(lines: Sequence[bytes], kinds: Sequence[bytes], kind: bytes) -> Iterator[Event]:
    for number, line in enumerate(lines):
        if kinds[number] == kind:
            yield Event(kind.decode(), codec.loads(line), number + 1)


def _sequences(lines: Sequence[bytes], kinds: Sequence[bytes]) -> list[list[int]]:
    """Return the places of the chunks of each stream, and of the texts that each call printed."""
    found: dict[tuple[bytes, bytes], list[int]] = {}
    for number, kind in enumerate(kinds):
        if kind in (b"chunk", b"printed") and (call := _CALL.match(lines[number])):
            found.setdefault((kind, call[1]), []).append(number)
    return list(found.values())


def _written(arg: Arg, earlier: Arg | None, call: int | None) -> bytes:
    try:
        return arg.whole() if earlier is None or call is None else arg.against(earlier, call)
    except TypeError:  # lone surrogates
        return codec.dumps(arg.text)
