"""The facts by which an index finds values in arguments and outputs: no matching step is without one."""

import math
import random

import orjson
import pytest

from reenact.core.query.facts import lookup
from reenact.core.query.filter import Filter, holds
from reenact.core.query.grammar import Term, terms
from reenact.core.query.outline import outline_args
from reenact.core.store.fact_numbers import ALL, MOST, facts_of, sought

WORDS = (
    "ORD-1",
    "ORD-2",
    "5",
    "5.0",
    "true",
    "null",
    "",
    "é",
    "x" * 1200,
    '{"a": 5}',
    '[{"a": "ORD-1"}]',
    "nan",
)
NUMBERS = (
    0,
    -0.0,
    1,
    5,
    5.0,
    490,
    490.5,
    -490,
    1e-30,
    -1e-30,
    1e30,
    2**53,
    2**53 + 1,
    2**62,
    -(2**62),
    1e300,
)
PATHS = ("a", "b", "a.a", "a.b", "a[0]", "a[-1]", "a[0].a", "a[1].b", "b.0", "b.a.a", "a.b.c")
OPS = ("==", "<", "<=", ">", ">=")


def term(text):
    (found,) = terms(Filter(text).node)
    return found


def made(chance, depth=0):
    kind = chance.randrange(8 if depth < 4 else 4)
    if kind in (0, 1):
        return chance.choice(WORDS)
    if kind == 2:
        return chance.choice(NUMBERS)
    if kind == 3:
        return chance.choice((True, False, None))
    if kind == 4:
        return [made(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 5:
        # As in the body of a request: JSON in a text.
        return orjson.dumps(made(chance, depth + 1)).decode() + " " * chance.choice((0, 0, 1100))
    return {
        name: made(chance, depth + 1) for name in chance.sample(("a", "b", "c", "0"), chance.randrange(4))
    }


def wanted(chance):
    value = chance.choice((*WORDS[:8], *NUMBERS, "true", "null"))
    shown = f'"{value}"' if isinstance(value, str) and chance.random() < 0.8 and '"' not in value else value
    return f"args.{chance.choice(PATHS)} {chance.choice(OPS)} {shown if shown != '' else 0}"


def test_a_step_that_matches_has_a_fact_that_is_sought():
    chance = random.Random(24)
    decided = matching = without = 0
    for _ in range(1500):
        args = {name: made(chance) for name in ("a", "b")}
        kept = outline_args(args)
        facts = set(facts_of([orjson.dumps(kept)], []))
        for _ in range(10):
            asked = term(wanted(chance))
            known = sought(asked)
            if known is None:
                continue
            decided += 1
            if holds(asked)(lookup(args, asked.field.removeprefix("args"))):
                matching += 1
                assert facts & set(known), (asked, args)
            else:
                without += not facts & set(known)
    assert matching > 100
    # They leave out nearly all others, or the index would be of no use.
    assert without > 0.9 * (decided - matching)


@pytest.mark.parametrize("number", [*NUMBERS, math.pi, 1e-20, 255.99999, 256, 3e38, 4e38])
def test_each_number_is_found_from_below_and_from_above(number):
    facts = set(facts_of([], [orjson.dumps({"n": number})]))

    def asked(op, value):
        return set(sought(Term("output.n", op, value)))

    for op, other in ((">=", number), ("<=", number), ("==", number), (">", number - abs(number) - 1)):
        assert facts & asked(op, other), (op, other)
    if abs(number) < 1e38:
        assert not facts & asked(">", abs(number) * 2 + 1)


def test_a_path_below_an_omitted_value_keeps_the_recording():
    long = {"messages": [{"content": "x" * 2000}], "order_id": "ORD-1"}
    facts = set(facts_of([orjson.dumps(outline_args(long))], []))
    assert facts & set(sought(term('args.messages[0].content == "y"')))
    assert not facts & set(sought(term('args.order_id == "ORD-2"')))


@pytest.mark.thorough
def test_a_recording_with_too_many_facts_is_always_looked_into():
    texts = [orjson.dumps({"n": str(number)}).decode() for number in range(MOST + 2)]
    assert facts_of(texts, []) == [ALL]
    assert ALL in sought(term("args.n == 1"))


@pytest.mark.parametrize(
    "text",
    [
        'args == "x"',
        "args.a != 1",
        'args.a ~ "x"',
        "args.a:x*",
        'args.a < "x"',
        "args.1.2.3.4.5 == 1",
        "error",
        "step > 1",
    ],
)
def test_other_terms_are_not_decided_by_facts(text):
    assert sought(term(text)) is None


def test_an_object_is_compared_as_json_and_not_by_facts():
    assert sought(term("""args.a == '{"a":1}'""")) is None
