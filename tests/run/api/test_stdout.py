"""A block's printed text is recorded and compared, and an answered tool prints what it printed."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

import reenact


@reenact.tool
def look(path: str) -> int:
    """Print, and read what no recording has: a replay answers it."""
    print("looking at", path)
    return os.stat(path).st_mode


@reenact.tool
def outer(path: str) -> int:
    """Print around another tool."""
    print("outer begins")
    look(path)
    print("outer ends")
    return os.stat(path).st_mode


@reenact.tool(writes=False)
def counted(most: int) -> Iterator[int]:
    """Print before each part."""
    for number in range(most):
        print("part", number)
        yield number
    print("no more")


PRINTED = """looking at /
outer begins
looking at /
outer ends
part 0
got 0
part 1
got 1
no more
done
"""


def agent(word: str = "done") -> None:
    look("/")
    outer("/")
    for number in counted(2):
        print("got", number)
    print(word)


def replayed(home: Path, program: Callable[[], object], **options: object) -> reenact.Verdict:
    with reenact.replay("last", home=home, **options) as replay:  # type: ignore[arg-type]
        program()
    return replay.verdict


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with reenact.record("agent", home=tmp_path):
        agent()
    return tmp_path


def test_a_replay_prints_what_was_printed_in_the_recorded_order(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = replayed(home, agent)
    assert capsys.readouterr().out == PRINTED
    assert verdict.faithful, str(verdict)
    assert "standard output" in verdict.compared


def test_another_output_is_a_divergence_that_names_the_line(home: Path) -> None:
    with pytest.raises(reenact.DivergenceError, match="recorded 'done', actual 'finished'"):
        replayed(home, lambda: agent("finished"))


def test_the_output_may_be_left_out_of_the_comparison(home: Path) -> None:
    verdict = replayed(home, lambda: agent("finished"), ignore=["stdout"])
    assert verdict.faithful
    assert verdict.rules == ("ignore stdout",)
    assert "standard output" not in verdict.compared


def test_text_around_the_recorded_function_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REENACT_HOME", str(tmp_path))
    program = reenact.recorded(agent)
    program()

    def announced() -> None:
        print("the replay begins")
        program()
        print("it is over")

    assert replayed(tmp_path, announced).faithful


def test_the_lines_of_several_threads_may_change_their_order(tmp_path: Path) -> None:
    def program(names: tuple[str, ...]) -> None:
        for name in names:
            thread = threading.Thread(target=print, args=(f"worker {name}",))
            thread.start()
            thread.join()

    with reenact.record(home=tmp_path):
        program(("a", "b"))
    verdict = replayed(tmp_path, lambda: program(("b", "a")))
    assert verdict.rules == ("ignore the order of lines in stdout (threads)",)
    assert replayed(tmp_path, lambda: program(("a", "b"))).faithful


def test_two_recordings_at_once_keep_their_own_text(tmp_path: Path) -> None:
    async def one(name: str) -> None:
        async with reenact.record(name, home=tmp_path):
            print(name, "begins")
            await asyncio.sleep(0)
            print(name, "ends")

    async def both() -> None:
        await asyncio.gather(one("a"), one("b"))

    asyncio.run(both())
    found = [reenact.load(path, home=tmp_path) for path in (tmp_path / "recordings").iterdir()]
    assert len(found) == 2
    for recording in found:
        text = recording.logs[0].sealed["stdout"]["text"]  # type: ignore[index]
        assert text == f"{recording.name} begins\n{recording.name} ends\n"


def test_a_secret_in_the_output_is_not_recorded(tmp_path: Path) -> None:
    with reenact.record(home=tmp_path) as recording:
        print("password=correct-horse-7-battery")
        outer("/")
    data = Path(recording.path, "events.jsonl").read_text(encoding="utf-8")
    assert "correct-horse" not in data
    with reenact.replay(recording.id, home=tmp_path) as replay:
        print("password=correct-horse-7-battery")
        outer("/")
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_fork_prints_what_answered_tools_printed_and_replays_so(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with reenact.fork("last", at=4, home=home) as fork:
        agent()
    assert capsys.readouterr().out == PRINTED
    with reenact.replay(fork.id, home=home) as replay:
        agent()
    assert capsys.readouterr().out == PRINTED
    assert replay.verdict.faithful, str(replay.verdict)


def test_what_could_not_be_compared_is_said(tmp_path: Path) -> None:
    with reenact.record(home=tmp_path) as recording:
        recording.output = 5
    with reenact.replay(recording.id, home=tmp_path) as replay:
        pass
    assert replay.verdict.uncompared == ("the result (set replay.output)",)
    assert "not compared: the result" in str(replay.verdict)


@pytest.mark.parametrize("form", ["%(asctime)s %(message)s", "[%(asctime)s] %(levelname)s %(message)s"])
def test_the_times_of_log_lines_may_differ_and_the_verdict_says_so(tmp_path: Path, form: str) -> None:
    stream = io.StringIO()
    logger = logging.getLogger("times")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter(form))
    logger.addHandler(handler)

    def program(created: float, word: str = "asked") -> None:
        record = logger.makeRecord("times", logging.INFO, __file__, 1, word, (), None)
        record.created, record.msecs = created, created % 1 * 1000
        logger.handle(record)
        print(stream.getvalue(), end="")
        stream.truncate(0)
        stream.seek(0)

    try:
        with reenact.record(home=tmp_path):
            program(1_800_000_000.123)
        verdict = replayed(tmp_path, lambda: program(1_800_000_777.5))
        assert verdict.faithful
        assert verdict.rules == ("ignore times of day in stdout",)
        with pytest.raises(reenact.DivergenceError, match="answered"):
            replayed(tmp_path, lambda: program(1_800_000_777.5, "answered"))
    finally:
        logger.removeHandler(handler)


class Cookies(BaseHTTPRequestHandler):
    """A server that sets a cookie."""

    def do_GET(self) -> None:
        self.send_response(204)
        self.send_header("set-cookie", "sid=f3a9c17be2d04458; Path=/")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize(("start", "faithful"), [("got", True), ("has", False)])
def test_a_printed_secret_of_an_answer_counts_as_its_token(home: str, start: str, faithful: bool) -> None:
    def program(first: str) -> None:
        print(first, dict(httpx.get(url).cookies), "and more")

    with ThreadingHTTPServer(("127.0.0.1", 0), Cookies) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with reenact.record() as run:
            program("got")
        server.shutdown()
    with contextlib.suppress(reenact.DivergenceError), reenact.replay(run.id) as replay:
        program(start)
    assert replay.verdict.faithful is faithful, replay.verdict


def test_a_line_that_differs_in_its_time_alone_is_not_named_with_another() -> None:
    def program(time: str, word: str) -> None:
        print(f"{time} begins in {len(time)} s")
        print(word)

    with reenact.record() as recording:
        program("10:36:55,967", "one")
    with pytest.raises(reenact.DivergenceError) as caught, reenact.replay(recording.id):
        program("10:37:06", "two")
    [mismatch] = caught.value.divergence.mismatches
    assert (mismatch.path, mismatch.recorded, mismatch.actual) == ("stdout line 2", "one", "two")
