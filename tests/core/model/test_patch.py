"""A state is written as what has changed, and comes back whole."""

from __future__ import annotations

import copy
import datetime as dt
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from enum import Enum

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.core.model import codec
from reenact.core.model.patch import SAME, Patch, clean_by, patched, readable
from reenact.core.model.shadow import Branch, Look, Node
from reenact.core.redact import DEFAULT_RULES, Redactor

LONG = "a long text that makes its container large enough to be looked at part by part, " * 3


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


@dataclass
class Note:
    text: str
    at: int = 0


@dataclass
class Memory:
    notes: list[Note] = field(default_factory=list)
    facts: dict = field(default_factory=dict)
    mood: Mood = Mood.GOOD


class Profile(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    name: str = ""
    orders: list[int] = []
    notes: dict[str, str] = {}


class Watched:
    """A state that is looked at again and again, and read back from what was written."""

    def __init__(self, redactor=None):
        self.redactor = redactor or Redactor(DEFAULT_RULES, salt=b"salt", environ={})
        self.node: Node | None = None
        self.read = None
        self.sizes = []
        self.lines = []

    def look(self, value):
        encoder = codec.Encoder(raw=self.redactor.raw)
        node = Look(encoder).at(value, self.node)
        change = Patch(encoder, clean_by(self.redactor.line)).between(node, self.node)
        line = self.redactor.line(codec.dumps({"value": change}))
        self.node = node
        self.lines.append(line)
        self.sizes.append(len(line))
        self.read = patched(codec.loads(line)["value"], self.read)
        return self.read


def whole(value, redactor=None):
    line = codec.dumps({"value": codec.Encoder().encode(value)})
    return codec.loads(redactor.line(line) if redactor else line)["value"]


def follows(*values):
    """Each of these states comes back, to the letter and in the order of its keys."""
    watched = Watched()
    for value in values:
        assert codec.dumps(watched.look(value)) == codec.dumps(whole(value)), value
    return watched


def large():
    return {
        "facts": [{"id": number, "text": f"{number} {LONG}"} for number in range(200)],
        "by name": {f"name {number}": number for number in range(500)},
        "count": 1,
    }


# -- any state -----------------------------------------------------------------------------------------------

texts = st.one_of(
    st.text(max_size=8),
    st.sampled_from([LONG, LONG + "more", "x" * 600, "y" + "x" * 600, "\ud800", "$tuple"]),
)
scalars = st.one_of(
    texts,
    st.integers(),
    st.floats(allow_nan=True),
    st.booleans(),
    st.none(),
    st.sampled_from([b"raw", bytes(range(256)) * 3, Mood.GOOD, dt.datetime(2026, 1, 1), 10**30]),
)
keys = st.one_of(
    st.text(max_size=4), st.sampled_from(["$keys", "$pieces", "new", "by", "\udcff", LONG]), st.integers()
)
states = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=8),
        st.dictionaries(keys, inner, max_size=6),
        st.dictionaries(st.text(max_size=4), inner, max_size=6),
        st.lists(inner, max_size=4).map(tuple),
        st.lists(inner, max_size=4).map(deque),
        st.builds(Note, inner, st.integers()),
        st.builds(Memory, st.lists(inner, max_size=3), inner),
        st.dictionaries(st.text("abc", min_size=1, max_size=4), inner, max_size=3).map(
            lambda extra: Profile.model_construct(**extra)
        ),
    ),
    max_leaves=25,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(states, min_size=2, max_size=4))
def test_any_state_comes_back_after_any_other(values):
    follows(*values)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from([LONG + str(number) for number in range(8)]), max_size=12),
    st.lists(st.sampled_from([LONG + str(number) for number in range(8)]), max_size=12),
    st.booleans(),
)
def test_any_list_comes_back_however_it_was_shuffled(old, new, nested):
    wrap = (lambda item: {"text": item, "more": [item]}) if nested else str
    follows([LONG * 3, *map(wrap, old)], [LONG * 3, *map(wrap, new)])


@settings(max_examples=200, deadline=None)
@given(st.permutations(range(6)), st.permutations(range(6)), st.integers(0, 6), st.integers(0, 6))
def test_the_order_of_a_dicts_keys_comes_back(old, new, fewer, less):
    def made(order):
        return {f"key {number}": LONG + str(number) for number in order}

    follows(made(old[fewer:]), made(new[less:]))


