"""A damaged or forged recording is refused with the file and the line, in one typed error, and no reader fails
otherwise.
"""

from __future__ import annotations

import copy
import random
import shutil
from pathlib import Path

import orjson
import pytest

import reenact
from reenact.analysis.interchange.exporters.otel.spans import spans_of
from reenact.analysis.views.whole_recording import stored_recording
from reenact.browser.camera.footage import sessions
from reenact.core.model.plain import plain
from reenact.core.model.schema import DEEPEST
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.filter import Filter
from reenact.core.store.index import Index
from reenact.core.store.local import EVENTS, LocalStore, load
from reenact.core.store.summarised import summarised
from reenact.core.trust.consent import standing_of
from reenact.errors import CorruptRecording, RecordingError, ReenactError
from tests.hostile.forge import dumped, forge, lines_of

REAL = Path(__file__).parents[1] / "recordings"
HOSTILE = (
    None, True, -1, 0, 1 << 64, 1.5, 1e300, "", "x" * 3000, [], [None], {}, {"$blob": 3}, {"$tuple": 3},
    {"$same": 9}, {"$text": [1, 2, 3], "new": "x"},
)  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small recording that a recorder wrote: calls, a stream, a blob, an error, draws, a snapshot."""
    home = tmp_path_factory.mktemp("home")

    @reenact.tool
    def ask(question: str) -> bytes:
        return bytes(range(256)) * 300 if question == "blob" else question.encode()

    @reenact.tool
    def fail(number: int) -> None:
        raise ValueError(number)

    notes = reenact.track("notes", {"asked": 0})
    with reenact.record(name="small", tags=["a"], home=home) as run:
        for question in ("x" * 600, "x" * 600 + "y", "blob"):
            ask(question)
            notes["asked"] += 1
            reenact.snapshot()
        with pytest.raises(ValueError, match="7"):
            fail(7)
        random.random()
        run.output = {"answer": 42}
    return Path(run.path)


def read_all(folder: Path) -> None:
    """Everything that a reading verb does with a recording."""
    recording = load(folder)
    facts = RecordingFacts(recording)
    looked = []
    for step in recording:
        looked += [step.call.duration, step.call.status, step.call.address]
        looked += [plain(step.log.filled(tree)) for tree in step.log.args(step.call).values()]
        looked += [step.args, step.output, step.chunks, step.error]
    looked += [recording.name, recording.tags, recording.status, recording.started, recording.duration]
    looked += [recording.notes, recording.output, dict(recording.state()), list(recording.anomalies())]
    looked += [stored_recording(facts, range(1, len(facts.steps) + 1), standing_of(recording, folder.parent))]
    looked += [reenact.diff(recording, recording), spans_of(recording), facts]
    looked += [list(each.entries()) for each in sessions(folder)]
    repr(looked)


def damaged(folder: Path, data: bytes) -> bool:
    """Whether a recording with these events is refused, or says that its last line is left out."""
    (folder / EVENTS).write_bytes(data)
    try:
        return bool(load(folder).torn)
    except RecordingError as error:
        text = str(error)
        assert "\n" not in text
        assert EVENTS in text or str(folder) in text
        return True


@pytest.mark.parametrize("every", [29, pytest.param(1, marks=pytest.mark.thorough)])
def test_no_flipped_byte_of_a_real_recording_is_missed(small: Path, tmp_path: Path, every: int) -> None:
    data = (small / EVENTS).read_bytes()
    folder = tmp_path / "flipped"
    folder.mkdir()
    assert not damaged(folder, data)
    missed = []
    header = data.index(b"\n")
    for at in range(0, len(data), every):
        for bit in (at % 8,) if at < header else (at % 8, (at + 3) % 8):
            flipped = bytearray(data)
            flipped[at] ^= 1 << bit
            if not damaged(folder, bytes(flipped)):
                missed.append((at, bit))
    assert not missed


@pytest.mark.parametrize("number", [1, 3, -2])
def test_a_line_that_is_removed_doubled_or_moved_is_named(small: Path, tmp_path: Path, number: int) -> None:
    lines = (small / EVENTS).read_bytes().splitlines(keepends=True)
    place = number % len(lines)
    doubled = [*lines[: place + 1], *lines[place:]]
    removed = lines[:place] + lines[place + 1 :]
    moved = [*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]]
    for changed, line in ((doubled, place + 2), (removed, place + 1), (moved, place + 1)):
        (tmp_path / EVENTS).write_bytes(b"".join(changed))
        with pytest.raises(CorruptRecording, match=rf"{EVENTS}, line {line}: damaged"):
            load(tmp_path)


def test_a_line_of_another_recording_is_named(small: Path, tmp_path: Path) -> None:
    lines = (small / EVENTS).read_bytes().splitlines(keepends=True)
    other = (REAL / "v2" / "order-plain" / EVENTS).read_bytes().splitlines(keepends=True)
    (tmp_path / EVENTS).write_bytes(b"".join([*lines[:3], other[3], *lines[4:]]))
    with pytest.raises(CorruptRecording, match="line 4: damaged"):
        load(tmp_path)


def test_a_child_s_file_of_another_recording_is_named(small: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(small, tmp_path / "copy")
    shutil.copy(REAL / "v2" / "order-plain" / EVENTS, folder / "events.0123456789ab.jsonl")
    with pytest.raises(CorruptRecording, match="belongs to recording kt32p267cm"):
        load(folder)


def test_a_torn_last_line_is_left_out_with_a_word(small: Path, tmp_path: Path) -> None:
    data = (small / EVENTS).read_bytes()
    (tmp_path / EVENTS).write_bytes(data[:-9])
    recording = load(tmp_path)
    assert recording.status == "unsealed"
    assert "torn" in recording.torn[0]


def test_a_blob_whose_name_is_not_its_hash_is_named(small: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(small, tmp_path / "copy")
    (blob,) = (path for path in folder.glob("blobs/*/*") if path.is_file())
    blob.write_bytes(blob.read_bytes()[:-1] + b"!")
    with pytest.raises(CorruptRecording, match=blob.name):
        _ = load(folder).step(3).output


def test_a_format_2_recording_without_sums_is_refused(small: Path, tmp_path: Path) -> None:
    lines = [orjson.dumps(line) + b"\n" for line in lines_of(small / EVENTS)]
    (tmp_path / EVENTS).write_bytes(b"".join(lines))
    with pytest.raises(CorruptRecording, match="line 1: damaged: it is cut off, or has no sum"):
        load(tmp_path)


def test_a_format_number_that_was_lowered_turns_no_check_off(small: Path, tmp_path: Path) -> None:
    data = (small / EVENTS).read_bytes()
    (tmp_path / EVENTS).write_bytes(data.replace(b'"format":2', b'"format":1', 1))
    with pytest.raises(CorruptRecording, match="line 1: damaged"):
        load(tmp_path)


@pytest.mark.parametrize("depth", [150, 199, 201, 900])
def test_nesting_is_refused_before_it_ends_in_a_recursion_error(
    small: Path, tmp_path: Path, depth: int
) -> None:
    lines: list[bytes] = (small / EVENTS).read_bytes().splitlines()
    nested = b"[" * (depth - 1) + b"]" * (depth - 1)
    at = next(number for number, line in enumerate(lines) if b'"returned"' in line)
    call = orjson.loads(lines[at])["call"]
    lines[at] = b'{"event":"returned","call":%d,"value":%b,"t":0.1}' % (call, nested)
    folder = shutil.copytree(small, tmp_path / "deep")
    (folder / EVENTS).write_bytes(forge(lines))
    if depth <= DEEPEST:
        read_all(folder)
    else:
        with pytest.raises(CorruptRecording, match=f"line {at + 1}: damaged"):
            read_all(folder)


HEADERS: dict[str, dict[str, object]] = {
    "a start that is a word": {"started": "yesterday"},
    "a start of no year": {"started": "99999-01-01T00:00:00+00:00"},
    "a start that is a number": {"started": 7},
    "NUL in the folder": {"program": {"argv": ["x"], "cwd": "/tmp\0x"}},
    "NUL in an argument": {"program": {"argv": ["a\0b"], "cwd": "/"}},
    "NUL in an escaped argument": {"program": {"argv": [{"$surrogates": "a\0"}], "cwd": "/"}},
    "NUL in the hash seed": {"program": {"argv": [], "cwd": "/", "hash_seed": "1\0"}},
    "NUL in an upstream": {
        "program": {"argv": [], "cwd": "/", "proxy": {"port": 1, "upstreams": {"A\0": "x"}, "keys": []}}
    },
    "NUL in a key's name": {
        "program": {"argv": [], "cwd": "/", "proxy": {"port": 1, "upstreams": {}, "keys": ["A\0"]}}
    },
    "NUL in the entry": {"entry": "a\0b"},
    "NUL in the process": {"process": "main\0"},
}


@pytest.mark.parametrize("what", HEADERS)
def test_a_header_that_no_recorder_writes_is_named_with_its_file_and_line(
    small: Path, tmp_path: Path, what: str
) -> None:
    lines = lines_of(small / EVENTS)
    (tmp_path / EVENTS).write_bytes(forge([{**lines[0], **HEADERS[what]}, *lines[1:]]))
    (member,) = HEADERS[what]
    with pytest.raises(CorruptRecording, match=rf"{EVENTS}, line 1: damaged: `{member}`"):
        load(tmp_path)


def test_a_folder_in_the_place_of_events_is_named_without_a_number_of_the_system(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    (store.folder("odd") / EVENTS).mkdir(parents=True)
    (line,) = Index(store).summaries()
    assert line.broken == f"{store.folder('odd') / EVENTS} is no file; delete it"
    with pytest.raises(CorruptRecording, match="is no file"):
        load(store.folder("odd"))


def test_what_a_recorder_keeps_of_a_deep_value_can_be_read(tmp_path: Path) -> None:
    @reenact.tool
    def give(depth: int) -> object:
        value: object = 1
        for _ in range(depth):
            value = [value] if depth % 2 else (value,)
        return value

    with reenact.record(home=tmp_path) as run:
        for depth in (50, 51, 185, 186, 240, 241, 400, 401):
            give(depth)
    recording = run.load()
    assert recording.step(3).output == give(185)
    read_all(Path(run.path))


def mutants(lines: list[dict]) -> list[tuple[str, list[dict]]]:
    """Each member of one line of each event replaced by each hostile value, or left out."""
    found = []
    seen: set[str] = set()
    for at, line in enumerate(lines):
        if line["event"] in seen and line["event"] != "called":
            continue
        seen.add(line["event"])
        for member in line:
            for value in (*HOSTILE, ...):
                changed = copy.copy(lines)
                changed[at] = {key: item for key, item in line.items() if key != member}
                if value is not ...:
                    changed[at][member] = value
                found.append((f"{line['event']}.{member}={value!r:.40}", changed))
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("every", [17, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("chained", [True, False], ids=["format 2", "format 1"])
def test_no_mutant_brings_a_reader_down(small: Path, tmp_path: Path, chained: bool, every: int) -> None:
    lines = lines_of(small / EVENTS)
    if not chained:
        lines[0]["format"] = 1
    folder = shutil.copytree(small, tmp_path / "mutant")
    problems = []
    for what, changed in mutants(lines)[::every]:
        data = forge(changed) if chained else b"".join(dumped(line) + b"\n" for line in changed)
        (folder / EVENTS).write_bytes(data)
        try:
            read_all(folder)
        except ReenactError as error:
            problems += [f"{what}: several lines: {error}"] if "\n" in str(error) else []
        except Exception as error:
            problems.append(f"{what}: {type(error).__name__}: {error}")
    assert not problems, "\n".join(problems[:40]) + f"\n{len(problems)} in all"


def test_no_mutant_stops_an_index(small: Path, tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    for number, (_, changed) in enumerate(mutants(lines_of(small / EVENTS))[::19]):
        (store.folder(f"m{number}")).mkdir(parents=True)
        (store.folder(f"m{number}") / EVENTS).write_bytes(forge(changed))
    index = Index(store)
    assert len(index.summaries()) == number + 1
    list(index.search(Filter("text:ask args.question:x status:ok")))
    index.close()
    assert summarised(store.folder("m0"), 0)
