"""The clocks that the program reads give the recorded times in a replay; everybody else's are left alone."""

# ruff: noqa: PLW0108, DTZ002, DTZ005, DTZ011 - a lambda looks the name up when it is called; naive times are what programs read

import asyncio
import datetime as dt
import email.utils
import io
import logging
import sys
import threading
import time
import uuid
import zipfile
from datetime import date as early_date
from datetime import datetime as early_datetime
from time import monotonic as early_monotonic
from time import perf_counter as early_perf_counter
from time import sleep as early_sleep
from time import time as early_time

import pydantic
import pytest
import time_machine

import reenact
from reenact.adapters.stdlib import clock

UTC = dt.UTC


class Order(pydantic.BaseModel):
    placed: dt.datetime = pydantic.Field(default_factory=early_datetime.now)
    due: dt.date = pydantic.Field(default_factory=dt.date.today)
    key: uuid.UUID = pydantic.Field(default_factory=uuid.uuid4)


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "a")
    return buffer.getvalue()


READS = {
    "time.time": lambda: time.time(),
    "time.time, imported early": lambda: early_time(),
    "time.time_ns": lambda: time.time_ns(),
    "datetime.now": lambda: dt.datetime.now(),
    "datetime.now(UTC)": lambda: dt.datetime.now(UTC),
    "datetime.now, imported early": lambda: early_datetime.now(),
    "datetime.today": lambda: dt.datetime.today(),
    "time.monotonic": lambda: time.monotonic(),
    "time.monotonic, imported early": lambda: early_monotonic(),
    "time.monotonic_ns": lambda: time.monotonic_ns(),
    "time.perf_counter": lambda: time.perf_counter(),
    "time.perf_counter, imported early": lambda: early_perf_counter(),
    "time.perf_counter_ns": lambda: time.perf_counter_ns(),
    "time.process_time": lambda: time.process_time(),
    "time.process_time_ns": lambda: time.process_time_ns(),
    "time.thread_time": lambda: time.thread_time(),
    "time.clock_gettime": lambda: time.clock_gettime(time.CLOCK_REALTIME),
    "uuid1": lambda: uuid.uuid1(),
    "uuid1 of a given node": lambda: uuid.uuid1(node=1, clock_seq=2),
    "a default factory of pydantic's": lambda: Order().placed,
}

