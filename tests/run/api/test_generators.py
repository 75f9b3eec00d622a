"""A tool that is a generator is one for the program: what is sent, thrown and returned passes through it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import reenact

PROGRAM = """
import reenact

@reenact.tool
def ask(question):
    return question

@reenact.tool
def lines(text):
    given = []
    for line in text.split(","):
        try:
            given.append((yield line))
        except KeyError as error:
            given.append(repr(error))
    return ["given", *given]

def all_lines():
    return (yield from lines("a,b"))

reader = lines("x,y,z")
print(next(reader), reader.send("first"), reader.throw(KeyError("second")))
try:
    next(reader)
except StopIteration as end:
    print(ask(str(end.value)))
walk = all_lines()
try:
    while True:
        print(next(walk))
except StopIteration as end:
    print(ask(str(end.value)))
"""

ASYNC_PROGRAM = """
import asyncio
import reenact

@reenact.tool
def ask(question):
    return question

@reenact.tool
async def lines(text):
    given = []
    for line in text.split(","):
        try:
            given.append((yield line))
        except KeyError as error:
            given.append(repr(error))
    yield " ".join(map(str, given))

async def main():
    reader = lines("x,y,z")
    print(await anext(reader), await reader.asend("first"), await reader.athrow(KeyError("second")))
    print(ask(await anext(reader)))
    try:
        await reader.athrow(ValueError("the last"))
    except ValueError as error:
        print(ask(repr(error)))

asyncio.run(main())
"""


def run(folder, *command):
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(params=[PROGRAM, ASYNC_PROGRAM], ids=["sync", "async"])
def recorded(tmp_path, request):
    (tmp_path / "agent.py").write_text(request.param)
    plain = run(tmp_path, "agent.py")
    assert run(tmp_path, "-m", "reenact", "record", "--", sys.executable, "agent.py")[:2] == plain[:2]
    return tmp_path


def test_a_recorded_and_a_replayed_program_print_what_the_plain_one_does(recorded):
    plain = run(recorded, "agent.py")
    status, said, told = run(recorded, "-m", "reenact", "replay", "last")
    assert (status, said) == plain[:2], told


@pytest.mark.parametrize("recorded", [PROGRAM], indirect=True)
def test_another_result_of_the_generator_is_found_at_the_tool(recorded):
    (recorded / "agent.py").write_text(PROGRAM.replace('["given", *given]', '["Given", *given]'))
    status, _, told = run(recorded, "-m", "reenact", "replay", "last")
    assert status == 1
    assert "CHANGED  step 1  main/tool:lines#0" in told


def test_the_result_of_a_generator_that_is_answered_is_the_recorded_one():
    results = iter(["first", "second"])

    @reenact.tool
    def words():
        yield "word"
        return next(results)

    def program():
        return (yield from words())

    def result():
        walk = program()
        assert next(walk) == "word"
        with pytest.raises(StopIteration) as end:
            next(walk)
        return end.value.value

    with reenact.record("words") as recording:
        assert result() == "first"
    with reenact.replay(recording.id) as replay:
        assert result() == "first"
    assert replay.verdict.faithful, str(replay.verdict)


def test_that_what_was_sent_into_an_answered_generator_was_not_compared_is_said():
    given = []

    @reenact.tool
    def words():
        given.append((yield "word"))
        yield "last"

    def program(sent):
        reader = words()
        return [next(reader), reader.send(sent)]

    with reenact.record("words") as recording:
        program("one")
    with reenact.replay(recording.id, tools=["answer"]) as replay:
        assert program("another") == ["word", "last"]
    assert given == ["one"]
    assert "what the program sent into it was not compared" in str(replay.verdict)
    assert "faithful:" not in str(replay.verdict)


async def test_the_same_of_an_async_generator():
    @reenact.tool
    async def words():
        yield "word"
        yield "last"

    async def program(sent):
        reader = words()
        return [await anext(reader), await reader.asend(sent)]

    with reenact.record("words") as recording:
        await program("one")
    with reenact.replay(recording.id, tools=["answer"]) as replay:
        assert await program("another") == ["word", "last"]
    assert "what the program sent into it was not compared" in str(replay.verdict)