@pytest.mark.thorough
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_state_that_is_changed_in_place_comes_back_at_every_look(data):
    value = large()
    value["facts"] = [{**fact, "text": fact["text"] * (1 + fact["id"] % 3)} for fact in value["facts"][:90]]
    watched = Watched()
    for _ in range(4):
        for _ in range(data.draw(st.integers(1, 3))):
            # Rows that rest are looked at in another way than those that have just changed.
            assert watched.look(value) == whole(value)
        how = data.draw(st.sampled_from(["append", "pop", "insert", "set", "key", "gone", "move", "count"]))
        facts, names = value["facts"], value["by name"]
        place = data.draw(st.integers(0, len(facts) - 1))
        if how == "append":
            facts.append({"id": len(facts), "text": LONG})
        elif how == "pop":
            facts.pop(place)
        elif how == "insert":
            facts.insert(place, {"id": -1, "text": LONG + LONG})
        elif how == "set":
            facts[place]["text"] += " and more"
        elif how == "key":
            names[data.draw(st.text(max_size=5))] = place
        elif how == "gone":
            names.pop(next(iter(names)))
        elif how == "move":
            names[first] = names.pop(first := next(iter(names)))
        else:
            value["count"] += 1


# -- what a change costs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["facts"].append({"id": 200, "text": LONG}),
        lambda value: value["facts"].pop(0),
        lambda value: value["facts"].insert(100, {"id": 7}),
        lambda value: value["facts"][150].update(text="another"),
        lambda value: value["facts"].reverse() or value["facts"].reverse() or value.update(count=2),
        lambda value: value["by name"].update({"a new one": 1}),
        lambda value: value["by name"].pop("name 250"),
        lambda value: value["by name"].update({"name 3": value["by name"].pop("name 3")}),
        lambda value: (value["facts"].pop(0), value["facts"].append({"id": 200}), value["facts"][50].clear()),
    ],
)
def test_a_small_change_of_a_large_state_is_written_small(change):
    value = large()
    watched = Watched()
    watched.look(value)
    change(value)
    assert watched.look(value) == whole(value)
    assert watched.sizes[0] > 60_000
    assert watched.sizes[1] < 800


def test_nothing_changed_is_written_as_that():
    watched = Watched()
    watched.look(large())
    watched.look(large())
    assert codec.loads(watched.lines[1])["value"] == SAME
    assert not readable(SAME)
    assert readable({"$dict": []})


def test_what_has_not_changed_is_the_same_node():
    value = large()
    look = Look(codec.Encoder())
    node = look.at(value)
    assert look.at(value, node) is node
    value["count"] = 2
    changed = look.at(value, node)
    assert changed is not node
    assert isinstance(changed, Branch)
    assert isinstance(node, Branch)
    assert changed.kids["facts"] is node.kids["facts"]


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (lambda n: {"id": n, "text": LONG * 3}, lambda item: item.update(id=True)),
        (lambda n: {"id": [n], "text": LONG * 3}, lambda item: item["id"].append(1)),
        (lambda _: {"raw": b"x", "text": LONG}, lambda item: item.update(raw=bytearray(b"x"))),
        (lambda _: [b"x", LONG * 3], lambda item: item.__setitem__(0, bytearray(b"x"))),
        (lambda _: Note(LONG * 3, 1), lambda item: setattr(item, "at", True)),
        (lambda _: Note(LONG, b"x"), lambda item: setattr(item, "at", bytearray(b"x"))),
        (lambda _: Profile(name=LONG), lambda item: item.__pydantic_fields_set__.add("orders")),
        (lambda _: Profile(name=LONG), lambda item: item.orders.append(1)),
        (lambda _: LONG, None),
        (lambda n: n, None),
    ],
)
def test_a_change_among_many_that_rest_is_seen(make, change):
    items = [make(number) for number in range(200)]
    watched = Watched()
    for _ in range(3):
        assert watched.look(items) == whole(items)
    if change is None:
        items[150] = "another"
    else:
        change(items[150])
    assert codec.dumps(watched.look(items)) == codec.dumps(whole(items))
    assert watched.sizes[-1] < 2_000
    items.insert(3, make(3))
    assert codec.dumps(watched.look(items)) == codec.dumps(whole(items))


def test_a_growing_text_is_written_as_what_it_adds():
    watched = follows({"scratchpad": LONG * 50}, {"scratchpad": LONG * 50 + "and so on"})
    assert watched.sizes[1] < 600


