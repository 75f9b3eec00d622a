"""What repeats from call to call is stored once, and comes back whole."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reenact.model import codec, delta


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
