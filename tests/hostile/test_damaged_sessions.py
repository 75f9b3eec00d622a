"""A damaged or forged file of a browser session is refused in one line that names it, by every verb and every route."""

from __future__ import annotations

import copy
import hashlib
import io
import os
import re
import shutil
from pathlib import Path

import pytest
from PIL import Image

import reenact
from reenact.browser.camera.footage import sessions
from reenact.browser.video import render
from reenact.browser.watch import write as watch
from reenact.core.model.session_schema import _LINES as KINDS
from reenact.errors import CorruptRecording, RecordingError, ReenactError
from reenact.server.app import application
from reenact.server.settings import Settings
from tests.hostile import corpus
from tests.hostile.forge import forge, lines_of
from tests.hostile.test_damage import HOSTILE
from tests.hostile.test_every_verb import drive
from tests.hostile.walking import Asker, operations

FILE = "session.1.jsonl"


def picture():
    data = io.BytesIO()
    Image.new("RGB", (64, 48), "white").save(data, "JPEG")
    return data.getvalue()


def lines(blob):
    """A line of each kind that a session's file has, as a camera would write them."""
    seen = {"tab": 0, "blob": blob, "width": 64, "height": 48, "masks": [[1, 2, 3, 4]], "viewport": [64, 48]}
    target = {"box": [1, 2, 3, 4], "point": [2, 3], "selector": "#a", "frame": ["#f"], "secret": False}
    told = [
        {"event": "session", "format": 2, "id": "s1", "started": "2026-11-22T10:00:00+00:00", "viewport": [64, 48],
         "browser": "chromium", "headless": True},
        {"event": "tab", "tab": 0, "what": "opened", "url": "http://a.example/", "title": "a", "opener": None},
        {"event": "frame", **seen},
        {"event": "anchor", **seen, "why": "before", "call": 1},
        {"event": "before", "tab": 0, "action": {"type": "click", "selector": "#a"}, "call": 1, "actor": "script",
         "url": "http://a.example/", "target": target},
        {"event": "after", "tab": 0, "success": True, "call": 1, "message": "done", "url": "http://a.example/",
         "title": "a", "why": None, "selectors": {"css": "#a"}},
        {"event": "tree", "tab": 0, "blob": blob, "call": 1},
        {"event": "dom", "tab": 0, "blob": blob, "call": 1, "why": "before", "parts": [blob]},
        {"event": "request", "id": 1, "method": "GET", "url": "http://a.example/x", "tab": 0, "resource": "fetch",
         "headers": {"a": "b"}, "post": "p", "redirected": None, "left": None},
        {"event": "response", "id": 1, "status": 200, "tab": 0, "headers": {"a": "b"}, "body": blob, "size": 3,
         "ms": 4.5, "left": None},
        {"event": "failed", "id": 1, "text": "net"},
        {"event": "console", "tab": 0, "text": "hello", "level": "log", "url": "http://a.example/", "row": 3},
        {"event": "error", "tab": 0, "text": "oh"},
        {"event": "dialog", "tab": 0, "kind": "alert", "text": "x", "answer": None, "closed": 1.0},
        {"event": "download", "tab": 0, "url": "http://a.example/f", "name": "f", "size": 3, "state": "done", "text": ""},
        {"event": "chooser", "tab": 0, "multiple": False},
        {"event": "crash", "tab": 0, "what": "tab"},
        {"event": "noted", "what": "lost", "text": "something"},
        {"event": "frame", **seen},
        {"event": "end"},
    ]  # fmt: skip
    return [{**line, "t": 0.5 + at / 10} for at, line in enumerate(told)]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The folder of a recording with one action of a browser and its session's file."""
    with reenact.record("filmed", home=tmp_path_factory.mktemp("base")) as recording:
        pass
    folder = Path(recording.path)
    data = picture()
    digest = hashlib.sha256(data).hexdigest()
    blob = folder / "blobs" / digest[:2] / digest
    blob.parent.mkdir(parents=True)
    blob.write_bytes(data)
    (folder / FILE).write_bytes(forge(lines(f"sha256:{digest}")))
    return folder


@pytest.fixture
def folder(base, tmp_path):
    return shutil.copytree(base, tmp_path / "home" / "recordings" / base.name)


