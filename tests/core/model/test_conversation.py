"""Of each model call, a reader sees what is new, once."""

from __future__ import annotations

from reenact.core.messages import Message, ModelCall, ToolCall
from reenact.core.query.conversation import Conversation

SYSTEM = Message("system", "be nice")


def user(text):
    return Message("user", text)


def said(text, *calls):
    return Message("assistant", text, tuple(calls))


def call(*messages, answer=None):
    return ModelCall("m", messages, answer)


def test_history_and_the_previous_answer_are_known():
    chat = Conversation()
    first = chat.turn(call(SYSTEM, user("a"), answer=said("b")))
    second = chat.turn(call(SYSTEM, user("a"), said("b"), user("c"), answer=said("d")))
    assert first.new == (SYSTEM, user("a"))
    assert (second.new, second.known, second.dropped) == ((user("c"),), 2, 0)


def test_an_answer_that_was_changed_before_it_was_sent_back_is_new():
    chat = Conversation()
    chat.turn(call(SYSTEM, user("a"), answer=said("b")))
    assert chat.turn(call(SYSTEM, user("a"), said("B!"), user("c"))).new == (said("B!"), user("c"))


def test_an_answer_sent_back_in_pieces_is_known():
    chat = Conversation()
    asked = ToolCall("add", {"x": 1}, "id")
    chat.turn(call(user("a"), answer=said("hm", asked)))
    result = Message("tool", "2", name="add")
    assert chat.turn(call(user("a"), said("hm"), said("", ToolCall("add", {"x": 1})), result)).new == (
        result,
    )


def test_a_rewritten_history_is_said():
    chat = Conversation()
    chat.turn(call(SYSTEM, user("a"), said("b"), user("c"), answer=said("d")))
    turn = chat.turn(call(SYSTEM, user("a"), user("summary")))
    assert (turn.new, turn.dropped) == ((user("summary"),), 2)


def test_two_conversations_side_by_side_do_not_mix():
    chat = Conversation()
    for text in ("x", "y"):
        chat.turn(call(SYSTEM, user(text), answer=said(text * 2)))
    one = chat.turn(call(SYSTEM, user("x"), said("xx"), user("more x")))
    other = chat.turn(call(SYSTEM, user("y"), said("yy"), user("more y")))
    assert (one.new, other.new, one.dropped, other.dropped) == ((user("more x"),), (user("more y"),), 0, 0)


def test_a_shared_system_prompt_is_no_shared_conversation():
    chat = Conversation()
    chat.turn(call(SYSTEM, user("a"), answer=said("b")))
    turn = chat.turn(call(SYSTEM, user("z")))
    assert (turn.new, turn.dropped) == ((user("z"),), 0)
