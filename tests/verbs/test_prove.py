"""`reenact prove`: what depends on more than the recording is found, and what does not is marked as proved."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import reenact
from reenact.analysis.attempts import Attempt, FirstDeparture, departed
from reenact.core.model.divergence import Verdict
from reenact.core.trust import Book
from reenact.core.trust.consent import content
from reenact.core.trust.proofs import Proof, Proofs
from reenact.errors import Departure, Divergence, Mismatch
from reenact.run.api import replaying
from reenact.verbs.prove import folders
from reenact.verbs.prove.calling import FunctionCall, call_again
from reenact.verbs.prove.perturbing import Condition, Perturbed, perturbed, shared_out
from reenact.verbs.prove.proving import Proved, Round, _Rounds
from reenact.verbs.reproduce.rerun import RECORDED
from tests.systems import CORES

STEADY = """
    import random, threading, reenact

    @reenact.tool
    def look(city): return random.random()

    found, lock = [], threading.Lock()

    def work(number):
        with lock:
            found.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(look("Ulm"), sorted(found), open("city.txt").read())
"""
BY_HASH = """
    import reenact

    @reenact.tool
    def look(city): return city

    for city in {"Ulm", "Bonn", "Kiel", "Jena", "Hof", "Celle", "Trier", "Halle"}:
        look(city)