def read_all(folder, out):
    """Everything that a reading verb does with a session's file."""
    for each in sessions(folder):
        entries = list(each.entries())
        assert isinstance(each.id, str)
        repr([(entry.event, entry.t, dict(entry.data)) for entry in entries])
        for entry in entries:
            if entry["blob"] is not None:
                each.blob(entry["blob"])
    watch(folder, out / "watch.html", frames=True)
    render(folder, out / "video.html")


def test_the_file_that_is_damaged_below_can_be_read_and_has_every_kind_of_line(folder, tmp_path):
    """Otherwise the tests below would find nothing whatever happened."""
    read_all(folder, tmp_path)
    assert {line["event"] for line in lines_of(folder / FILE)} == set(KINDS)


def missed(folder, bits):
    """The bits of the file that can be flipped without a word."""
    data = (folder / FILE).read_bytes()
    found = []
    for at, bit in bits(len(data)):
        flipped = bytearray(data)
        flipped[at] ^= 1 << bit
        (folder / FILE).write_bytes(flipped)
        try:
            told = "" if len(lines_of_whole(folder)) == data.count(b"\n") else f"{FILE} is torn"
        except RecordingError as error:
            told = str(error)
        if FILE not in told or "\n" in told:
            found.append((at, bit, told))
    (folder / FILE).write_bytes(data)
    return found


def lines_of_whole(folder):
    return [entry for each in sessions(folder) for entry in each.entries()]


def test_no_flipped_byte_of_a_sample_is_missed(folder):
    assert missed(folder, lambda size: ((at, at % 8) for at in range(0, size, 11))) == []


@pytest.mark.thorough
def test_no_flipped_bit_is_missed(folder):
    assert missed(folder, lambda size: ((at, bit) for at in range(size) for bit in range(8))) == []


@pytest.mark.parametrize("number", [1, 3, 7])
def test_a_line_that_is_removed_doubled_or_moved_is_named(folder, number):
    found = (folder / FILE).read_bytes().splitlines(keepends=True)
    doubled = [*found[: number + 1], *found[number:]]
    removed = found[:number] + found[number + 1 :]
    moved = [*found[:number], found[number + 1], found[number], *found[number + 2 :]]
    for changed, line in ((doubled, number + 2), (removed, number + 1), (moved, number + 1)):
        (folder / FILE).write_bytes(b"".join(changed))
        with pytest.raises(CorruptRecording, match=rf"{re.escape(FILE)}, line {line}: damaged"):
            lines_of_whole(folder)


def mutants(found):
    """Each member of a line of each kind replaced by each hostile value, or left out."""
    seen = set()
    for at, line in enumerate(found):
        if line["event"] in seen:
            continue
        seen.add(line["event"])
        for member in line:
            for value in (*HOSTILE, "\ud800", "sha256:" + "0" * 64, "sha256:../../x", [1e300, -1], ...):
                changed = copy.copy(found)
                changed[at] = {key: item for key, item in line.items() if key != member}
                if value is not ...:
                    changed[at][member] = value
                yield f"{line['event']}.{member}={value!r:.40}", changed


def forged(changed):
    """The file's bytes, or None for what is no JSON of ours."""
    try:
        return forge(changed)
    except TypeError:
        return None


def tried(folder, out, every):
    problems = []
    for number, (what, changed) in enumerate(mutants(lines_of(folder / FILE))):
        data = forged(changed)
        if data is None or number % every:
            continue
        (folder / FILE).write_bytes(data)
        try:
            read_all(folder, out)
        except ReenactError as error:
            problems += [f"{what}: several lines: {error}"] if "\n" in str(error) else []
        except Exception as error:
            problems.append(f"{what}: {type(error).__name__}: {error}")
    return problems


@pytest.mark.timeout(600)
def test_no_mutant_brings_a_reader_down(folder, tmp_path):
    problems = tried(folder, tmp_path, 37)
    assert not problems, "\n".join(problems[:40]) + f"\n{len(problems)} in all"


@pytest.mark.thorough
@pytest.mark.timeout(3600)
def test_no_mutant_of_all_brings_a_reader_down(folder, tmp_path):
    problems = tried(folder, tmp_path, 1)
    assert not problems, "\n".join(problems[:40]) + f"\n{len(problems)} in all"


def replaced(make):
    """A change of the file: it becomes what `make(path)` puts there."""

    def change(path):
        path.unlink()
        make(path)

    return change


def _flip(at, bit):
    def change(path):
        data = bytearray(path.read_bytes())
        data[at] ^= 1 << bit
        path.write_bytes(data)

    return change


