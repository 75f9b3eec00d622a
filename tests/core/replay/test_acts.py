"""What an act does to the world, by its kind, its method, its address and its declaration; and the rules that name it."""

from __future__ import annotations

import json

import pytest

from reenact.core.model.event import Effect, Source
from reenact.core.record.program import takes_part
from reenact.core.replay.acts import act_of
from reenact.core.replay.policy import ActionPolicy

CHAT = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})


def request(name, body=CHAT, **headers):
    return Effect("http", name, {"headers": headers, "body": body}, leaf=True)


@pytest.mark.parametrize(
    ("effect", "impact"),
    [
        (Effect("model", "gpt-5"), "model"),
        (request("POST api.openai.com/v1/chat/completions"), "model"),
        (request("POST bedrock-runtime.us-east-1.amazonaws.com/model/m/converse"), "model"),
        (request("POST api.anthropic.com/v1/messages/count_tokens"), "model"),
        (request("POST gateway.example:8000/v1/messages", **{"user-agent": "Anthropic/Python 1"}), "model"),
        (request("POST gateway.example:8000/v1/messages"), "writes"),
        (request("POST discord.com/api/channels/7/messages", '{"content": "hi"}'), "writes"),
        (request("POST api.openai.com.evil.example/v1/chat/completions"), "writes"),
        (request("PUT bucket.s3.amazonaws.com/key/messages"), "writes"),
        (request("POST api.openai.com/v1/files"), "writes"),
        (request("GET shop.example/orders"), "reads"),
        (request("DELETE shop.example/orders/7"), "writes"),
        (Effect("tool", "refund"), "unknown"),
        (Effect("tool", "refund", writes=True), "writes"),
        (Effect("tool", "look", writes=False), "reads"),
        (Effect("tool", "look", source=Source("d", writes=False)), "reads"),
        (Effect("ledger", "add"), "unknown"),
        (Effect("process", "git", {"command": ["git", "push"]}), "unknown"),
        (Effect("process", "git"), "unknown"),
        (Effect("process", "git output"), "reads"),
        (Effect("websocket", "send chat.example/room"), "writes"),
        (Effect("websocket", "receive chat.example/room"), "reads"),
        (Effect("websocket", "send api.openai.com/v1/realtime"), "model"),
        (Effect("browser", "click"), "writes"),
        (Effect("browser", "observe"), "reads"),
        (Effect("process", "git push"), "unknown"),
    ],
)
def test_an_act_has_its_impact(effect, impact):
    assert act_of(effect).impact == impact


def test_a_host_that_a_recording_shows_as_a_models_serves_one():
    effect = request("POST 127.0.0.1:8000/v1/chat/completions")
    assert act_of(effect).impact == "writes"
    assert act_of(effect, {"127.0.0.1:8000"}).impact == "model"
    assert act_of(request("POST 127.0.0.1:8000/refunds"), {"127.0.0.1:8000"}).impact == "writes"


@pytest.mark.parametrize(
    ("command", "target"),
    [
        (["git", "push"], "git"),
        (["/usr/bin/git", "commit", "-m", "a; b"], "git"),
        (["cd x && rm -rf ."], "sh"),
        (["FOO=1 make all"], "make"),
        (["rm -rf 'a"], "sh"),
    ],
)
def test_a_program_is_named_by_what_runs(command, target):
    assert act_of(Effect("process", " ".join(command), {"command": command})).target == target


@pytest.mark.parametrize(
    ("options", "joins"),
    [
        (("agent.py", "-I"), True),
        (("-c", "print()"), True),
        (("-m", "package"), True),
        (("-I", "agent.py"), False),
        (("-uS", "agent.py"), False),
        (("-W", "ignore", "-E", "agent.py"), False),
        (("-X", "dev", "agent.py"), True),
    ],
)
def test_a_python_without_the_modules_of_its_environment_takes_no_part(options, joins):
    assert takes_part(options) is joins


@pytest.mark.parametrize(
    ("words", "mode"),
    [
        (["refund=live"], "live"),
        (["tool:refund=ask"], "ask"),
        (["tool=refuse"], "refuse"),
        (["re*=recorded"], "recorded"),
        (["refund=live", "re*=refuse"], "live"),
        (["refund=live", "refund=refuse"], "refuse"),
        (["other=live"], None),
    ],
)
def test_the_last_exact_rule_holds_before_a_pattern(words, mode):
    rule = ActionPolicy(words).rule(act_of(Effect("tool", "refund")))
    assert (rule.mode if rule is not None else None) == mode


def test_a_host_is_named_with_or_without_its_port_or_by_a_pattern():
    act = act_of(request("POST api.shop.example:8000/refunds"))
    for word in (
        "api.shop.example",
        "api.shop.example:8000",
        "*.shop.example",
        "http:api.shop.example",
        "http",
    ):
        assert ActionPolicy([f"{word}=live"]).rule(act) is not None, word


def test_a_command_of_a_shell_is_named_whole():
    act = act_of(Effect("process", "cd", {"command": "cd /tmp && rm -r x"}))
    assert act.target == "sh"
    assert act.shown == "process:cd /tmp && rm -r x"
    assert act_of(Effect("process", "git", {"command": "git push"})).target == "git"