"""


@pytest.fixture
def recording(home):
    with reenact.record("support") as made:
        reenact.tool(lambda: 1, name="look")()
    return reenact.load(made.id)


def of(recording, *departures, **more):
    """The result of replays, one for each departure or None, under one condition each."""
    trials = []
    for number, (condition, text) in enumerate(zip(Condition, departures, strict=False), 1):
        found = FirstDeparture(number, text, (text,)) if text else None
        attempt = Attempt(0, (), Verdict(recording.id), seconds=0.1)
        trials.append(Round(number, (condition,), found, attempt))
    return Proved(recording, tuple(trials), {}, (), None, **more)


# -- the command line ----------------------------------------------------------------------------------------


@CORES
def test_a_steady_program_is_recorded_and_proved_at_once_until_its_recording_changes(shell):
    shell.environ.pop("PYTHONHASHSEED", None)
    shell.write("city.txt", "Ulm")
    shell.write("agent.py", STEADY)
    done = shell.run("record", "--prove", "--", sys.executable, "agent.py")
    assert done.status == 0, done.err
    assert "proved 5 times" in done.err
    (line,) = shell.run("list", "--json").json
    assert line["proved"] == 5
    assert "5\N{MULTIPLICATION SIGN}" in shell.run("list").out
    shown = shell.run("show", "last").out
    assert "proved 5 times on " in shown
    assert all(condition.value in shown for condition in Condition)
    events = shell.home / "recordings" / line["id"] / "events.jsonl"
    events.write_bytes(events.read_bytes().replace(b'"Ulm"', b'"Hof"'))
    assert shell.run("list", "--json").json[0]["proved"] is None
    assert "proved" not in shell.run("show", "last").out


@pytest.mark.thorough
def test_an_order_by_hashes_is_found_by_another_hash_seed_and_is_not_kept_as_a_test(shell):
    shell.environ.pop("PYTHONHASHSEED", None)
    shell.write("agent.py", BY_HASH)
    shell.record("agent.py")
    done = shell.run("prove", "last", "--times", "2", "--json")
    assert done.status == 1, done.err
    tree = done.json
    assert (tree["proved"], tree["departed"]) == (None, 1)
    assert [one["faithful"] for one in tree["replays"]] == [False, True]
    first = tree["replays"][0]
    assert Condition.SEED.value in first["conditions"]
    assert first["step"] is not None
    assert tree["advice"][0] == Condition.SEED.advice
    assert shell.run("list", "--json").json[0]["proved"] is None

    kept = shell.run("keep", "last", "--as", "tests/test_cities.py")
    assert kept.status == 2
    (line,) = kept.ours
    assert "no test was written, it would be flaky: 1 of 2 replays departed from the recording" in line
    assert f"at step {first['step']}" in line
    assert Condition.SEED.advice in line
    assert "--times 0" in line
    assert not (shell.folder / "tests").exists()
    assert shell.run("keep", "last", "--as", "tests/test_cities.py", "--times", "0").status == 0
    assert (shell.folder / "tests" / "test_cities.py").exists()


def test_a_recording_without_a_program_cannot_be_proved_and_costs_one_line(shell):
    shell.write("chat.json", '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]')
    shell.run("import", "chat.json")
    done = shell.run("prove", "last")
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert "has no recorded program" in done.err
    assert shell.run("prove", "last", "--times", "0").status == 2


def test_a_recording_that_lacks_a_part_is_kept_unproved_and_no_condition_is_blamed(shell):
    shell.write(
        "agent.py",
        """
        import reenact

        @reenact.tool
        def look(what): return 1

        look(object())
        """,
    )
    shell.record("agent.py")
    tree = shell.run("prove", "last", "--times", "1", "--json").json
    assert (tree["proved"], tree["departed"]) == (None, 1)
    assert tree["advice"] == [
        "no replay can be faithful: the recording lacks a part, or a part runs for real"
    ]
    kept = shell.run("keep", "last", "--as", "tests/test_look.py", "--times", "1")
    assert kept.status == 0, kept.err
    assert "not proved, the test fails as it is: 1 of 1 replays departed" in kept.err


# -- the judgement -------------------------------------------------------------------------------------------


def test_the_departure_is_named_with_its_condition_and_the_condition_that_all_others_lack(recording):
    done = of(recording, "", "", "CHANGED at step 3", "", "")
    assert done.sentence == (
        "1 of 5 replays departed from the recording; replay 3 (another working folder): CHANGED at step 3"
    )
    assert (done.causes, done.steady, done.unable) == ([Condition.FOLDER], False, False)


def test_replays_that_all_depart_in_the_same_way_are_no_matter_of_conditions(recording):
    done = of(recording, "same", "same")
    assert (done.steady, done.causes) == (True, [])
    assert "the program or its files are not those recorded" in done.advice[0]
    assert not of(recording, "one", "another").steady
    assert not of(recording, "one").steady


@pytest.mark.parametrize("value", [{"city": "Ulm"}, ["Ulm"]])
def test_replays_that_depart_by_an_object_or_a_list_are_compared_too(recording, value):
    differs = Mismatch("args.place", "Ulm", value)
    verdict = Verdict(
        recording.id, divergences=(Divergence(Departure.CHANGED, "main/tool:look#0", 1, (differs,)),)
    )
    attempt = Attempt(0, (), verdict)
    trials = tuple(Round(number, (), departed(recording, attempt), attempt) for number in (1, 2))
    done = Proved(recording, trials, {}, (), None)
    assert (done.steady, done.causes) == (True, [])


def test_a_replay_without_an_end_is_no_departure_and_no_proof(recording):
    done = of(recording, "", "it still ran after 120 seconds, and was ended")
    late = Round(2, (), done.trials[1].departed, Attempt(None, (), None, "it still ran"))
    done = Proved(recording, (done.trials[0], late), {}, (), None)
    assert (done.unable, done.departures) == (True, [])
    assert "1 of 2 replays could not be judged" in done.sentence


def test_a_verdict_that_is_not_faithful_is_a_departure_whatever_its_reason(recording):
    def found(**more):
        return departed(recording, Attempt(0, (), Verdict(recording.id, served=1, **more)))

    assert found() is None
    changed = found(divergences=(Divergence(Departure.CHANGED, "main/tool:look#0", 1),))
    assert changed == FirstDeparture(1, "CHANGED at step 1, main/tool:look#0", changed.place)
    assert found(missing=((2, "main/tool:look#1"),)).step == 2
    assert found(notes=("a hole",)).doubt
    assert found(live={"tool:look": 1}).text == "partly from the recording: tool:look ran for real"


def test_every_condition_comes_up_with_any_number_of_replays():
    for times in range(1, 9):
        shared = shared_out(times)
        assert len(shared) == times
        assert {each for conditions in shared for each in conditions} == set(Condition)
    assert shared_out(5) == [(condition,) for condition in Condition]
    assert shared_out(6)[5] == tuple(Condition)


# -- the conditions ------------------------------------------------------------------------------------------


@CORES
@pytest.mark.skipif("not hasattr(os, 'sched_setaffinity')", reason="this system binds no processes")
def test_no_more_replays_run_at_once_than_this_process_has_cores(recording):
    threads = set()

    def again(conditions):
        threads.add(threading.get_ident())
        hashlib.sha256(bytes(1 << 24))
        return Attempt(0, (), Verdict(recording.id, served=1))

    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        trials, _ = _Rounds(recording, again, None).run([()] * 8)
    finally:
        os.sched_setaffinity(0, cores)
    assert [trial.departed for trial in trials] == [None] * 8
    assert len(threads) == 1


def test_the_core_is_busy_as_long_as_the_program_runs(recording):
    with perturbed([Condition.CORE], recording, 1) as conditions:
        program = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        conditions.started(program)
        (busy,) = conditions._busy
        assert busy.poll() is None
        assert os.sched_getaffinity(program.pid) == os.sched_getaffinity(busy.pid)
        assert len(os.sched_getaffinity(busy.pid)) == 1
        program.communicate(b"\n")
    assert busy.poll() is not None
    assert conditions.applied == (Condition.CORE,)


def test_what_could_not_be_changed_is_said(recording, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.delattr(os, "sched_setaffinity")
    monkeypatch.setattr(folders, "MOST", 1)
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    conditions = Perturbed(tuple(Condition), recording, 1, tmp_path / "other")
    program = subprocess.Popen([sys.executable, "-S", "-c", ""])
    conditions.started(program)
    program.wait()
    assert conditions.folder(str(tmp_path)) == str(tmp_path)
    assert conditions.missed.keys() == {Condition.SEED, Condition.CORE, Condition.FOLDER}
    assert conditions.applied == (Condition.DELAYS, Condition.SWITCH)
    assert conditions.seed is None


def test_another_folder_has_the_same_files_and_those_beside_it(tmp_path):
    source, target = tmp_path / "shop" / "agent", tmp_path / "elsewhere"
    (source / "prompts").mkdir(parents=True)
    (source / "prompts" / "hello.txt").write_text("hello")
    (source / ".git").mkdir()
    (tmp_path / "shop" / "data.txt").write_text("data")
    target.mkdir()
    other = folders.elsewhere(source, target)
    assert other.is_relative_to(target)
    assert [path.name for path in other.rglob("*.txt")] == ["hello.txt"]
    assert (other / "prompts" / "hello.txt").read_text() == "hello"
    assert (other / ".." / "data.txt").read_text() == "data"
    assert (other / ".git").is_symlink()
    (other / "new.txt").write_text("x")
    assert not (source / "new.txt").exists()


def test_a_shifted_delay_is_made_of_its_place_and_all_of_them_together_are_short(monkeypatch):
    waited = []
    monkeypatch.setattr(replaying, "sleep", waited.append)
    for seed in ("shifted 1", "shifted 2"):
        pace = replaying.ShiftedPace(seed, 1000)
        for place in range(1000):
            pace(place)
    assert sum(waited[:1000]) < 2
    assert waited[:1000] != waited[1000:]


# -- a call --------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_kept_call_is_proved_by_the_call_itself(shell):
    shell.write(
        "shop.py",
        """
        import reenact
        look = reenact.tool(lambda city: city, name="look")

        @reenact.recorded
        def answer(city): return look(city)
        """,
    )
    shell.plain("-c", "import shop; shop.answer('Ulm')")
    recording = shell.last()

    def again(text):
        call = FunctionCall("shop", text, (str(shell.folder),))
        return departed(recording, call_again(recording, call, RECORDED, patience=200))

    assert again("answer('Ulm')") is None
    assert again("answer('Hof')").step == 1
    assert "shop:missing cannot be imported" in again("missing()").text


# -- the proof -----------------------------------------------------------------------------------------------


def test_a_proof_is_that_of_one_content_and_the_last_word_counts(recording, home):
    proof = Proof(5, "2026-11-23T04:00:00+00:00", ("another hash seed",))

    def known():
        return Proofs(Book(Path(home))).of(recording.id, recording.path)

    Proofs(Book(Path(home))).put(recording.id, content(recording), proof)
    assert known() == proof
    assert known().sentence == "proved 5 times on 2026-11-23: another hash seed"
    Proofs(Book(Path(home))).put(recording.id, content(recording), Proof(2, "2026-11-24", ()))
    assert known() == proof
    Proofs(Book(Path(home))).put(recording.id, content(recording), None)
    assert known() is None
    Proofs(Book(Path(home))).put(recording.id, "other", proof)
    assert known() is None


@pytest.mark.parametrize(
    "line", [{"times": -1}, {"times": "5"}, {"times": 10**9}, {"times": 5}, {"times": 5, "conditions": "x"}]
)
def test_a_damaged_proof_is_none(recording, home, line):
    Book(Path(home)).add_proof({"id": recording.id, "content": content(recording), **line})
    assert Proofs(Book(Path(home))).of(recording.id, recording.path) is None
