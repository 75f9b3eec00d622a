"""Reading a recording builds, imports and runs nothing, whatever classes its values name; bombs end in typed errors."""

from __future__ import annotations

import dataclasses
import enum
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pydantic
import pytest

import reenact
from reenact.cli import main
from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.errors import CorruptRecording, DivergenceError, RecordingError, UnsafeValue
from tests.hostile.forge import forge_folder

HERE = __name__
MARKS: list[str] = []


@dataclasses.dataclass
class Deleting:
    name: str = ""

    def __del__(self) -> None:
        MARKS.append("deleted")


@dataclasses.dataclass
class Starting:
    name: str = ""

    def __post_init__(self) -> None:
        MARKS.append("post-init")


class Setting:
    def __get__(self, instance: object, owner: object = None) -> str:
        return ""

    def __set__(self, instance: object, value: object) -> None:
        MARKS.append("set")


@dataclasses.dataclass
class Described:
    name: Setting = Setting()


MARKS.clear()


@dataclasses.dataclass
class Making:
    name: str = dataclasses.field(default_factory=lambda: MARKS.append("made") or "")


@dataclasses.dataclass(eq=False)
class Hashing:
    name: str = ""

    def __hash__(self) -> int:
        MARKS.append("hashed")
        return 1

    def __eq__(self, other: object) -> bool:
        MARKS.append("compared")
        return True


class Model(pydantic.BaseModel):
    name: str = ""

    def model_post_init(self, context: Any) -> None:
        MARKS.append("model-post-init")

    def __del__(self) -> None:
        MARKS.append("model deleted")


class Colour(enum.Enum):
    RED = 1

    @classmethod
    def _missing_(cls, value: object) -> Any:
        MARKS.append(f"missing {value}")
        return cls.RED


class Pair(NamedTuple):
    one: int
    other: int


class Wide(Pair):
    def __new__(cls, *args: Any) -> Any:
        MARKS.append("new")
        return super().__new__(cls, *args)


class Loud(Exception):
    def __new__(cls, *args: Any) -> Any:
        MARKS.append("error new")
        return super().__new__(cls, *args)

    def __init__(self, *args: Any) -> None:
        MARKS.append("error init")

    def __str__(self) -> str:
        MARKS.append("error str")
        return ""

    @property
    def name(self) -> str:
        return ""

    @name.setter
    def name(self, value: str) -> None:
        MARKS.append("error set")


class Listing(list[Any]):
    def __new__(cls, *args: Any) -> Any:
        MARKS.append("list new")
        return super().__new__(cls, *args)

    def append(self, item: Any) -> None:
        MARKS.append("append")


class Lazy(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            MARKS.append(f"imported {name}")
        raise AttributeError(name)


@pytest.fixture(autouse=True)
def lazy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "lazy_gadget", Lazy("lazy_gadget"))
    MARKS.clear()
    yield
    MARKS.clear()


def of(tag: str, kind: str, /, **fields: Tree) -> Tree:
    return {tag: {"type": kind, "fields": fields}}


def model(kind: str, /, **fields: Tree) -> Tree:
    return {"$model": {"type": kind, "fields": fields, "set": []}}


GADGETS: dict[str, Tree] = {
    "file closer": of("$dataclass", "tempfile:_TemporaryFileCloser", name="MARK", delete=True, close_called=False),
    "finalizer": of("$dataclass", "weakref:finalize"),
    "popen": of("$dataclass", "subprocess:Popen", args=["touch", "MARK"], _child_created=True, pid=1),
    "deleting": of("$dataclass", f"{HERE}:Deleting", name="x"),
    "starting": of("$dataclass", f"{HERE}:Starting", name="x"),
    "described": of("$dataclass", f"{HERE}:Described", name="x"),
    "making": of("$dataclass", f"{HERE}:Making"),
    "class changed": of("$dataclass", f"{HERE}:Starting", __class__="x", __dict__={}),
    "hashed": {"$set": [of("$dataclass", f"{HERE}:Hashing", name="x"), of("$dataclass", f"{HERE}:Hashing")]},
    "key": {"$dict": [[of("$dataclass", f"{HERE}:Hashing", name="x"), 1]]},
    "model": model(f"{HERE}:Model", name="x"),
    "no model": model("tempfile:_TemporaryFileCloser", name="MARK"),
    "method": model(f"{HERE}:Model", model_dump="x"),
    "enum by value": {"$enum": [f"{HERE}:Colour", "2"]},
    "enum": {"$enum": ["tempfile:_TemporaryFileCloser", "name"]},
    "wide": {"$namedtuple": {"type": f"{HERE}:Wide", "items": [1, 2]}},
    "no tuple": {"$namedtuple": {"type": "tempfile:_TemporaryFileCloser", "items": [1]}},
    "error": {"$error": {"type": f"{HERE}:Loud", "text": "x", "args": ["x"], "attributes": {"name": "y"}}},
    "list": {"$sub": {"type": f"{HERE}:Listing", "base": "list", "value": [1]}},
    "secret": {"$secret": {"type": "tempfile:_TemporaryFileCloser", "secret": "x"}},
    "lazy": of("$dataclass", "lazy_gadget:Thing"),
    "not loaded": of("$dataclass", "antigravity:Thing"),
    "through a function": of("$dataclass", "os:system.__globals__.x"),
    "gzip": {"$response": {"type": "httpx:Response", "status": 200, "headers": {"content-encoding": "gzip"}, "body": "x"}},
    "zone": {"$datetime": {"at": "2026-01-01T00:00:00+00:00", "zone": "../../../etc/passwd"}},
}  # fmt: skip