DAMAGE = {
    "a flipped bit of the first line": _flip(40, 2),
    "a flipped bit of a later line": _flip(-60, 1),
    "a torn last line": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "no bytes": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(b"\0" * 5000),
    "no JSON": lambda path: path.write_bytes(b"{}\n[]\nnull\n"),
    "a line without an end": lambda path: path.write_bytes(b"[" * 300_000),
    "another format": lambda path: path.write_bytes(forge([{**lines_of(path)[0], "format": 99}])),
    "a folder": replaced(Path.mkdir),
    "a pipe": replaced(os.mkfifo),
    "a device": replaced(lambda path: path.symlink_to("/dev/zero")),
    "a link to nothing": replaced(lambda path: path.symlink_to("/nowhere")),
}
PICTURES = {
    "a picture that is a device": lambda path: path.symlink_to("/dev/zero"),
    "a picture that is a pipe": os.mkfifo,
    "a picture that is a folder": Path.mkdir,
    "a picture with other bytes": lambda path: path.write_bytes(b"x"),
    "no picture": lambda _: None,
}
VERBS = {
    "show": ["ID"],
    "show --json": ["ID", "--json"],
    "video": ["ID", "-o", "OUT/video.html"],
    "video -o x.mp4": ["ID", "-o", "OUT/x.mp4"],
    "watch": ["ID", "-o", "OUT/watch.html"],
    "heals": ["ID"],
    "harden": ["ID"],
    "export-script": ["ID", "-o", "OUT/script.py"],
    "report": ["ID", "-o", "OUT/report.md"],
    "diagnose": ["ID"],
    "diff": ["ID", "ID"],
    "export": ["ID", "-o", "OUT/copy.reenact"],
    "export --salvage": ["ID", "OUT/salvaged.reenact", "--salvage"],
    "list": ["--json"],
    "fsck": [],
    "import": ["PATH"],
}


def damages(base, scratch):
    """(name, folder) of a recording for each damage."""
    for number, (name, change) in enumerate({**DAMAGE, **PICTURES}.items()):
        folder = shutil.copytree(base, scratch / str(number) / "home" / "recordings" / base.name)
        if name in DAMAGE:
            change(folder / FILE)
        else:
            (blob,) = (path for path in folder.glob("blobs/*/*") if path.is_file())
            blob.unlink()
            change(blob)
        yield name, folder


@pytest.mark.timeout(900)
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.thorough)])
def test_no_verb_is_harmed_by_a_damaged_session(base, tmp_path, every):
    orders = []
    for number, (name, folder) in enumerate(damages(base, tmp_path)):
        place = folder.parents[2]
        known = {"ID": folder.name, "PATH": str(folder)}
        for at, (verb, words) in enumerate(VERBS.items()):
            if (number + at) % every:
                continue
            out = place / str(at)
            out.mkdir()
            given = [known.get(word, word).replace("OUT", str(out)) for word in words]
            orders.append(
                {
                    "name": f"{verb}: {name}",
                    "words": [verb.split()[0], *given],
                    "home": str(folder.parents[1]),
                    "cwd": str(place),
                }
            )
    problems = drive(tmp_path, orders)
    assert not problems, f"{len(problems)} problems:\n\n" + "\n\n".join(problems)


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_no_route_is_harmed_by_a_damaged_session(base, tmp_path):
    home = tmp_path / "served"
    app = application(Settings(home, ("localhost",), keyless=True))
    ask = Asker(app)
    reading = [
        one for one in operations(app) if "{id}" in one.path and one.method == "GET" and not one.streams
    ]
    with ask.client:
        for number, (name, folder) in enumerate(damages(base, tmp_path)):
            target = home / "recordings" / f"{corpus.ID}{number}"
            shutil.copytree(folder, target, symlinks=True, copy_function=_copied)
            events = lines_of(target / "events.jsonl")
            (target / "events.jsonl").write_bytes(forge([{**events[0], "id": target.name}, *events[1:]]))
            for operation in reading:
                if "/recordings/{id}" in operation.path:
                    ask(name, operation.method, operation.at(target.name))
        assert ask("all", "GET", "/api/v1/recordings").status_code == 200
    assert not ask.problems, "\n".join(ask.problems)
    assert ask.asked > 50


def _copied(source, target):
    if Path(source).is_fifo():
        os.mkfifo(target)
    else:
        shutil.copy2(source, target, follow_symlinks=False)
