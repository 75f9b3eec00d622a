"""Whatever a filter says and whatever was recorded, the index finds what reading every recording finds."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reenact.analysis.interchange.importers import Happened, ImportedRun, keep
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.filter import Filter
from reenact.core.query.grammar import FIELDS
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore

# Letters of several lengths in UTF-8, those that lose their case oddly, and those that JSON or SQL treat as special.
WORDS = st.sampled_from(
    [
        "refund",
        "Refund",
        "ORD-5521",
        "käse",
        "KÄSE",
        "\u017ftep",
        "\u212aey",
        "key",
        "",
        "null",
        "true",
        "5",
        "5.0",
        "1e3",
    ]
    + [
        '{"status": "ok", "n": [1, 2]}',
        '["a"]',
        "a\nb",
        "\0",
        "\x01",
        "\0cut",
        "100%",
        "_",
        "'",
        '"',
        "\\",
        "\\u",
        "💥",
    ]
)
TEXTS = st.lists(WORDS, max_size=3).map(" ".join) | WORDS | st.text(max_size=5)
LONG = st.builds(lambda text, times: text * times, WORDS, st.integers(0, 1500))
KEYS = st.sampled_from(["order_id", "status", "n", "Käse", "a", "0", "\0cut", "messages"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | LONG,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
ARGS = st.dictionaries(KEYS, VALUES, max_size=4)


def tool(name, args, value, error):
    return Happened("tool", name, args, value, None if error is None else error)


def ask(texts, answer, used):
    messages = [
        {"role": "user" if number % 2 else "assistant", "content": text} for number, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": used, "completion_tokens": 7}
    value = {
        "model": "gpt-4o",
        "choices": [{"message": {"role": "assistant", "content": answer}}],
        "usage": usage,
    }
    return Happened("model", "gpt", {"messages": messages, "n": used}, value)


EFFECTS = st.builds(tool, st.sampled_from(["cancel", "look"]), ARGS, VALUES, st.none() | TEXTS) | st.builds(
    ask, st.lists(TEXTS | LONG, max_size=4), TEXTS, st.integers(0, 9000)
)
RUNS = st.lists(
    st.builds(
        ImportedRun,
        name=TEXTS,
        effects=st.lists(EFFECTS, max_size=6),
        tags=st.lists(st.sampled_from(["a", "b"]), max_size=2).map(tuple),
        status=st.sampled_from(["ok", "error"]),
    ),
    min_size=1,
    max_size=3,
)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


PLACES = [
    "args",
    "args.order_id",
    "args.n",
    "args.status.n[1]",
    "args.a.Käse",
    "args.messages[0].content",
    "args.messages",
]
PLACES += [
    "output",
    "output.status",
    "output.n",
    "output[0]",
    "output.choices[0].message.content",
    "output.usage",
    "args.0",
]
FIELD = st.sampled_from([*FIELDS, *PLACES, "text", "text"])
PATTERNS = st.sampled_from(
    ["refund", "re.*nd", "ORD-[0-9]+", "k(ey)?", "ref(und)", "s?tep", "a|b", "[^]a]b", "a{2}", "ab{0,1}c", r"\d+", r"\x4bey", "(?-i:Refund)", "^$", "KÄSE", "step", "key", "100%"]
)  # fmt: skip
ASKED = TEXTS.filter(lambda text: "\x00" not in text).map(quoted)
TERMS = st.one_of(
    st.sampled_from(["tool", "model", "error", "cancelled", "tool:c*", "model:gpt*", "tag:a", "status:ok", "user"]),
    st.builds("{} {} {}".format, FIELD, st.sampled_from(["==", "!=", "<", ">="]), ASKED | st.integers(-9, 9000)),
    st.builds("{} {} {}".format, FIELD, st.sampled_from(["==", "<="]), st.sampled_from(["true", "null", "5.0", "1", "1" * 15])),
    st.builds("{} {} {}".format, FIELD, st.sampled_from(["~", "!~"]), PATTERNS.map(quoted)),
    st.builds("{}:{}".format, FIELD, st.sampled_from(["*", "ref*", "*und", "?*", "ORD-*", "k*", "5"])),
    ASKED,
)  # fmt: skip
FILTERS = st.recursive(
    TERMS,
    lambda inner: (
        st.builds("({} and {})".format, inner, inner)
        | st.builds("({} or {})".format, inner, inner)
        | inner.map("not {}".format)
    ),
    max_leaves=4,
)


def read_all(store, text):
    """The question answered by reading every recording."""
    wanted = Filter(text)
    found = {}
    for id in store.ids():
        facts = RecordingFacts(store.load(id))
        steps = wanted.select(facts, facts.steps)
        if steps is not None:
            found[id] = tuple(step.step.number for step in steps)
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(RUNS, st.lists(FILTERS, min_size=6, max_size=12))
def test_the_index_finds_what_reading_every_recording_finds(runs, filters):
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder))
        for run in runs:
            keep(store, run)
        index = Index(store)
        assert not [line.broken for line in index.summaries() if line.broken]
        for text in filters:
            assert {hit.summary.id: hit.steps for hit in index.search(Filter(text))} == read_all(
                store, text
            ), text
        index.close()
