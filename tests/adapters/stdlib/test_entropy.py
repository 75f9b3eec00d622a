"""Randomness that the program draws is the recorded one in a replay, and a seed gives what it gives in plain Python."""

# ruff: noqa: PLW0108 - a lambda looks the name up when it is called

import asyncio
import os
import random
import secrets
import tempfile
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import choice as early_choice
from random import getrandbits as early_getrandbits
from random import randint as early_randint
from random import random as early_random
from random import seed as early_seed
from random import shuffle as early_shuffle
from uuid import uuid4 as early_uuid4

import pytest

import reenact

MANY = range(10**9)


def shuffled():
    items = list(range(50))
    early_shuffle(items)
    return items


DRAWS = {
    "os.urandom": lambda: os.urandom(16),
    "os.getrandom": lambda: os.getrandom(16),
    "uuid4": lambda: uuid.uuid4(),
    "uuid4, imported early": lambda: early_uuid4(),
    "secrets.token_hex": lambda: secrets.token_hex(),
    "secrets.token_urlsafe": lambda: secrets.token_urlsafe(),
    "secrets.choice": lambda: [secrets.choice(MANY) for _ in range(3)],
    "SystemRandom": lambda: random.SystemRandom().random(),
    "Random()": lambda: random.Random().random(),
    "random": lambda: random.random(),
    "random, imported early": lambda: early_random(),
    "getrandbits, imported early": lambda: early_getrandbits(64),
    "randint, imported early": lambda: early_randint(0, 10**9),
    "choice, imported early": lambda: early_choice(MANY),
    "shuffle, imported early": shuffled,
    "uniform": lambda: random.uniform(0, 1),
    "sample": lambda: random.sample(MANY, 5),
    "choices": lambda: random.choices(MANY, k=5),
    "gauss": lambda: [random.gauss(0, 1) for _ in range(3)],
    "randbytes": lambda: random.randbytes(16),
    "a seed from the system": lambda: (random.seed(), random.random()),
    "mktemp": lambda: Path(tempfile.mktemp()).name,
}


def in_threads(number, work):
    found = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: work(n)})) for n in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_is_the_recorded_one(name, twice):
    first, second, verdict = twice(DRAWS[name])
    assert first == second
    assert verdict.faithful, verdict


@pytest.mark.parametrize("name", DRAWS)
def test_without_a_replay_two_draws_differ(name):
    assert DRAWS[name]() != DRAWS[name]()


@pytest.mark.thorough
@pytest.mark.parametrize("name", DRAWS)
def test_two_recordings_differ(name, tmp_path):
    found = []
    for _ in range(2):
        with reenact.record(home=tmp_path):
            found.append(DRAWS[name]())
    assert found[0] != found[1]


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in DRAWS if "seed" not in name])
def test_a_recording_within_threads_gives_each_its_own(name, twice):
    first, second, verdict = twice(lambda: in_threads(4, lambda _: DRAWS[name]()))
    assert first == second
    assert len({repr(value) for value in first.values()}) == 4
    assert verdict.faithful


@pytest.mark.thorough
def test_a_temporary_file_has_its_name_again(twice):
    def work():
        with tempfile.NamedTemporaryFile() as file:
            return file.name

    first, second, verdict = twice(work)
    assert first == second
    assert verdict.faithful


def test_many_random_bytes_come_back_as_they_were(twice):
    first, second, _ = twice(
        lambda: [os.urandom(n) for n in range(300)] + [secrets.token_urlsafe(n) for n in range(99)]
    )
    assert first == second


