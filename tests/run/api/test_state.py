"""What a program declares as its state is kept with its steps, read back, and put back."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import threading
import weakref
from dataclasses import dataclass, field
from pathlib import Path

import pydantic
import pytest

import reenact
from reenact import errors
from reenact.core.boundary import current, tracked
from reenact.core.model.log import Log
from tests.hostile.forge import forge_folder, lines_of

pytestmark = pytest.mark.usefixtures("home")


@reenact.tool
def act(number):
    return number * 2


@reenact.tool
def cancel(order):
    return f"{order} cancelled"


@dataclass
class Memory:
    notes: list = field(default_factory=list)
    count: int = 0
    client: object = None


class Profile(pydantic.BaseModel):
    name: str = ""
    tags: list[str] = []


class Cart:
    def __init__(self):
        self.items = []
        self.total = 0


class Slotted:
    __slots__ = ("a",)


@pytest.fixture(autouse=True)
def _nothing_left():
    # What another file's tests have declared outside of a recording would be kept here, too.
    tracked._outside.clear()
    tracked._of_last_run.clear()
    yield
    tracked._outside.clear()
    tracked._of_last_run.clear()


def twelve(memory, **options):
    """Twelve steps, after each of which the memory has one more note."""
    with reenact.record("test", **options) as recording:
        reenact.track("memory", memory)
        for number in range(1, 13):
            act(number)
            memory["notes"].append(number)
    return recording.load()


def events(recording):
    with open(os.path.join(recording.path, "events.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# -- when snapshots are taken --------------------------------------------------------------------------------


def test_the_state_is_kept_before_every_fifth_step_and_at_the_end():
    recording = twelve({"notes": []})
    lines = [line for line in events(recording) if line["event"] == "snapshot"]
    assert [(line["call"], line["why"]) for line in lines] == [
        (None, "every"),
        (5, "every"),
        (10, "every"),
        (12, "end"),
    ]


def test_the_state_of_a_step_is_what_it_was_when_that_step_was_asked():
    recording = twelve({"notes": []})
    assert recording.state(6)["memory"] == {"notes": [1, 2, 3, 4, 5]}
    assert recording.state(6).of("memory").exact
    assert recording.state()["memory"] == {"notes": list(range(1, 13))}


@pytest.mark.parametrize("edit", [None, {"output": 4}], ids=["live", "edited"])
def test_the_state_at_the_end_of_a_fork_is_recorded_and_its_replay_compares_it(edit):
    def program(last):
        memory = reenact.track("memory", {"notes": []})
        for number in range(3):
            memory["notes"].append(act(number))
        memory["notes"].append(last)

    with reenact.record("test", snapshot_every=2) as going:
        program("end")
    # The edited answer is the recorded one: the fork is answered from its parent up to the end.
    with reenact.fork(going.id, at=2 if edit is None else 3, edit=edit) as fork:
        program("end of the fork")
    state = fork.recording.state()
    assert state["memory"] == {"notes": [0, 2, 4, "end of the fork"]}
    assert state.of("memory").exact
    with reenact.replay(fork.recording) as replay:
        program("end of the fork")
    assert replay.verdict.faithful
    assert not replay.verdict.uncompared
    assert "state memory" in replay.verdict.compared
    with pytest.raises(reenact.DivergenceError) as departed, reenact.replay(fork.recording):
        program("another end")
    assert departed.value.divergence.address == "main/state:memory"


def test_between_two_snapshots_the_state_says_as_of_when_it_is():
    state = twelve({"notes": []}).state(9)
    taken = state.of("memory")
    assert state["memory"] == {"notes": [1, 2, 3, 4, 5]}
    assert (taken.step, taken.exact, state.exact) == (6, False, False)


@pytest.mark.parametrize("how", ["track", "record"])
def test_looked_at_before_every_step_the_state_is_exact_at_each(how):
    memory = {"notes": []}
    with reenact.record("test", **({"snapshot_every": 1} if how == "record" else {})) as going:
        reenact.track("memory", memory, every=1 if how == "track" else None)
        for number in range(8):
            act(number)
            memory["notes"].append(number)
    recording = going.load()
    for step in range(1, 9):
        assert recording.state(step)["memory"] == {"notes": list(range(step - 1))}
        assert recording.state(step).exact


def test_a_snapshot_on_demand_has_its_label():
    memory = {"notes": []}
    with reenact.record("test") as going:
        reenact.track("memory", memory)
        act(1)
        memory["notes"].append("seen")
        reenact.snapshot("before cancel")
        act(2)
    taken = going.load().state(2).of("memory")
    assert (taken.why, taken.label, taken.step, taken.exact) == ("asked", "before cancel", 2, False)
    assert going.load().state(2)["memory"] == {"notes": ["seen"]}


def test_before_a_risky_effect_the_state_is_kept():
    memory = {"notes": []}
    with reenact.record("test", risky="tool:cancel and args.order ~ ORD") as going:
        reenact.track("memory", memory)
        for number, order in enumerate(["none", "ORD-1", "ORD-2"]):
            act(number)
            memory["notes"].append(order)
            cancel(order)
    recording = going.load()
    assert [recording.state(step).exact for step in (1, 2, 3, 4, 5, 6)] == [
        True,
        False,
        False,
        True,
        False,
        True,
    ]
    assert recording.state(4)["memory"] == {"notes": ["none", "ORD-1"]}
    assert recording.state(4).of("memory").why == "risky"


def test_what_is_tracked_before_the_recording_is_kept_in_it_and_in_the_next():
    memory = {"notes": []}
    reenact.track("memory", memory)
    for _ in range(2):
        with reenact.record("test") as going:
            act(1)
        assert going.load().state(1)["memory"] == memory
        memory["notes"].append("more")


def test_what_a_run_tracks_is_not_kept_in_the_next():
    with reenact.record("first"):
        reenact.track("memory", {"notes": ["private"]})
        act(1)
    with reenact.record("second") as second:
        act(1)
    assert dict(second.load().state()) == {}


def test_runs_at_the_same_time_keep_their_own_state():
    async def one(name):
        async with reenact.record(name) as going:
            memory = reenact.track("memory", {"of": name})
            for number in range(6):
                act(number)
                memory["count"] = number
                await asyncio.sleep(0)
        return going.load()

    async def both():
        return await asyncio.gather(one("a"), one("b"))

    for recording in asyncio.run(both()):
        assert recording.state(6)["memory"] == {"of": recording.name, "count": 4}


def test_the_last_object_of_a_name_is_the_one_that_is_kept():
    with reenact.record("test") as going:
        reenact.track("memory", {"notes": ["old"]})
        act(1)
        reenact.track("memory", {"notes": ["new"]})
        act(2)
    recording = going.load()
    assert recording.state(1)["memory"] == {"notes": ["old"]}
    assert recording.state(2)["memory"] == {"notes": ["new"]}


def test_untracked_it_is_no_longer_kept():
    memory = {"notes": []}
    with reenact.record("test") as going:
        reenact.track("memory", memory)
        act(1)
        reenact.untrack("memory")
        memory["notes"].append("private")
        act(2)
    assert going.load().state()["memory"] == {"notes": []}


def test_outside_of_all_runs_everything_is_harmless():
    memory = {"notes": []}
    assert reenact.track("memory", memory) is memory
    reenact.snapshot("nobody records")
    reenact.untrack("memory")
    reenact.untrack("memory")


# What the libraries of earlier tests left behind (the event loop of a `run_sync`) is collected here too.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_objects_are_let_go():
    memory = Memory()
    gone = weakref.ref(memory)
    reenact.track("memory", memory)
    with reenact.record("test") as going:
        act(1)
        del memory
        gc.collect()
        assert gone() is None
        act(2)
    assert going.load().state()["memory"] == Memory()


# -- what can be tracked -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("thing", "change", "seen"),
    [
        ({"a": 1}, lambda it: it.update(b=(2, 3)), {"a": 1, "b": (2, 3)}),
        ([1], lambda it: it.append({2}), [1, {2}]),
        (Memory(), lambda it: it.notes.append("x"), Memory(["x"])),
        (Profile(name="Ada"), lambda it: it.tags.append("x"), Profile(name="Ada", tags=["x"])),
        (Cart(), lambda it: it.items.append("pen"), {"items": ["pen"], "total": 0}),
        ({1: "a"}, lambda it: it.update({2: "b"}), {1: "a", 2: "b"}),
    ],
)
def test_many_kinds_of_objects_can_be_tracked(thing, change, seen):
    with reenact.record("test") as going:
        assert reenact.track("it", thing) is thing
        act(1)
        change(thing)
    recording = going.load()
    assert recording.state()["it"] == seen
    recording.restore(1)
    assert recording.state(1).exact


def test_functions_can_be_tracked():
    kept = {"value": "one"}
    with reenact.record("test") as going:
        reenact.track("value", get=lambda: kept["value"], set=lambda value: kept.update(value=value))
        act(1)
        kept["value"] = "two"
    assert going.load().state(1)["value"] == "one"
    going.load().restore(1)
    assert kept == {"value": "one"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((("a", 5), {}), "type int cannot change in place"),
        ((("a", "text"), {}), "type str cannot change in place"),
        ((("a", None), {}), "type NoneType"),
        ((("a", Slotted()), {}), "a Slotted has no attributes"),
        ((("a", dict.fromkeys), {}), "a function is tracked by its name"),
        ((("a",), {}), "give an object, or get="),
        ((("a", {}), {"get": dict}), "an object or functions, not both"),
        (((7, {}), {}), "the state's name, a text"),
        ((("a", {}), {"every": 0}), "a number of steps, 1 or more"),
    ],
)
def test_what_cannot_be_tracked_is_said_in_one_line(arguments, message):
    args, options = arguments
    with pytest.raises(errors.UsageError, match=message) as caught:
        reenact.track(*args, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"risky": "tokens > 5"}, "'tokens', which is not known before"),
        ({"risky": "(("}, "column"),
        ({"snapshot_every": 0}, "1 or more"),
    ],
)
def test_options_that_cannot_be_meant_are_said_in_one_line(options, message):
    with pytest.raises(errors.ReenactError, match=message):
        reenact.record("test", **options)


# -- recording never breaks the agent ------------------------------------------------------------------------


def test_state_that_does_not_serialise_costs_one_line_and_the_rest_is_kept(capsys):
    with reenact.record("before"):
        pass  # from the first recording on, a lock is Reenact's
    memory = {"clients": {"lock": threading.Lock()}, "notes": []}
    recording = twelve(memory)
    assert capsys.readouterr().err.splitlines() == [
        "reenact: the state 'memory' has parts that cannot be recorded: threading.Lock (clients.lock); the rest is"
    ]
    assert recording.state()["memory"]["notes"] == list(range(1, 13))
    assert recording.status == "ok"


def test_a_function_that_raises_costs_one_line_and_a_hole(capsys):
    calls = []

    def get():
        calls.append(len(calls))
        if len(calls) == 2:
            raise RuntimeError("the database is away")
        return list(calls)

    with reenact.record("test", snapshot_every=1) as going:
        reenact.track("rows", get=get)
        for number in range(4):
            act(number)
    said = capsys.readouterr().err.splitlines()
    assert said == ["reenact: the state 'rows' was not recorded (RuntimeError: the database is away)"]
    recording = going.load()
    assert any("the database is away" in note for note in recording.notes)
    assert recording.state(2)["rows"] == [0]
    assert not recording.state(2).exact
    assert recording.state(3)["rows"] == [0, 1, 2]


def test_what_the_states_own_code_does_is_no_step():
    @reenact.tool
    def query():
        return [1]

    with reenact.record("test") as going:
        reenact.track("rows", get=query)
        act(1)
    recording = going.load()
    assert [step.call.name for step in recording] == ["act"]
    assert recording.state(1)["rows"] == [1]


@pytest.mark.thorough
def test_a_state_that_other_threads_change_breaks_nothing():
    memory = {"notes": {}}
    stop = threading.Event()

    def busy():
        number = 0
        while not stop.is_set():
            memory["notes"][number % 5000] = "x" * (number % 7)
            memory["notes"].pop((number * 7) % 5000, None)
            number += 1

    worker = threading.Thread(target=busy)
    worker.start()
    try:
        with reenact.record("test", snapshot_every=1) as going:
            reenact.track("memory", memory)
            for number in range(50):
                act(number)
    finally:
        stop.set()
        worker.join()
    recording = going.load()
    assert recording.status == "ok"
    assert all(isinstance(recording.state(step)["memory"]["notes"], dict) for step in range(1, 51))


def test_secrets_are_not_in_the_state():
    secret = "correct-horse-7-battery"
    memory = {"notes": [], "password": secret}
    recording = twelve(memory)
    with open(os.path.join(recording.path, "events.jsonl"), encoding="utf-8") as file:
        assert secret not in file.read()
    assert "[[secret:" in recording.state()["memory"]["password"]


def test_tracking_a_megabyte_over_200_steps_stays_small():
    memory = {"facts": [{"id": n, "text": f"{n} " * 60} for n in range(3000)], "log": []}
    with reenact.record("test") as going:
        reenact.track("memory", memory)
        for number in range(200):
            act(number)
            memory["log"].append(f"step {number}")
            memory["facts"][number * 7]["seen"] = True
    size = os.path.getsize(os.path.join(going.path, "events.jsonl"))
    whole = len(json.dumps(memory))
    assert whole > 900_000
    assert size < whole * 1.3
    assert going.load().state()["memory"] == memory


# -- reading -------------------------------------------------------------------------------------------------


def test_a_step_that_does_not_exist_is_an_error():
    recording = twelve({"notes": []})
    with pytest.raises(LookupError, match="has no step 99: its steps go from 1 to 12"):
        recording.state(99)
    with pytest.raises(LookupError, match="has no step 0"):
        recording.restore(0)


def test_a_recording_without_state_has_none():
    with reenact.record("test") as going:
        act(1)
    state = going.load().state(1)
    assert (len(state), list(state), state.exact) == (0, [], True)
    with pytest.raises(KeyError):
        state["memory"]


def test_an_older_reader_skips_snapshots(monkeypatch):
    recording = twelve({"notes": []})
    monkeypatch.delattr(Log, "_on_snapshot")
    again = reenact.load(recording.id)
    assert len(again.steps) == 12
    with reenact.replay(again) as replay:
        for number in range(1, 13):
            act(number)
    assert replay.verdict.faithful


def test_a_snapshot_that_is_missing_in_the_file_is_said():
    recording = twelve({"notes": ["x" * 600]})
    lines = lines_of(Path(recording.path) / "events.jsonl")
    kept = [line for line in lines if (line["event"], line.get("n")) != ("snapshot", 1)]
    kept[-1].pop("signed", None)
    forge_folder(Path(recording.path), kept)
    with pytest.raises(errors.CorruptRecording, match="the state of 'memory' cannot be read"):
        reenact.load(recording.id).state()


# -- replay --------------------------------------------------------------------------------------------------


def test_in_a_replay_tracking_is_harmless_and_the_living_values_are_there():
    def program():
        memory = reenact.track("memory", {"notes": []})
        for number in range(3):
            act(number)
            memory["notes"].append(number)
            reenact.snapshot("now")
        return tracked.live(current().run)

    with reenact.record("test") as going:
        first = program()
    with reenact.replay(going.id) as replay:
        second = program()
    assert replay.verdict.faithful
    assert first == second == {"memory": {"notes": [0, 1, 2]}}


def test_after_a_replay_its_objects_can_be_restored():
    recording = twelve({"notes": []})
    memory = {"notes": []}
    with reenact.replay(recording):
        reenact.track("memory", memory)
        for number in range(1, 13):
            act(number)
            memory["notes"].append(number)
    recording.restore(6)
    assert memory == {"notes": [1, 2, 3, 4, 5]}


# -- restore -------------------------------------------------------------------------------------------------


def test_restored_objects_keep_their_identity_at_every_depth():
    memory = {"notes": [], "user": {"name": "Ada"}}
    notes, user = memory["notes"], memory["user"]
    recording = twelve(memory)
    memory["user"]["name"] = "Eve"
    memory["gone"] = 1
    state = recording.restore(6)
    assert memory == {"notes": [1, 2, 3, 4, 5], "user": {"name": "Ada"}}
    assert (memory["notes"] is notes, memory["user"] is user) == (True, True)
    assert dict(state) == {"memory": memory}


def test_what_is_restored_as_of_an_earlier_step_is_said(capsys):
    recording = twelve({"notes": []})
    recording.restore(8)
    assert "put back as of step 6, the last that is known before step 8" in capsys.readouterr().err


def test_what_a_recording_cannot_hold_stays_as_it_is():
    lock = threading.Lock()
    memory = Memory(client=lock)
    secrets = {"password": "correct-horse-7-battery", "n": 1}
    with reenact.record("test") as going:
        reenact.track("memory", memory)
        reenact.track("config", secrets)
        act(1)
        memory.count = 5
        secrets["n"] = 2
    going.load().restore(1)
    assert (memory.client is lock, memory.count) == (True, 0)
    assert secrets == {"password": "correct-horse-7-battery", "n": 1}


def test_a_secret_that_nobody_has_any_more_is_said(capsys):
    config = {"password": "correct-horse-7-battery", "n": 1}
    with reenact.record("test") as going:
        reenact.track("config", config)
        act(1)
    config.clear()
    going.load().restore(1)
    assert "a secret in the state 'config' is not in the recording" in capsys.readouterr().err
    assert config["password"].startswith("[[secret:")


def test_nothing_is_restored_where_a_name_is_not_tracked():
    recording = twelve({"notes": []})
    reenact.untrack("memory")
    with pytest.raises(errors.UsageError, match="cannot restore 'memory': no object is tracked"):
        recording.restore(6)


def test_a_name_that_was_not_tracked_cannot_be_restored():
    recording = twelve({"notes": []})
    with pytest.raises(
        errors.UsageError, match="has no state 'cart' to restore at step 6: there is 'memory'"
    ):
        recording.restore(6, "cart")


def test_functions_without_a_set_cannot_be_restored():
    with reenact.record("test") as going:
        reenact.track("rows", get=lambda: [1])
        act(1)
    with pytest.raises(errors.UsageError, match="it was tracked without .set"):
        going.load().restore(1)


def test_an_object_of_another_kind_is_not_restored():
    recording = twelve({"notes": []})
    reenact.untrack("memory")
    memory = reenact.track("memory", Memory())
    with pytest.raises(errors.UsageError, match="a Memory is tracked"):
        recording.restore(6)
    assert memory == Memory()


# -- resume --------------------------------------------------------------------------------------------------


def test_a_program_is_resumed_from_a_steps_state_in_a_recording_of_its_own():
    memory = {"notes": []}
    recording = twelve(memory)

    def program(word):
        act(7)
        memory["notes"].append(word)
        return word

    again = recording.resume(6, program, word="another")
    assert again.header["parent"] == {"id": recording.id, "step": 6, "how": "resume"}
    assert memory == {"notes": [1, 2, 3, 4, 5, "another"]}
    assert again.state()["memory"] == memory
    assert again.output == "another"
    assert again.id != recording.id


def test_what_the_program_tracks_anew_gets_the_state_there_and_then():
    def program():
        memory = reenact.track("memory", {"notes": []})
        act(1)
        return memory

    recording = twelve({"notes": []})
    reenact.untrack("memory")
    again = reenact.resume(recording.id, 11, program)
    assert again.output == {"notes": list(range(1, 11))}
    assert again.state(1)["memory"] == {"notes": list(range(1, 11))}


def test_state_that_the_program_never_tracks_is_said(capsys):
    recording = twelve({"notes": []})
    reenact.untrack("memory")
    recording.resume(6, act, number=1)
    assert "the state 'memory' was not put back" in capsys.readouterr().err


@reenact.recorded
def agent_run(question, *more, model="small", **rest):
    memory = reenact.track("memory", [])
    memory.append((question, more, model, rest))
    act(1)
    return (question, more, model, rest)


@reenact.recorded
async def async_run(question, api_key=""):
    await asyncio.sleep(0)
    act(1)
    return question


def test_a_recorded_function_is_resumed_with_its_arguments_or_others():
    assert agent_run("why?", 1, 2, depth=3) == ("why?", (1, 2), "small", {"depth": 3})
    first = reenact.load("last")
    assert first.header["function"]["name"].endswith(":agent_run")
    second = first.resume(1, model="large", depth=4)
    assert second.output == ("why?", (1, 2), "large", {"depth": 4})
    assert second.header["parent"]["id"] == first.id
    assert [step.call.address for step in second] == [step.call.address for step in first]


def test_an_async_program_is_resumed_outside_of_a_loop_and_awaited_within_one():
    asyncio.run(async_run("why?"))
    first = reenact.load("last")
    assert first.resume(1, question="how?").output == "how?"

    async def within():
        with pytest.raises(errors.UsageError, match=r"await reenact\.aresume"):
            first.resume(1, async_run, question="where?")
        with pytest.raises(errors.UsageError, match=r"await reenact\.aresume"):
            first.resume(1, question="where?")
        return await reenact.aresume(first, 1, question="who?")

    assert asyncio.run(within()).output == "who?"


def test_an_argument_that_was_a_secret_has_to_be_given():
    asyncio.run(async_run("why?", api_key="sk-proj-Zx8Qw2Er5Ty7Ui9Op3As4Df6Gh1Jk0Lz"))
    first = reenact.load("last")
    with pytest.raises(errors.UsageError, match=r"argument 'api_key' of .* is not whole in the recording"):
        first.resume(1)
    assert first.resume(1, api_key="another").output == "why?"


def test_an_argument_that_the_function_does_not_take_is_said():
    asyncio.run(async_run("why?"))
    with pytest.raises(
        errors.UsageError, match=r"has no argument 'colour': it is .*\(question, api_key=''\)"
    ):
        reenact.load("last").resume(1, colour="red")


def test_without_a_function_there_is_nothing_to_resume():
    recording = twelve({"notes": []})
    with pytest.raises(errors.UsageError, match=r"say what to run, recording\.resume\(step, program\)"):
        recording.resume(6)
    with pytest.raises(errors.UsageError, match="cannot be called"):
        recording.resume(6, "program")


def test_a_function_that_is_not_found_again_is_said():
    @reenact.recorded
    def local():
        act(1)

    local()
    with pytest.raises(errors.UsageError, match=r"local is not found here: give it"):
        reenact.load("last").resume(1)


def test_nothing_is_resumed_within_a_recording():
    recording = twelve({"notes": []})
    with reenact.record("outer"):
        with pytest.raises(errors.UsageError, match="inside a recording or a replay"):
            recording.resume(6, act, number=1)


# -- what a recording says is to be called -------------------------------------------------------------------


def _renamed(recording, name, home):
    """The same recording as a stranger would send it: another function stands in its header."""
    folder = Path(home, "recordings", recording.id)
    lines = (folder / "events.jsonl").read_text().splitlines()
    header = json.loads(lines[0])
    header["function"]["name"] = name
    header["format"] = 1
    for mark in ("home", "sum"):
        header.pop(mark)
    (folder / "events.jsonl").write_text(json.dumps(header) + "\n")
    return reenact.load(recording.id)


@pytest.mark.parametrize(
    "name",
    ["os:system", "subprocess:run", "builtins:exec", "builtins:eval", f"{__name__}:faked", "this:s", "", "x"],
)
def test_a_function_that_is_not_marked_is_never_called(name, home, tmp_path, monkeypatch):
    agent_run("touch", 1)
    called = []
    faked = type("Faked", (), {"__call__": lambda *_, **__: called.append(1), "_recorded": print})()
    monkeypatch.setitem(globals(), "faked", faked)
    recording = _renamed(reenact.load("last"), name, home)
    with pytest.raises(errors.ForeignRecording, match="--run-foreign"):
        recording.resume(1)
    with pytest.raises(errors.UsageError, match=r"is not found here: give it"):
        recording.resume(None, run_foreign=True)
    assert called == []


def test_a_foreign_recording_imports_no_module(home, tmp_path, monkeypatch):
    agent_run("why?", 1)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "evil_module.py").write_text("open('MARK', 'w')")
    monkeypatch.chdir(tmp_path)
    recording = _renamed(reenact.load("last"), "evil_module:run", home)
    with pytest.raises(errors.ForeignRecording):
        recording.resume(1)
    assert not (tmp_path / "MARK").exists()


def test_a_marked_function_of_the_program_is_called_for_a_foreign_recording_too(home):
    agent_run("why?", 1)
    recording = _renamed(reenact.load("last"), f"{__name__}:agent_run", home)
    assert recording.resume().output[0] == "why?"