def test_a_large_dataclass_is_written_as_its_changed_fields():
    memory = Memory([Note(LONG, number) for number in range(300)], {"a": 1})
    before = copy.deepcopy(memory)
    memory.notes.append(Note("new", 7))
    memory.mood = Mood.BAD
    assert follows(before, memory).sizes[1] < 600


def test_a_large_pydantic_model_is_written_as_its_changed_fields():
    profile = Profile(name="Ada", orders=list(range(2000)), seen="yes")
    before = profile.model_copy(deep=True)
    profile.orders.append(1)
    profile.notes["x"] = "y"
    profile.__pydantic_extra__["seen"] = "no"
    assert follows(before, profile).sizes[1] < 600


@pytest.mark.parametrize(
    "kind",
    [
        deque,
        tuple,
        lambda items: OrderedDict((str(item["id"]), item) for item in items),
        lambda items: {item["id"]: item for item in items},
        lambda items: Counter({f"name {number}": number for number in range(len(items) * 40)}),
    ],
)
def test_large_containers_of_other_kinds_are_written_by_their_parts_too(kind):
    items = large()["facts"]
    before = kind(items)
    after = kind([*items[1:], {"id": 999, "text": LONG}])
    assert follows(before, after).sizes[1] < 2_000


# -- types ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1], [True]),
        ([1], [1.0]),
        ([[1]], [(1,)]),
        ([None], [float("nan")]),
        (["good"], [Mood.GOOD]),
        ([b"x"], [bytearray(b"x")]),
        ({"1": 1}, {1: 1}),
    ],
)
def test_equal_values_of_other_types_are_a_change(one, other):
    follows({"a": one, "long": LONG * 9}, {"a": other, "long": LONG * 9})


def test_a_list_that_contains_itself_ends():
    value = [LONG * 9]
    value.append(value)
    watched = Watched()
    watched.look(value)
    assert "$unkept" in str(watched.read)


# -- secrets -------------------------------------------------------------------------------------------------

KEY = "sk-proj-Zx8Qw2Er5Ty7Ui9Op3As4Df6Gh1Jk0Lz"
PLAIN_SECRET = "correct-horse-7-battery"

SECRETS = [
    lambda value, secret: value.update(password=secret),
    lambda value, secret: value["config"].update(api_key=secret),
    lambda value, secret: value["headers"].append(["authorization", f"Bearer {secret}"]),
    lambda value, secret: value["command"].extend([secret, "--level=9", "--api-key"]),
    lambda value, secret: value["tokens"]["password"].append(secret),
    lambda value, secret: value["named"].update(value=secret, note=value["named"]["note"] + "x"),
    lambda value, secret: value["pair"].__setitem__(1, secret + LONG * 3),
    lambda value, secret: value["nested"]["deep"].update(client_secret=secret),
    lambda value, secret: value.update(log=value["log"] + f"\npassword={secret}\n"),
    lambda value, secret: value.update(log=f"password={secret}\n" + value["log"]),
]


def vault():
    return {
        "password": "",
        "config": {"api_key": "", "more": LONG * 9},
        "headers": [["x-number", str(number)] for number in range(100)],
        "command": [*(f"--level={number}" for number in range(100)), "--api-key"],
        "tokens": {"password": [f"{LONG} {number}" for number in range(20)], "more": LONG * 9},
        "named": {"name": "x-api-key", "value": "", "note": "", "more": LONG * 9},
        "pair": ["authorization", LONG * 3],
        "nested": {"deep": {"client_secret": "", "more": LONG * 9}, "more": LONG * 9},
        "log": LONG * 30,
    }


@pytest.mark.parametrize("put", SECRETS)
def test_a_secret_that_comes_into_a_state_later_is_not_written(put):
    value = vault()
    watched = Watched()
    watched.look(value)
    put(value, PLAIN_SECRET)
    watched.look(value)
    assert PLAIN_SECRET.encode() not in b"".join(watched.lines)


@pytest.mark.parametrize("put", SECRETS)
@pytest.mark.parametrize("secret", [KEY, PLAIN_SECRET])
def test_a_state_with_secrets_comes_back_as_if_written_whole_each_time(put, secret):
    value = vault()
    watched = Watched()
    put(value, secret)
    watched.look(value)
    for again in (f"{secret}0", secret):
        value["log"] += "one more line that changes the text. "
        value["config"]["more"] += "and here. "
        put(value, again)
        fresh = Redactor(DEFAULT_RULES, salt=b"salt", environ={})
        assert watched.look(value) == whole(value, fresh)
    assert secret.encode() not in b"".join(watched.lines)