COARSE = {
    "date.today": lambda: (dt.date.today(), early_date.today()),
    "time.gmtime": lambda: time.gmtime(),
    "time.localtime": lambda: time.localtime(),
    "time.strftime": lambda: time.strftime("%Y-%m-%d %H:%M:%S"),
    "time.ctime": lambda: time.ctime(),
    "time.asctime": lambda: time.asctime(),
    "formatdate": lambda: email.utils.formatdate(),
    "a zip archive": zipped,
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", READS)
def test_a_read_gives_the_recorded_time(name, twice):
    first, second, verdict = twice(READS[name])
    assert first == second
    assert type(first) is type(second)
    assert verdict.faithful, verdict


@pytest.mark.parametrize("name", READS)
def test_without_a_replay_two_reads_differ(name):
    first = READS[name]()
    sum(range(10_000))
    assert READS[name]() != first


@pytest.mark.sampled
@pytest.mark.parametrize("name", COARSE)
def test_a_read_in_whole_seconds_gives_the_recorded_time(name, tmp_path):
    with time_machine.travel(1_000_000_000, tick=False), reenact.record(home=tmp_path) as recording:
        travelled = COARSE[name]()
    # The program's own time travel is not ours to record, so here the time is written in by hand.
    with reenact.record(home=tmp_path) as recording:
        first = COARSE[name]()
    log = recording.load()
    (source,) = [key for key in log.logs[0].draws if key[1] == "clock:time"]
    log.logs[0].draws[source] = [1_000_000_000 * 10**9 for _ in log.logs[0].draws[source]]
    with reenact.replay(log) as replay:
        assert COARSE[name]() == travelled
    assert first != travelled
    assert replay.verdict.faithful


@pytest.mark.thorough
def test_all_reads_of_one_program_are_equal_in_another_process(processes):
    program = processes(
        """
        import datetime as dt, email.utils, os, random, secrets, tempfile, time, uuid
        from datetime import datetime
        from random import choice, random as early_random
        from time import monotonic, perf_counter, time as early_time
        from uuid import uuid4

        def work():
            return repr([
                time.time(), early_time(), time.time_ns(), datetime.now(), dt.datetime.now(dt.timezone.utc),
                dt.date.today(), time.strftime("%H:%M:%S"), time.localtime(), time.ctime(), monotonic(),
                time.monotonic_ns(), perf_counter(), time.process_time(), email.utils.formatdate(),
                uuid4(), uuid.uuid1(), uuid.uuid1(node=1), secrets.token_hex(8), os.urandom(4), random.random(),
                early_random(), choice(range(10**9)), random.Random().random(), random.SystemRandom().random(),
                random.sample(range(1000), 5), random.gauss(0, 1), os.path.basename(tempfile.mktemp()),
                os.environ.get("WHO"), os.getenv("NOBODY", "nobody"),
            ])
        """
    )
    (first,) = program("record", WHO="me")
    second, verdict = program("replay", WHO="you")
    assert second == first
    assert verdict.startswith("faithful")


@pytest.mark.thorough
def test_local_times_are_those_of_the_recorded_time_zone(processes):
    program = processes(
        """
        import datetime as dt, time

        def work():
            moment = dt.datetime.fromtimestamp(1_700_000_000)
            return repr([dt.datetime.now(), time.localtime(), moment, moment.astimezone().utcoffset(), time.tzname])
        """
    )
    (first,) = program("record", TZ="Asia/Tokyo")
    assert "JST" in first
    second, verdict = program("replay", TZ="America/New_York")
    assert second == first
    assert verdict.startswith("faithful")


def test_pydantic_accepts_the_datetimes(twice):
    def work():
        order = Order(placed=dt.datetime.now(UTC), due=dt.datetime.now().date())
        return (
            Order.model_validate(order.model_dump()),
            Order.model_validate_json(order.model_dump_json()),
            Order(),
        )

    first, second, verdict = twice(work)
    assert first == second
    assert verdict.faithful


def test_what_now_gives_is_a_plain_datetime(twice):
    class Stamp(dt.datetime):
        pass

    _, (plain, own), _ = twice(lambda: (dt.datetime.now(), Stamp.now()))
    assert type(plain) is dt.datetime
    assert type(own) is Stamp


def test_the_event_loop_keeps_its_own_time(twice):
    async def work():
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(0.05)
        try:
            await asyncio.wait_for(asyncio.sleep(30), 0.05)
        except TimeoutError:
            return asyncio.get_running_loop().time() - began
        return None

    first, second, verdict = twice(lambda: asyncio.run(work()))
    # Neither the thirty seconds of the sleep that was given up, nor none.
    assert 0.08 < first < 30
    assert 0.08 < second < 30
    assert verdict.faithful


def test_a_library_reads_its_own_clock(drawn, library):
    timer = library(
        "timer", "import time\nfrom time import time as now\ndef read(): return time.monotonic(), now()"
    )
    assert drawn(lambda: (timer.read(), threading.Event().wait(0.01))) == []


def test_a_log_line_is_not_recorded(drawn):
    assert drawn(lambda: logging.getLogger("shop").error("no such order %s", 1)) == []


def test_a_library_that_reads_for_the_program_is_looked_through(drawn, library):
    stamps = library("stamps", "import uuid\ndef stamp(): return uuid.uuid1()")
    assert drawn(lambda: email.utils.formatdate()) == ["clock:time"]
    assert drawn(lambda: Order()) == ["clock:time", "entropy:urandom"]
    assert drawn(stamps.stamp) == []


def test_a_clock_kept_by_a_class_stays_a_function(twice):
    class Timer:
        clock = time.monotonic
        sleep = time.sleep

    timer = Timer()
    assert twice(lambda: (timer.sleep(0), timer.clock()))[2].faithful


def test_a_clock_is_still_called_what_it_was():
    assert (time.monotonic.__name__, time.monotonic.__module__, time.sleep.__doc__[:5]) == (
        "monotonic",
        "time",
        "sleep",
    )


def test_with_no_run_active_the_clocks_are_the_real_ones():
    before = time.time_ns()
    assert 0 <= dt.datetime.now(UTC).timestamp() - before / 1e9 < 600
    before = time.monotonic_ns()
    assert 0 <= time.monotonic() - before / 1e9 < 600
    assert time.gmtime(0)[:3] == (1970, 1, 1)
    assert time.ctime(0) == time.asctime(time.localtime(0))


def test_where_the_program_travels_in_time_its_own_time_holds(twice, monkeypatch):
    # An identifier that another test made today is later than those of a journey into the past.
    monkeypatch.setattr(uuid, "_last_timestamp", None)

    def work():
        with time_machine.travel(dt.datetime(2001, 2, 3, tzinfo=UTC), tick=False):
            there = dt.datetime.now(UTC), time.ctime(), uuid.uuid1().time
        return there, dt.datetime.now(UTC)

    first, second, verdict = twice(work)
    assert first == second
    assert first[0][0].year == 2001
    assert "2001" in first[0][1]
    assert verdict.faithful


def test_a_program_that_reads_more_is_told_and_time_goes_on(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        first = [time.time_ns() for _ in range(2)]
    with reenact.replay(recording.id, home=tmp_path) as replay:
        second = [time.time_ns() for _ in range(4)]
    assert second[:2] == first
    assert second == sorted(set(second))
    assert "clock:time" in replay.verdict.notes[0]


# -- sleeping ------------------------------------------------------------------------------------------------


def seconds(function):
    """How long a function takes, on a clock that nobody replaces."""
    began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    function()
    return (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - began) / 1e9


@pytest.fixture
def really_slept(monkeypatch):
    """Each sleep that is not over at once, in seconds."""
    slept = []

    def sleep(duration, real=clock._sleep):
        slept.append(duration)
        real(duration)

    monkeypatch.setattr(clock, "_sleep", sleep)
    return slept


def test_a_sleep_is_real_when_recorded_and_over_at_once_in_a_replay(tmp_path, really_slept):
    def work():
        time.sleep(0.2)
        early_sleep(0.2)

    with reenact.record(home=tmp_path) as recording:
        assert seconds(work) >= 0.4
    with reenact.replay(recording.id, home=tmp_path) as replay:
        work()
    assert replay.verdict.faithful
    assert really_slept == [0.2, 0.2]


def test_a_librarys_back_off_is_over_at_once_too(tmp_path, library, really_slept):
    backoff = library("backoff", "from time import sleep\ndef wait(): sleep(0.3)")
    with reenact.record(home=tmp_path) as recording:
        assert seconds(backoff.wait) >= 0.3
    with reenact.replay(recording.id, home=tmp_path):
        backoff.wait()
    assert really_slept == [0.3]


def test_on_request_a_sleep_takes_its_recorded_time(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        time.sleep(0.3)
    with reenact.replay(recording.id, home=tmp_path, pace="real"):
        assert seconds(lambda: time.sleep(0.3)) >= 0.25


def test_sleeps_of_several_threads_end_in_the_recorded_order(twice):
    def work():
        woken = []

        def sleeper(name, pause):
            for _ in range(3):
                time.sleep(pause)
                woken.append(name)

        threads = [
            threading.Thread(target=sleeper, args=item) for item in (("a", 0.05), ("b", 0.035), ("c", 0.02))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return woken

    first, second, verdict = twice(work)
    assert first == second
    assert verdict.faithful


def test_a_wrong_sleep_is_refused_in_a_replay_as_it_was(twice):
    def work():
        with pytest.raises(ValueError, match="non-negative"):
            time.sleep(-1)
        with pytest.raises(TypeError):
            time.sleep("1")
        return True

    assert twice(work)[2].faithful


def test_a_loop_that_polls_lets_others_run(twice):
    def work():
        found = []
        worker = threading.Thread(target=lambda: (time.sleep(0.05), found.append(1)))
        worker.start()
        while not found:
            time.sleep(0.001)
        worker.join()
        return found

    first, second, _ = twice(work)
    assert first == second == [1]


# -- threads -------------------------------------------------------------------------------------------------


def test_eight_threads_each_get_their_own_times_again(twice):
    def work():
        found = {}

        def read(number):
            found[number] = [(time.time_ns(), time.monotonic_ns(), uuid.uuid4()) for _ in range(50)]

        threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found

    first, second, verdict = twice(work)
    assert first == second
    assert verdict.faithful


def test_a_built_in_run_by_an_executor_is_the_programs_read(twice):
    async def work():
        return await asyncio.to_thread(time.time_ns), await asyncio.to_thread(uuid.uuid4)

    first, second, verdict = twice(lambda: asyncio.run(work()))
    assert first == second
    assert verdict.faithful


def test_an_inactive_read_costs_little(capsys):
    def cost(function):
        return min(seconds(lambda: [function() for _ in range(20000)]) for _ in range(3)) / 20000

    time.time()
    reenact.adapters.install()
    costs = {
        name: cost(function) for name, function in (("time.time", time.time), ("monotonic", time.monotonic))
    }
    with capsys.disabled():
        print(
            *(f"\n    {name}: {value * 1e9:.0f} ns with no run active" for name, value in costs.items()),
            end="",
        )
    assert max(costs.values()) < 1e-5, sys.version
