"""A tool that yields its result runs again in a replay: each chunk and the end are compared."""

import pytest

AGENT = """
import asyncio
import random
from concurrent.futures import ThreadPoolExecutor

import reenact

cart = []

@reenact.tool
def rows(count):
    for number in range(count):
        cart.append(number)
        yield random.random()

@reenact.tool
async def words(count):
    for number in range(count):
        await asyncio.sleep(0)
        cart.append(f"word {number}")
        yield len(cart)

@reenact.tool
def breaks():
    yield 1
    cart.append("broken")
    raise ValueError("no more")

async def told(count):
    return [each async for each in words(count)]

async def main():
    return await asyncio.gather(told(2), told(3))

print(list(rows(2)), next(rows(3)))
try:
    print(list(breaks()))
except ValueError as error:
    print(error)
with ThreadPoolExecutor(3) as pool:
    print(list(pool.map(lambda count: sum(rows(count)), range(3))))
print(asyncio.run(main()))
print(cart)
"""


def test_its_effect_on_the_program_is_there_again(shell):
    shell.write("agent.py", AGENT)
    shell.record("agent.py")
    replay = shell.replay()
    assert replay.status == 0, replay
    assert "8 tool calls ran again" in replay.err
    assert "did not run" not in replay.err


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("before", "after", "step", "named"),
    [
        ("yield random.random()", "yield random.random() + 1", 1, "chunk 1 result"),
        ("range(count):\n        cart", "range(count + 1):\n        cart", 1, "chunks"),
        ("range(count):\n        cart", "range(count - 1):\n        cart", 1, "end"),
        ('ValueError("no more")', 'ValueError("none")', 3, "end"),
        ("yield 1\n", "yield 2\n", 3, "chunk 1 result"),
        ("yield len(cart)", "yield len(cart) + 1", 7, "chunk 1 result"),
    ],
)
def test_a_changed_one_is_found_at_its_step_and_chunk(shell, before, after, step, named):
    shell.write("agent.py", AGENT)
    shell.record("agent.py")
    assert before in AGENT
    shell.write("agent.py", AGENT.replace(before, after, 1))
    replay = shell.replay()
    assert replay.status == 1
    assert f"CHANGED  step {step} " in replay.err
    assert named in replay.err


def test_one_with_input_that_is_not_recorded_is_answered_and_named(shell):
    shell.write(
        "agent.py",
        """
import os

import reenact

@reenact.tool
def lines():
    yield os.getpid()

print(list(lines()))
""",
    )
    shell.record("agent.py")
    replay = shell.replay()
    assert replay.status == 0, replay
    assert "did not run: tool:lines (it uses the process's number)" in replay.err


def test_a_reader_that_stops_elsewhere_is_found(shell):
    program = """
import reenact

@reenact.tool
def rows():
    for number in range(9):
        yield number

for number in rows():
    if number == LAST:
        break
print("done")
"""
    shell.write("agent.py", program.replace("LAST", "4"))
    shell.record("agent.py")
    shell.write("agent.py", program.replace("LAST", "2"))
    replay = shell.replay()
    assert replay.status == 1
    assert "closed after 5 chunks" in replay.err
    assert "closed after 3 chunks" in replay.err
