"""What repeats from call to call is stored once, and comes back whole."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reenact.core.model import codec, delta


def through(value: Any, base: Any) -> Any:
    written = codec.loads(delta.Arg.of(value).against(delta.Arg.of(base), 3))
    return written if delta.base_of(written) is None else delta.restore(written, base)


texts = st.text(max_size=20).flatmap(lambda part: st.integers(0, 60).map(lambda times: part * times))


@given(texts, texts, texts, texts)
def test_any_text_comes_back_from_what_it_adds_to_any_other(head: str, old: str, new: str, tail: str) -> None:
    assert through(head + new + tail, head + old + tail) == head + new + tail


@given(
    st.lists(st.sampled_from([1, True, 1.0, "a", [1], {"a": 1}])),
    st.lists(st.sampled_from([1, True, 1.0, "a"])),
)
def test_any_list_comes_back_to_the_letter(new: list[Any], base: list[Any]) -> None:
    assert repr(through(new, base)) == repr(new)


def test_a_growing_history_costs_what_it_adds() -> None:
    history = [{"role": "user", "content": "x" * 1000}] * 50
    grown = [*history, {"role": "assistant", "content": "y" * 1000}]
    assert len(delta.Arg.of(grown).against(delta.Arg.of(history), 3)) < 1200


def test_a_growing_text_costs_what_it_adds() -> None:
    body = '{"messages":[' + "x" * 100_000
    written = delta.Arg.of(body + "new]}").against(delta.Arg.of(body + "]}"), 3)
    assert len(written) < 500


def test_an_equal_dict_is_named_by_its_call() -> None:
    tools = {"tools": ["a tool that has a long description"] * 20}
    assert delta.Arg.of(tools).against(delta.Arg.of(tools), 3) == b'{"$same":3}'


def test_dicts_that_only_look_equal_are_written_whole() -> None:
    tools = {"tools": ["a tool that has a long description"] * 20, "strict": True}
    other = {**tools, "strict": 1}
    assert delta.Arg.of(other).against(delta.Arg.of(tools), 3) == codec.dumps(other)


def test_an_argument_that_only_refers_to_an_earlier_call_is_known_as_such() -> None:
    def adds_nothing(value: Any, base: Any) -> bool:
        return delta.adds_nothing(delta.Arg.of(value).against(delta.Arg.of(base), 7))

    chat = [{"role": "user", "content": "hello"}]
    assert adds_nothing(chat, chat)
    assert adds_nothing({"a": "x" * 300}, {"a": "x" * 300})
    assert not adds_nothing([*chat, {"role": "user"}], chat)
    # A flag's secret may stand behind a text, so the last one of a list is written again.
    assert not adds_nothing(["--api-key"], ["--api-key"])
    # A short one, and a text's end, are written again too.
    assert not adds_nothing({"a": 1}, {"a": 1})
    assert not adds_nothing("x" * 300, "x" * 300)
    assert not delta.adds_nothing(b'[{"$items":[1,1,0],"new":[]}]')
