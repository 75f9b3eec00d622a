"""A tool that was recorded whole runs again in a replay; any other one is answered, and named."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reenact
from reenact import Departure, DivergenceError
from reenact.analysis.views.verdict import facts
from reenact.errors import UsageError

LOG: list[str] = []


@reenact.tool
def add(cart: list[str], item: str) -> str:
    cart.append(item)
    with_tax = reenact.effect("prices", "list", item=item).perform(lambda: random.randrange(10**9))
    return f"{item} for {with_tax + random.random()}"


@reenact.tool
def notes(path: str) -> str:
    LOG.append(path)
    return Path(path).read_text(encoding="utf-8")


@reenact.tool
def note(path: str, text: str) -> int:
    LOG.append(path)
    return Path(path).write_text(text, encoding="utf-8")


def shop() -> list[str]:
    cart: list[str] = []
    return [add(cart, "tea"), add(cart, "milk"), *cart]


def recorded(program: Callable[[], Any]) -> str:
    with reenact.record() as run:
        program()
    return run.id


def departure(id: str, program: Callable[[], Any]) -> reenact.Divergence:
    with pytest.raises(DivergenceError) as caught, reenact.replay(id):
        program()
    return caught.value.divergence


def test_a_tool_runs_again_and_what_it_asks_is_answered_from_the_recording(home: str) -> None:
    with reenact.record() as run:
        first = shop()
    with reenact.replay(run.id) as replay:
        assert shop() == first
    assert replay.verdict.faithful
    assert replay.verdict.again == {"tool:add": 2}
    assert replay.verdict.kinds == {"prices": 2, "tool": 2}


def test_a_changed_tool_is_found_at_the_tool_with_the_digests_of_both_sources(home: str) -> None:
    @reenact.tool
    def price(item: str) -> dict[str, Any]:
        return {"item": item, "each": [1, 20 + len(item)]}

    id = recorded(lambda: price("tea"))

    @reenact.tool(name="price")
    def changed(item: str) -> dict[str, Any]:
        return {"item": item, "each": [1, 21 + len(item)]}

    found = departure(id, lambda: changed("tea"))
    assert (found.kind, found.step) == (Departure.CHANGED, 1)
    assert [(m.path, m.recorded, m.actual) for m in found.mismatches] == [("result.each[1]", 23, 24)]
    assert "its source has changed from" in found.detail


def test_a_tool_with_another_result_takes_no_answer_from_the_count_of_those_before_it(home: str) -> None:
    def asked() -> int:
        return reenact.effect("prices", "list").perform(lambda: 7)

    @reenact.tool
    def price(each: int) -> int:
        return each

    @reenact.tool(name="price")
    def changed(each: int) -> int:
        return each + 1

    id = recorded(lambda: price(asked()))
    with pytest.raises(DivergenceError), reenact.replay(id) as replay:
        changed(asked())
    assert next(facts(replay.verdict)).text == "1 answer served from the recording"


def rate() -> int:
    return 7


@reenact.tool
def tax(amount: int) -> int:
    return amount * rate()


def test_a_changed_function_that_a_tool_calls_changes_the_digest_of_the_tool(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = recorded(lambda: tax(3))
    monkeypatch.setitem(globals(), "rate", lambda: 8)
    found = departure(id, lambda: tax(3))
    assert [(m.path, m.recorded, m.actual) for m in found.mismatches] == [("result", 21, 24)]


def test_a_tool_that_raises_something_else_is_found(home: str) -> None:
    @reenact.tool
    def refund(order: str) -> None:
        raise ValueError(f"{order} is closed")

    def program() -> None:
        with pytest.raises(ValueError, match="closed"):
            refund("A")

    id = recorded(program)

    @reenact.tool(name="refund")
    def changed(order: str) -> None:
        raise ValueError(f"{order} is closed!")

    found = departure(id, lambda: changed("A"))
    assert [m.path for m in found.mismatches] == ["error.text"]


def test_a_tool_that_reads_a_file_is_answered_and_the_verdict_says_why(home: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("buy tea")
    id = recorded(lambda: notes(str(file)))
    file.unlink()
    LOG.clear()
    with reenact.replay(id) as replay:
        assert notes(str(file)) == "buy tea"
    assert replay.verdict.faithful
    assert replay.verdict.answered == {"tool:notes": f"reads the file {file}"}
    assert not LOG


def test_a_tool_that_wrote_a_file_writes_to_scratch_in_a_replay(home: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    id = recorded(lambda: note(str(file), "buy tea"))
    file.unlink()
    with reenact.replay(id) as replay:
        assert note(str(file), "buy tea") == 7
    assert not file.exists()
    assert replay.verdict.again == {"tool:note": 1}


@pytest.mark.parametrize(
    ("mode", "told"),
    [("a", "open"), ("r", "open for reading"), ("r+", "open")],
    ids=["append", "read", "both"],
)
def test_a_tool_beside_a_file_that_the_program_holds_open_is_answered(
    home: str, tmp_path: Path, mode: str, told: str
) -> None:
    file, link = tmp_path / "notes.txt", tmp_path / "link.txt"
    file.write_text("buy tea")
    link.symlink_to(file)

    def program() -> str:
        with link.open(mode):
            return add([], "tea")

    with reenact.replay(recorded(program)) as replay:
        program()
    assert replay.verdict.answered == {"tool:add": f"the program holds the file {link} {told}"}


def test_a_tool_after_the_last_use_of_a_file_runs_again(home: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"

    def program() -> str:
        file.write_text("buy tea")
        file.read_text()
        return add([], "tea")

    with reenact.replay(recorded(program)) as replay:
        program()
    assert replay.verdict.again == {"tool:add": 1}


def test_a_changed_tool_that_acts_on_the_world_is_stopped_before_it_does(home: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"

    @reenact.tool
    def order(item: str) -> str:
        return item

    id = recorded(lambda: order("tea"))

    @reenact.tool(name="order")
    def changed(item: str) -> str:
        file.write_text(item)
        return item

    found = departure(id, lambda: changed("tea"))
    assert "a tool that runs again writes the file" in found.detail
    assert not file.exists()


def test_a_changed_tool_that_is_answered_makes_the_replay_unfaithful(home: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("buy tea")

    @reenact.tool
    def read() -> str:
        return file.read_text()

    id = recorded(read)

    @reenact.tool(name="read")
    def changed() -> str:
        return file.read_text().upper()

    with reenact.replay(id) as replay:
        assert changed() == "buy tea"
    assert not replay.verdict.faithful
    assert not replay.verdict.divergences
    (said,) = replay.verdict.notes
    assert said.startswith("tool:read did not run (reads the file")
    assert "its source has changed from" in said


@pytest.mark.parametrize("words", ["answer", ["rerun", "add=answer"], ["live", "tool:add=answer"]])
def test_a_tool_is_answered_where_that_is_asked_for(home: str, words: Any) -> None:
    id = recorded(lambda: add([], "tea"))
    with reenact.replay(id, tools=words) as replay:
        add([], "tea")
    assert replay.verdict.kinds == {"tool": 1}
    assert replay.verdict.answered == {"tool:add": "as asked"}


def test_a_tool_runs_for_real_where_that_is_asked_for(home: str) -> None:
    id = recorded(lambda: add([], "tea"))
    with reenact.replay(id, tools="add=live") as replay:
        add([], "tea")
    assert replay.verdict.live == {"tool:add": 1}


PAUSES = {"times": 1, "limit": 60.0}


@reenact.tool
async def pausing() -> int:
    for _ in range(int(PAUSES["times"])):
        await asyncio.sleep(0.01)
    return 1


async def beside_a_pausing_tool() -> list[int]:
    task = asyncio.create_task(pausing())
    for _ in range(3):
        await asyncio.sleep(0.004)
    return [await task]


async def a_pausing_tool_in_time() -> bool:
    try:
        return bool(await asyncio.wait_for(pausing(), PAUSES["limit"]))
    except TimeoutError:
        return False


@pytest.mark.parametrize("pauses", [0, 1, 4])
def test_a_live_tool_may_sleep_more_often_than_it_did(
    home: str, monkeypatch: pytest.MonkeyPatch, pauses: int
) -> None:
    with reenact.record() as run:
        assert asyncio.run(beside_a_pausing_tool()) == [1]
    monkeypatch.setitem(PAUSES, "times", pauses)
    with reenact.replay(run.id, live=["tool"]) as replay:
        assert asyncio.run(beside_a_pausing_tool()) == [1]
    assert not replay.verdict.divergences


def test_a_time_limit_ends_a_live_tool_that_takes_too_long(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reenact.record() as run:
        assert asyncio.run(a_pausing_tool_in_time())
    monkeypatch.setitem(PAUSES, "times", 10**9)
    monkeypatch.setitem(PAUSES, "limit", 0.05)
    with reenact.replay(run.id, live=["tool"]):
        assert not asyncio.run(a_pausing_tool_in_time())


@pytest.mark.parametrize("word", ["again", "add=again", "add="])
def test_a_mode_that_does_not_exist_is_refused(home: str, word: str) -> None:
    id = recorded(lambda: add([], "tea"))
    with pytest.raises(UsageError, match="rerun, answer, live"), reenact.replay(id, tools=word):
        pass


def test_state_that_an_answered_tool_changed_is_found_at_the_end(home: str, tmp_path: Path) -> None:
    file = tmp_path / "facts.txt"
    file.write_text("tea is hot")

    @reenact.tool
    def learn(memory_of: str) -> str:
        held[memory_of].append(file.read_text())
        return "ok"

    held: dict[str, list[str]] = {}

    def program() -> None:
        held.clear()
        held["facts"] = []
        reenact.track("memory", held)
        learn("facts")

    id = recorded(program)
    found = departure(id, program)
    assert (found.kind, found.address) == (Departure.CHANGED, "main/state:memory")
    assert [(m.path, m.recorded) for m in found.mismatches] == [("memory.facts[0]", "tea is hot")]
    assert found.hint == "a tool that did not run may have changed it: tool:learn"


def test_a_generator_that_an_answered_tool_has_drawn_from_is_named(home: str, tmp_path: Path) -> None:
    file = tmp_path / "facts.txt"
    file.write_text("tea is hot")

    @reenact.tool
    def guess() -> float:
        file.read_text()
        return random.random()

    def program() -> None:
        random.seed(42)
        guess()

    with reenact.replay(recorded(program)) as replay:
        program()
    assert replay.verdict.notes == ("the state of the generator random at the end is not the recorded one",)


def test_the_verdict_says_what_was_compared(home: str) -> None:
    def program() -> None:
        cart: list[str] = []
        reenact.track("cart", cart)
        add(cart, "tea")

    with reenact.replay(recorded(program)) as replay:
        program()
    assert replay.verdict.faithful
    assert {"calls", "state cart"} <= set(replay.verdict.compared)


@reenact.tool
def dice() -> float:
    """A tool that draws."""
    return random.random()


@pytest.mark.parametrize("earlier", [False, True], ids=["now", "before tools ran again in forks"])
def test_the_tools_of_a_fork_run_again_if_they_ran_in_the_fork(home: str, earlier: bool) -> None:
    def play() -> list[float]:
        return [dice(), dice(), dice()]

    with reenact.record(home=home) as run:
        play()
    with reenact.fork(run.load(), at=2) as fork:
        forked = play()
    child = fork.recording
    if earlier:
        sealed = child.logs[0].sealed
        assert sealed is not None
        child.logs[0].sealed = {name: value for name, value in sealed.items() if name != "again"}
    with reenact.replay(child) as replay:
        assert play() == forked
    assert replay.verdict.faithful
    assert replay.verdict.again.get("tool:dice", 0) == (0 if earlier else 3)
    assert ("is a fork" in replay.verdict.answered.get("tool:dice", "")) is earlier


@reenact.tool
async def ask(question: str, seconds: float) -> float:
    await asyncio.sleep(seconds)
    return random.random()


async def first_to_end(*tasks: asyncio.Task[Any]) -> None:
    _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)


async def race(*, checks: bool) -> None:
    async def quick() -> None:
        await asyncio.sleep(0.001)
        if checks:
            await ask("check", 60)

    async def slow() -> None:
        await ask("search", 0.02)

    await first_to_end(asyncio.ensure_future(quick()), asyncio.ensure_future(slow()))


def test_a_call_that_was_left_out_is_named_and_not_the_tool_that_was_cancelled_for_it(home: str) -> None:
    id = recorded(lambda: asyncio.run(race(checks=True)))
    found = departure(id, lambda: asyncio.run(race(checks=False)))
    assert (found.kind, found.step) == (Departure.MISSING, 2)
    assert "the program cancelled this tool" in str(found)


def test_a_tool_that_is_cancelled_before_its_end_is_said_to_be_cancelled(home: str) -> None:
    async def searched(hurry: bool) -> None:
        task = asyncio.ensure_future(ask("search", 0.01))
        await asyncio.sleep(0)
        await ask("other", 0)
        if hurry:
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    id = recorded(lambda: asyncio.run(searched(False)))
    found = departure(id, lambda: asyncio.run(searched(True)))
    assert (found.kind, found.step) == (Departure.CHANGED, 1)
    assert "the program cancelled this tool, which had come to its end when it was recorded" in str(found)


def test_a_tool_that_takes_the_place_of_a_left_out_one_does_not_hide_it(home: str) -> None:
    def drawing(again: bool) -> Callable[[str], float]:
        if again:

            @reenact.tool(name="draw")
            def draw(name: str) -> float:
                return 2 * random.random()
        else:

            @reenact.tool(name="draw")
            def draw(name: str) -> float:
                return random.random()

        return draw

    id = recorded(lambda: [drawing(False)(name) for name in ("first", "second")])
    found = departure(id, lambda: drawing(True)("second"))
    assert (found.kind, found.step) == (Departure.MISSING, 1)
    assert "ran again and gave another result" in str(found)
