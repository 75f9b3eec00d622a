"""Hostile texts cost time in proportion to their length, whatever they say: processor time, and its growth."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reenact.core.query.filter import Filter
from reenact.core.redact import DEFAULT_RULES, Redactor, SecretRules, marks
from reenact.core.redact.find import Finder
from reenact.core.redact.work import TooDense, Work
from reenact.errors import CorruptRecording, FilterError, UsageError
from reenact.run.replayer import rules_of
from tests.hostile.dense import forms, fragments
from tests.sampling import sampled

FRAGMENTS = (
    "sk-",
    "sk-" + "ant-",
    "sk-" + "ant-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "Cookie: a=b; ",
    "a=b;",
    "password=",
    "password=abcd&",
    "https://x.s3.com/a?X-Amz-Signature=abcdef0123456789&",
    "Bearer ",
    "eyJ",
    "eyJaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.",
    "-----BEGIN ",
    "-----BEGIN RSA PRIV" + "ATE KEY-----\nA: ",
    '{"a":',
    '{"password": ',
    '"',
    "\\",
    "%25",
    "TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcms=",
    "postgres://a:b@",
    "/",
    "@",
    "\\u005c",
    "pin:",
    "password=\\'a",
    '\\"password\\": \\"',
    '"password",["',
    "--token x ",
    'name="password";\n',
    "[[secret:x:01234567]]",
    "token=%61%62%63%64",
    'secret: \\\\\\\\\\\\\\\\\\"',
    "     ",
    "ghp_",
    "user,password\nann,abcd\n",
    '{"name":"password","of":{},"a":',
    ":5432:a:b:c\n",
)
CANARY = "sk-" + "proj-aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF4hJ6"
SMALL, LARGE = 100_000, 1_000_000


def seconds(work):
    """Processor time, the lesser of two."""

    def once():
        began = time.process_time()
        work()
        return time.process_time() - began

    return min(once(), once())


def is_linear(work):
    """Ten times the text costs at most some twelve times the time, and never a second more than that."""
    few, many = seconds(lambda: work(SMALL)), seconds(lambda: work(LARGE))
    assert many <= 12 * few + 0.4, (few, many)


def repeated(fragment, size):
    return (fragment * (size // len(fragment) + 1))[:size]


@pytest.fixture(scope="module")
def redactor():
    return Redactor(salt=b"a recording's salt")


@pytest.mark.parametrize("fragment", sampled(FRAGMENTS, 3))
def test_a_text_of_one_fragment_costs_time_in_proportion(redactor, fragment):
    is_linear(lambda size: redactor.raw(repeated(fragment, size).encode()))


@pytest.mark.thorough
@pytest.mark.parametrize("fragment", sampled(FRAGMENTS[1:], 4))
def test_an_event_with_such_a_text_costs_time_in_proportion_and_stays_json(redactor, fragment):
    def work(size):
        clean = redactor.line(json.dumps({"event": "returned", "value": repeated(fragment, size)}).encode())
        assert json.loads(clean)["event"] == "returned"

    is_linear(work)


@pytest.mark.parametrize("fragment", sampled(fragments()[::60], 10))
def test_a_text_full_of_the_rules_own_words_costs_some_short_loops(redactor, fragment):
    loop = seconds(lambda: sum(range(10**6)))  # 25 ms on an idle machine
    for name, data in forms(fragment, 200_000).items():
        clean = redactor.raw if name == "raw" else redactor.line
        assert seconds(lambda clean=clean, data=data: clean(data)) <= 5 * loop, name


@pytest.mark.thorough
@pytest.mark.parametrize("size", sampled([4096, 1, 7], 3))
@pytest.mark.parametrize(
    "fragment",
    sampled(["sk-", "Cookie: a=b; ", "password=abcd&", '{"data": "', "[[secret:x:01234567]]", "eyJ"], 2),
)
def test_a_stream_of_such_chunks_costs_time_in_proportion(redactor, fragment, size):
    def work(length):
        text = repeated(fragment, length).encode()
        stream = redactor.stream()
        for at in range(0, len(text), size):
            stream.chunk(text[at : at + size])
        stream.end()

    whole = {1: 20_000, 7: 100_000, 4096: LARGE}[size]
    few, many = seconds(lambda: work(whole // 10)), seconds(lambda: work(whole))
    assert many <= 14 * few + 0.5, (few, many)


@pytest.mark.thorough
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from([*FRAGMENTS, " ", "\n", "x", "1", '", "']), min_size=1, max_size=12),
    st.booleans(),
)
def test_a_text_of_many_fragments_costs_time_in_proportion(redactor, fragments, json_):
    text = "".join(fragments)
    clean = redactor.line if json_ else redactor.raw

    def work(size):
        whole = repeated(text, size)
        clean(json.dumps([whole]).encode() if json_ else whole.encode())

    is_linear(work)


@pytest.mark.sampled
@pytest.mark.parametrize("fragment", sampled(FRAGMENTS[2:], 4))
def test_a_secret_in_a_hostile_text_leaves_all_the_same(redactor, fragment):
    half = repeated(fragment, 100_000)
    text = f"{half}\n {CANARY} \n{half}"
    assert CANARY.encode() not in redactor.raw(text.encode())
    assert CANARY.encode() not in redactor.line(json.dumps({"value": text}).encode())
    stream = redactor.stream()
    data = text.encode()
    out = b"".join(stream.chunk(data[at : at + 999]) for at in range(0, len(data), 999)) + stream.end()
    assert CANARY.encode() not in out


def test_an_everyday_text_beside_a_hostile_one_stays_as_it_is(redactor):
    event = {
        "event": "returned",
        "text": "The quick brown fox. " * 200,
        "value": repeated("sk-", 200_000),
        "n": [1, 2],
    }
    clean = json.loads(redactor.line(json.dumps(event).encode()))
    assert clean["value"].startswith("[[secret:")
    assert {**clean, "value": 0} == {**event, "value": 0}


def test_a_list_of_words_with_their_probabilities_stays_as_it_is(redactor):
    words = [
        {"token": f"w{n}", "logprob": -0.5, "bytes": [119, 49], "top_logprobs": []} for n in range(10_000)
    ]
    for document in ({"value": words}, {"value": json.dumps(words)}):
        data = json.dumps(document).encode()
        assert redactor.line(data) == data


def test_all_engines_find_the_same_marks():
    rules = SecretRules(
        DEFAULT_RULES.names | {"badge number"}, DEFAULT_RULES.headers, values=frozenset({"hunter2hunter2"})
    )
    texts = [
        *(repeated(one, 300) + two for one in FRAGMENTS for two in FRAGMENTS[:8]),
        "My-BADGE_number: 1, api_key = x",
    ]
    found = []
    for engine in (marks._Hyperscan, marks._Automata, literals):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("reenact.core.redact.find.Database", engine)
            found.append(Finder(rules))
            # With the engine's expressions, which are compiled at their first use.
            found[-1]._expressions()
    for text in texts:
        one, *others = (
            # A hint may be given where there is nothing.
            [mark for mark in each._marked.database.scan(text.encode(), 10**6) if mark[0] < each._first_hint]
            for each in found
        )
        assert all(sorted(one) == sorted(two) for two in others), text
        # The two engines without hyperscan give the same order, too.
        assert others[0] == others[1], text
        one, *others = (sorted(each.find(text.encode(), Work(0, least=10**6))) for each in found)
        assert all(one == two for two in others), text


def literals(found, *, literal):
    """Return the engine that looks for each literal by itself; of expressions there is none."""
    return marks._Literals(found) if literal else marks._Automata(found)


def test_the_same_marks_are_found_where_the_engine_changes(monkeypatch):
    monkeypatch.setattr(marks, "_LITERAL_BYTES", 500)
    monkeypatch.setattr(marks, "_FIRST_BYTES", 1000)
    texts = [(b'{"api_key": "x%d", "more": "' % n) + b"a" * 190 + b'"}' for n in range(20)]
    growing, alone = (
        marks._Growing([(b'api_key"', 0)], literal=True),
        marks._Automata([(b'api_key"', 0)], literal=True),
    )
    engines = []
    for text in texts:
        assert growing.scan(text, 100) == alone.scan(text, 100) != []
        engines.append(type(growing._engine))
    assert engines == [marks._Literals] * 2 + [marks._Automata] * 4 + [marks._Hyperscan] * 14


def test_a_long_first_text_is_scanned_by_the_last_engine(monkeypatch):
    monkeypatch.setattr(marks, "_FIRST_BYTES", 1000)
    growing = marks._Growing([(b'api_key"', 0)], literal=True)
    text = b'{"api_key": "x"}' * 2000
    assert len(growing.scan(text, 1e6)) == 2000
    assert type(growing._engine) is marks._Hyperscan


def test_a_line_with_a_port_is_found_before_and_after_the_expressions_are_compiled():
    finder = Finder(DEFAULT_RULES)
    lines = [b"db.example.com:5999:shop:ann:s3cret-of-ann", b"at 16:45:40 there was nothing"] * 3
    found = []
    for line in lines:
        found.append([hit.value for hit in finder.find(line, Work(len(line)))])
        finder._few_lines -= 40
    assert found == [["s3cret-of-ann"], []] * 3


@pytest.mark.parametrize("engine", ["_Literals", "_Automata", "_Hyperscan"])
def test_a_hint_costs_one_look_however_often_it_is_there(engine):
    if engine == "_Hyperscan" and not marks._HYPERSCAN:
        pytest.skip("hyperscan is not installed: pip install 'reenact[speed]'")
    texts = [(b"key", 0), (rb"\u00", marks.HINT)]
    found = (
        literals(texts, literal=True)
        if engine == "_Literals"
        else getattr(marks, engine)(texts, literal=True)
    )
    text = rb"\u00e9" * 10_000 + b"key"
    assert sorted(number for number, _ in found.scan(text, 10)) == [0, 1]
    with pytest.raises(TooDense):
        found.scan(b"key" * 100, 10)


class TestPatternsOfUsers:
    @pytest.mark.parametrize(
        "pattern", [r"(a|aa)+$|(a+)+$", r"(a+)+b", r"a.*b|a", r"(x+x+)+y", r"\w+\s*=\s*(\w+);"]
    )
    def test_they_run_in_time_in_proportion_to_the_text(self, pattern):
        rules = SecretRules(frozenset(), frozenset(), patterns=(pattern,))
        redactor = Redactor(rules, salt=b"a salt")
        is_linear(lambda size: redactor.raw(repeated("a", size).encode() + b"!"))
        is_linear(lambda size: redactor.raw(repeated("x = xx", size).encode()))

    @pytest.mark.parametrize(
        "pattern",
        [
            r"(a)\1",
            r"(?<=x)y",
            r"x(?=y)",
            "((a{100}){100}){100}",
            "(a{1000}){1000}",
            "a{900}",
            "(",
            "[",
            "x" * 2000,
            "\ud800(",
        ],
    )
    def test_one_that_no_automaton_can_find_is_refused_in_one_line(self, pattern):
        with pytest.raises(UsageError) as refused:
            Redactor(SecretRules(frozenset(), frozenset(), patterns=(pattern,)), salt=b"a salt")
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 300

    def test_the_rules_of_a_strangers_header_are_limited(self):
        for secrets in (
            {"patterns": ["a"] * 1000},
            {"patterns": ["a" * 5000]},
            {"patterns": [1]},
            {"names": "abc"},
            {"names": ["x"] * 100_000},
            [],
            "x",
        ):
            with pytest.raises(CorruptRecording, match="secrets"):
                rules_of({"secrets": secrets or ["x"]})


class _Step:
    def __init__(self, text):
        self._text = text

    def get(self, field):
        return self._text if field in ("text", "label", "name") else None


class TestFilters:
    @pytest.mark.parametrize(
        "text",
        [
            'text ~ "(a|aa)+$|(a+)+$"',
            'text ~ "(x+x+)+y"',
            'text ~ "(.*a){20}b"',
            'text ~ "a.*b.*c.*d"',
            'text ~ "\\s+$"',
            'text !~ "(\\w+\\s*)+$"',
            "name:a*a*a*a*a*a*a*a*a*b",
            "name:*a?a*b?c*",
        ],
    )
    @pytest.mark.parametrize("letters", ["a", "ax ", " ", "a\n"])
    def test_one_text_is_asked_in_time_in_proportion(self, text, letters):
        wanted = Filter(text)
        is_linear(lambda size: wanted.node and _all(wanted, _Step(repeated(letters, size) + "!")))

    @pytest.mark.parametrize(
        "text",
        [
            "(" * 300 + "error" + ")" * 300,
            "(" * 100_000,
            "not " * 900 + "error",
            "not " * 100_000,
            "error or " * 100_000 + "error",
            'text ~ "((a{100}){100}){100}"',
            'text ~ "(a{1000}){1000}"',
            'text ~ "(a)\\1"',
            'text ~ "(?=a)b"',
            'text ~ "' + "(" * 900 + ")" * 900 + '"',
            'text ~ "' + "a" * 1001 + '"',
            "tokens > " + "9" * 3000,
            "tokens > " + "9" * 3000 + ".5",
            "tokens > -" + "9" * 30,
            "text ~ \0",
            "tag:\ud800x",
            'text ~ "\udfff"',
        ],
    )
    def test_one_that_is_too_much_is_refused_by_the_filters_own_error(self, text):
        with pytest.raises(FilterError) as refused:
            Filter(text)
        first = str(refused.value).splitlines()[0]
        assert first.startswith("filter")
        assert len(first) < 300

    @pytest.mark.parametrize(
        ("text", "said", "held"),
        [
            ('text ~ "^A\\w+ü$"', "abcü", True),
            ('text ~ "end$"', "the end\n", True),
            ('text ~ "\\d{3}\\Z"', "x\u0661\u0662\u0663", True),
            ('text ~ "[^\\w]x"', "äx", False),
            ('text ~ "[]a]b"', "]b", True),
            ('text ~ "[\\[x]b"', "[b", True),
            ('text ~ "\\u00e4"', "Ä", True),
            ("name:a*", "ABC", True),
            ("name:*c", "ABC", True),
            ("name:a*c*e", "abcde", True),
            ("name:a*c*e", "abcd", False),
            ("name:*", "", True),
            ("name:a*a", "a", False),
            ("name:?b?", "abc", True),
            ("name:a**c", "abc", True),
        ],
    )
    def test_a_pattern_means_what_it_means_in_python(self, text, said, held):
        assert _all(Filter(text), _Step(said)) is held


def _all(wanted, facts):
    return wanted.head(facts) and wanted.holds(facts)