DEEP: Tree = 1
for _ in range(900):
    DEEP = {"$tuple": [DEEP]}

BOMBS: dict[str, Tree] = {
    "digits": {"$int": "9" * 1_000_000},
    "fraction": {"$fraction": "1e999999999"},
    "decimal": {"$decimal": "1e999999999999"},
    "decimal digits": {"$decimal": "9" * 1_000_000},
    "delta": {"$timedelta": [10**12, 0, 0]},
    "complex": {"$complex": ["x", 1]},
    "one hash": {"$set": [{"$int": str(number * (2**61 - 1))} for number in range(1, 5_000)]},
    "one hash of keys": {
        "$counter": [[{"$int": str(number * (2**61 - 1))}, 1] for number in range(1, 5_000)]
    },
    "unhashable": {"$set": [{"a": 1}]},
    "deque": {"$deque": [[1], -1]},
    "bytes": {"$bytes": "!"},
    "bytearray": {"$bytearray": 1},
    "pairs": {"$dict": [[1]]},
    "no object": {"$dataclass": 1},
    "no fields": {"$dataclass": {"type": "a:B"}},
    "no text": {"$error": {"type": "a:B"}},
    "cause": {"$error": {"type": "a:B", "text": "", "args": [], "cause": []}},
    "base": {"$sub": {"type": "a:B", "base": "int", "value": "x"}},
    "escape": {"$surrogates": 1},
    "range": {"$range": [0, 1, 0]},
    "uuid": {"$uuid": "x"},
    "date": {"$date": "x"},
    "deep": DEEP,
}


def recording(folder: Path, value: Tree) -> Path:
    lines = [
        {"event": "opened", "format": 2, "rules": 1, "id": "gadget", "process": "main", "name": "gadget",
         "started": "2026-01-01T00:00:00.000000Z", "program": {"argv": ["x.py"]}, "reenact": "0"},
        {"event": "called", "call": 1, "t": 0.1, "at": "main", "n": 0, "in": None, "kind": "tool", "name": "look",
         "args": {"given": value}},
        {"event": "returned", "call": 1, "t": 0.2, "value": value},
        {"event": "snapshot", "t": 0.3, "at": "main", "in": None, "name": "memory", "call": 1, "why": "end", "n": 0, "value": value},
        {"event": "sealed", "status": "ok", "t": 0.4, "output": value},
    ]  # fmt: skip
    return forge_folder(folder, lines)


def test_a_recording_of_this_form_is_read(tmp_path: Path) -> None:
    step = reenact.load(recording(tmp_path / "one", {"$tuple": [1, 2]})).step(1)
    assert (step.args, step.output) == ({"given": (1, 2)}, (1, 2))