def test_a_program_that_asks_for_more_bytes_gets_as_many(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        os.urandom(4)
    with reenact.replay(recording.id, home=tmp_path):
        assert len(os.urandom(40)) == 40
        assert len(os.urandom(7)) == 7


# -- seeds ---------------------------------------------------------------------------------------------------


def sequence(source):
    """A bit of everything that the module (or a generator of its own) can draw."""
    items = list(range(20))
    source.shuffle(items)
    return [
        source.random(), source.randint(1, 100), source.choice(MANY), items, source.sample(MANY, 3), source.gauss(0, 1),
        source.uniform(2, 3), source.getrandbits(70), source.randbytes(5), source.choices("abc", k=4), source.gauss(0, 1),
        source.expovariate(1), source.triangular(), source.betavariate(1, 2), source.normalvariate(), source.randrange(9),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", [0, 42, "word", b"bytes", 1.5])
def test_a_seed_gives_what_it_gives_in_plain_python(seed, twice):
    def work():
        random.seed(seed)
        return sequence(random)

    first, second, verdict = twice(work)
    assert first == second == sequence(random.Random(seed))
    assert verdict.faithful


def test_a_seed_imported_early_gives_the_same(twice):
    def work():
        early_seed(7)
        return early_random(), early_randint(0, 99), early_getrandbits(9)

    plain = random.Random(7)
    expected = plain.random(), plain.randint(0, 99), plain.getrandbits(9)
    assert twice(work)[:2] == (expected, expected)


def test_a_seed_holds_in_the_tasks_of_the_program(twice):
    async def draw():
        await asyncio.sleep(0)
        return random.random()

    async def work():
        return [await draw(), *await asyncio.gather(draw(), draw()), await asyncio.create_task(draw())]

    def seeded():
        random.seed(42)
        return asyncio.run(work())

    plain = random.Random(42)
    first, second, verdict = twice(seeded)
    assert first == second == [plain.random() for _ in range(4)]
    assert verdict.faithful


def test_a_seed_before_the_run_holds_in_it_and_goes_on_after_it(tmp_path):
    plain = random.Random(42)
    expected = [plain.random() for _ in range(6)]
    reenact.adapters.install()
    random.seed(42)
    found = [random.random()]
    with reenact.record(home=tmp_path) as recording:
        inside = [random.random(), asyncio.run(drawn_in_a_task())]
    found += [*inside, random.random()]
    with reenact.replay(recording.id, home=tmp_path) as replay:
        assert [random.random(), asyncio.run(drawn_in_a_task())] == inside
    found += [random.random(), random.random()]
    random.seed()
    assert found == expected
    assert replay.verdict.faithful


async def drawn_in_a_task():
    async def draw():
        return random.random()

    return await asyncio.create_task(draw())


def test_a_seed_in_a_thread_holds_in_that_thread(twice):
    def work(number):
        random.seed(number)
        return sequence(random)

    first, second, verdict = twice(lambda: in_threads(8, work))
    assert first == second == {number: sequence(random.Random(number)) for number in range(8)}
    assert verdict.faithful


def test_a_seeded_programs_threads_draw_the_same_in_every_run(tmp_path):
    def work():
        random.seed(42)
        return in_threads(8, lambda _: [random.random() for _ in range(100)])

    found = []
    for _ in range(2):
        with reenact.record(home=tmp_path):
            found.append(work())
    assert found[0] == found[1]
    assert len({tuple(draws) for draws in found[0].values()}) == 8


def test_a_state_can_be_kept_and_set_again(twice):
    outside = random.Random(3).getstate()

    def work():
        state = random.getstate()
        first = sequence(random)
        random.setstate(state)
        assert sequence(random) == first
        random.setstate(outside)
        return first, sequence(random)

    first, second, verdict = twice(work)
    assert first == second
    assert first[1] == sequence(random.Random(3))
    assert verdict.faithful


def test_a_generator_of_the_programs_own_is_left_alone(twice):
    generator = random.Random(5)
    state = generator.getstate()

    def work():
        generator.setstate(state)
        return sequence(generator)

    assert twice(work)[:2] == (sequence(random.Random(5)), sequence(random.Random(5)))


def test_what_a_library_draws_shifts_nothing(tmp_path, library):
    jitter = library(
        "jitter",
        """
        import random
        from random import random as early
        def draw(): return random.uniform(0, 1), early(), random.gauss(0, 1), random.choice(range(9)), random.Random().random()
        """,
    )
    with reenact.record(home=tmp_path) as recording:
        first = [random.random(), jitter.draw(), random.random()][::2]
        first.append(asyncio.run(drawn_in_a_task()))
    with reenact.replay(recording.id, home=tmp_path) as replay:
        second = [random.random(), random.random(), asyncio.run(drawn_in_a_task())]
    assert first == second
    assert replay.verdict.faithful


def test_one_more_draw_in_a_task_shifts_no_other_task(tmp_path):
    async def work(extra):
        async def draw(count):
            return [random.random() for _ in range(count)]

        tasks = [asyncio.create_task(draw(3 + extra * (n == 0))) for n in range(3)]
        return [(await task)[:3] for task in tasks]

    with reenact.record(home=tmp_path) as recording:
        first = asyncio.run(work(0))
    with reenact.replay(recording.id, home=tmp_path):
        assert asyncio.run(work(1)) == first


def test_recordings_made_at_once_draw_differently(tmp_path):
    barrier = threading.Barrier(8)

    def work(_):
        barrier.wait()
        with reenact.record(home=tmp_path):
            return tuple(random.random() for _ in range(5))

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(work, range(8)))) == 8


def test_a_run_that_draws_nothing_records_no_seed(drawn):
    assert drawn(lambda: None) == []
    assert "entropy:seed" in drawn(random.random)


def test_plain_pythons_generator_is_untouched_by_the_hooks(processes):
    source = """
        import random
        {}
        def work():
            random.seed(11)
            return [random.random(), random.choice("abc"), random.gauss(0, 1), random.getrandbits(8)]
        """
    assert processes(source.format(""))("plain") == processes(
        source.format("import reenact; reenact.adapters.install()")
    )("plain")


# -- NumPy ---------------------------------------------------------------------------------------------------


def test_numpys_generators_draw_the_recorded_numbers(twice):
    numpy = pytest.importorskip("numpy")

    def work():
        drawn = (
            numpy.random.rand(),
            numpy.random.default_rng().random(),
            numpy.random.randint(10**9),
            numpy.random.normal(),
        )
        return [float(value) for value in drawn]

    numpy.random.seed(1)
    first, second, verdict = twice(work, between=lambda: numpy.random.seed(2))
    plain = numpy.random.RandomState(1)
    assert first == second
    assert first[0] == plain.rand()
    assert verdict.faithful


@pytest.mark.thorough
def test_numpy_imported_in_the_run_draws_the_recorded_numbers(processes):
    pytest.importorskip("numpy")
    program = processes(
        """
        import uuid

        def work():
            import numpy as np
            return repr([float(np.random.rand()), float(np.random.default_rng().random()), uuid.uuid4()])
        """
    )
    (first,) = program("record")
    second, verdict = program("replay")
    assert first == second
    assert verdict.startswith("faithful")


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_draws_its_own_and_the_same_in_a_replay(processes):
    program = processes(
        """
        import os, random, time, uuid

        def work():
            before = random.random()
            receive, send = os.pipe()
            if os.fork() == 0:
                os.write(send, repr([random.random(), random.gauss(0, 1), str(uuid.uuid4()), time.time()]).encode())
                os._exit(0)
            os.wait()
            found = os.read(receive, 1000).decode(), random.random()
            assert str(found[1]) not in found[0]
            return before, *found
        """
    )
    (first,) = program("record")
    second, verdict = program("replay")
    assert first == second
    assert verdict.startswith("faithful")
