"""The filter language: what is written, what it means, and how it says that it does not understand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.core.query.filter import Filter
from reenact.errors import FilterError


class Facts(dict):
    """A step: cancel_order failed after a refund was asked for."""


STEP = Facts(
    {
        "label": "tool:cancel_order",
        "kind": "tool",
        "step": 7,
        "ended": "error",
        "error": "ValueError: delivered",
        "text": 'a "Refund" of 20 €',
        "args.order_id": "ORD-5521",
        "args.count": 3,
        "args.items[0]": "x",
        "tag": ["staging", "v2"],
        "name": "support",
        "status": "ok",
        "duration": 0.5,
    }
)
CALL = Facts(
    {
        "label": ["http:POST api", "model:gpt-4o"],
        "kind": "http",
        "model": "gpt-4o",
        "tokens": 5000,
        "calls": ["a", "b"],
    }
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tool",
        "tool:cancel_order",
        "tool:cancel_*",
        "TOOL:Cancel_Order",
        "error",
        "tool:cancel_order error",
        "tool:cancel_order and error",
        "http or error",
        "not http",
        "not (http or model)",
        "step > 6 step<8",
        "step >= 7 and step <= 7",
        "step=7",
        "step == 7",
        "step != 8",
        'text ~ "refund"',
        "text ~ refund",
        'text ~ "re.*20"',
        'text !~ "zebra"',
        '"refund"',
        "'\"Refund\"'",
        'args.order_id == "ORD-5521"',
        "args.order_id == ORD-5521",
        "args.order_id:ORD-*",
        "args.count > 2.5",
        "args.items[0] == x",
        "tag:staging",
        "tag:st*",
        "name:support status:ok",
        "error ~ delivered",
        "duration < 1",
        "(((tool)))",
        "http and model or tool",
        "not not tool",
        "NOT http AND tool",
    ],
)
def test_it_holds(text):
    assert Filter(text).matches(STEP)


@pytest.mark.parametrize(
    "text",
    [
        "http",
        "tool:cancel",
        "cancelled",
        "model",
        "not tool",
        "step > 7",
        "tokens > 1",
        "tokens < 1",
        "tokens != 1",
        "step > x",
        "args.order_id > 5",
        "args.none == 1",
        "tag:prod",
        "tool and (http or step < 3)",
        "tool and not error",
    ],
)
def test_it_does_not_hold(text):
    assert not Filter(text).matches(STEP)


@pytest.mark.parametrize(
    "text", ["model", "model:gpt-4o", "model:gpt*", "model == gpt-4o", "model and tokens > 4000", "calls:b"]
)
def test_a_model_call_over_http_is_a_model_call(text):
    assert Filter(text).matches(CALL)
    assert not Filter(text).matches(STEP)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("tokens >", 9),
        ("tokens > > 3", 10),
        ("tool and", 9),
        ("(tool", 1),
        ("tool)", 5),
        ("foo > 3", 1),
        ('text ~ "abc', 8),
        ('text ~ "("', 8),
        ("tool: x", 6),
        ("or tool", 1),
        ("tool and or http", 10),
        ("tokens", 7),
        ("not", 4),
        ("日本 and (", 9),
        ("= 3", 1),
    ],
)
def test_what_does_not_parse_points_at_its_column(text, column):
    with pytest.raises(FilterError) as caught:
        Filter(text)
    first, shown, caret = str(caught.value).split("\n")
    assert first.startswith(f"filter, column {column}: ")
    assert shown.strip() == text.strip()
    assert caret.strip() == "^"


@given(st.text(alphabet="tol:() \"'<>=~!andrex.*[]\\0123日\n", max_size=40))
def test_any_text_parses_or_is_refused_with_a_place(text):
    try:
        parsed = Filter(text)
    except FilterError as error:
        refused = str(error)
    else:
        parsed.matches(STEP)
        refused = "column"
    assert "column" in refused


ERROR = Facts({"kind": "tool", "ended": "error"})
FINE = Facts({"kind": "tool", "ended": "ok"})
HEAD = Facts({"id": "sm3yt49frk", "tag": ["a"], "status": "ok"})


@pytest.mark.parametrize(
    ("text", "steps", "expected"),
    [
        ("error", [FINE, ERROR], [ERROR]),
        ("error", [FINE], None),
        ("tag:a", [], []),
        ("tag:b", [ERROR], None),
        ("tag:a error", [ERROR], [ERROR]),
        ("not error", [FINE], []),
        ("not error", [FINE, ERROR], None),
        ("not error", [], []),
        ("tag:a not error", [FINE], []),
        ("tool and not error", [FINE, ERROR], [FINE]),
        ("tag:b or error", [ERROR], [ERROR]),
        ("sm3yt49frk", [], []),
        ("sm3yt49frk error", [FINE, ERROR], [ERROR]),
        ("id:sm3y*", [FINE], []),
        ("sm3yt49frj", [FINE], None),
    ],
)
def test_a_recording_is_meant_by_one_of_its_steps(text, steps, expected):
    assert Filter(text).select(HEAD, steps) == expected