@pytest.mark.parametrize("name", GADGETS)
def test_reading_a_gadget_leaves_no_mark(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("MARK").write_text("here", encoding="utf-8")
    found = reenact.load(recording(tmp_path / "one", GADGETS[name]))
    for look in (
        lambda: found.step(1).args,
        lambda: found.step(1).output,
        lambda: found.step(1).error,
        lambda: found.output,
        lambda: dict(found.state()),
    ):
        try:
            value = look()
        except CorruptRecording:
            continue
        text = repr(value) + str(value)
        assert "\n" not in text
        assert value == value  # noqa: PLR0124 - comparing must not run anything either
        codec.Encoder().encode(value)
        del value
    assert MARKS == []
    assert Path("MARK").read_text(encoding="utf-8") == "here"
    assert "antigravity" not in sys.modules


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*GADGETS, *(name for name in BOMBS if name != "deep")])
def test_every_verb_that_reads_shows_a_gadget_or_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("MARK").write_text("here", encoding="utf-8")
    path = recording(tmp_path / "one", {**GADGETS, **BOMBS}[name])
    for verb in (["show"], ["show", "1"], ["show", "1", "--state"], ["diagnose"], ["diff", str(path)]):
        began = time.process_time()
        assert main([verb[0], str(path), *verb[1:]]) in (0, 1, 2)
        assert time.process_time() - began < 4
        assert "Traceback" not in "".join(capsys.readouterr())
    assert MARKS == []
    assert Path("MARK").read_text(encoding="utf-8") == "here"


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("read", [codec.view, codec.rebuild])
def test_a_bomb_is_a_typed_error_within_a_second(name: str, read: Any) -> None:
    began = time.process_time()
    with pytest.raises(CorruptRecording):
        read(BOMBS[name])
    assert time.process_time() - began < 2


@pytest.mark.parametrize("name", GADGETS)
def test_rebuilding_a_gadget_runs_nothing_of_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("MARK").write_text("here", encoding="utf-8")
    try:
        value = codec.rebuild(GADGETS[name])
        del value
    except RecordingError:
        pass
    assert MARKS == []
    assert Path("MARK").read_text(encoding="utf-8") == "here"


@pytest.mark.parametrize(
    "name", ["file closer", "deleting", "described", "hashed", "model", "no model", "no tuple"]
)
def test_a_replay_names_the_class_that_is_not_built_again(name: str) -> None:
    with pytest.raises(UnsafeValue, match="is not built again"):
        codec.rebuild(GADGETS[name])
    assert MARKS == []


def test_a_replay_that_needs_a_gadget_stops_and_names_its_class(tmp_path: Path, home: str) -> None:
    @reenact.tool
    def look(given: int) -> Any:
        return given

    with reenact.record("gadget") as run:
        look(1)
    path = Path(str(run.path))
    from tests.hostile.forge import lines_of

    lines = lines_of(path / "events.jsonl")
    for line in lines:
        if line["event"] == "returned":
            line["value"] = GADGETS["deleting"]
    forge_folder(path, lines)
    with (
        pytest.raises(DivergenceError, match="Deleting is not built again: it has a __del__"),
        reenact.replay(path),
    ):
        look(1)
    assert MARKS == []


def test_a_view_is_like_the_object_that_it_is_a_view_of() -> None:
    view = codec.view(codec.Encoder().encode({"order": Starting("A"), "pair": Pair(1, 2), "red": Colour.RED}))
    MARKS.clear()
    assert view["order"].name == view["order"]["name"] == "A"
    assert view["order"] == Starting("A") != view["pair"]
    assert view["order"] != Starting("B")
    assert view["pair"] == Pair(1, 2)
    assert view["red"] == Colour.RED
    assert repr(view) == "{'order': Starting(name='A'), 'pair': Pair(1, 2), 'red': Colour(name='RED')}"
    assert codec.rebuild(codec.Encoder().encode(view)) == {
        "order": Starting("A"), "pair": Pair(1, 2), "red": Colour.RED,
    }  # fmt: skip
    with pytest.raises(AttributeError, match="does not change"):
        view["order"].name = "B"


def test_many_blobs_in_one_value_are_limited() -> None:
    from reenact.core.model.log import Log

    log = Log([], lambda _: bytes(range(256)) * 65536)
    with pytest.raises(RecordingError, match="more than 512 MB"):
        log.value([{"$blob": "x"}] * 100)


def test_a_state_that_doubles_with_every_snapshot_is_refused(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"event": "opened", "format": 2, "rules": 1, "id": "bomb", "process": "main", "name": "bomb",
         "started": "2026-01-01T00:00:00.000000Z", "program": {}, "reenact": "0"},
    ]  # fmt: skip
    for n in range(60):
        twice = [0, 2 ** max(0, n - 1)]
        value = {"$pieces": [twice, twice]} if n else ["x" * 9]
        lines.append({"event": "snapshot", "at": "main", "in": None, "t": 0.3, "name": "memory", "call": 0,
                      "why": "end", "n": n, "value": value})  # fmt: skip
    lines.append({"event": "sealed", "status": "ok", "t": 0.4})
    began = time.process_time()
    with pytest.raises(CorruptRecording):
        dict(reenact.load(forge_folder(tmp_path / "bomb", lines)).state())
    assert time.process_time() - began < 6
