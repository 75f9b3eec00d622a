"""Tool calls for models that were never trained to make any.

Asked for tools in the usual way, a small model answers with prose. Held to a JSON schema while it samples, it cannot
help but name one of the tools and fill in its arguments. So a request with tools becomes a request for one JSON
*action*, `{"name": ..., "arguments": {...}}`, and the action that comes back becomes a tool call; the extra action
`reply` stands for a plain answer.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias
from uuid import uuid4

Json: TypeAlias = dict[str, Any]

REPLY = "reply"
_REPLY_TOOL: Json = {
    "name": REPLY,
    "description": "answer the user in plain text",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 200}},
        "required": ["text"],
        "additionalProperties": False,
    },
}
_SAMPLING = ("temperature", "top_p", "seed", "max_tokens", "stop", "presence_penalty", "frequency_penalty")


def called_this_turn(request: Json) -> set[str]:
    """The tools that the model called since the user last spoke."""
    called: set[str] = set()
    for message in request["messages"]:
        if message["role"] == "user":
            called.clear()
        called.update(call["function"]["name"] for call in message.get("tool_calls") or ())
    return called


def model_request(request: Json, tools: list[Json]) -> Json:
    """What the model is asked, for a chat completion request as the OpenAI SDK sends it and the tools offered."""
    asked = {name: request[name] for name in _SAMPLING if request.get(name) is not None}
    asked["max_tokens"] = request.get("max_completion_tokens") or asked.get("max_tokens") or 256
    system, messages = _plain_messages(request["messages"], as_actions=bool(tools))
    if tools:
        system = f"{system}\n\n{_instructions(tools)}".strip()
        asked["response_format"] = _one_of(tools)
    elif request.get("response_format"):
        asked["response_format"] = request["response_format"]
    asked["messages"] = [{"role": "system", "content": system}, *messages] if system else messages
    return asked


def offered_tools(request: Json, *, each_once: bool = False) -> list[Json]:
    """The functions that the model may choose from, with `reply` among them unless a call is demanded.

    A very small model copies what it sees: having called a tool once, it would call it for ever. `each_once`
    withholds a tool from then on until the user speaks again.
    """
    choice = request.get("tool_choice") or "auto"
    functions: list[Json] = [tool["function"] for tool in request.get("tools") or ()]
    if choice == "none" or not functions:
        return []
    if isinstance(choice, dict):
        return [function for function in functions if function["name"] == choice["function"]["name"]]
    if choice == "required":
        return functions
    withheld = called_this_turn(request) if each_once else set()
    return [*(function for function in functions if function["name"] not in withheld), _REPLY_TOOL]


def _one_of(tools: list[Json]) -> Json:
    actions = [
        {
            "type": "object",
            "properties": {"name": {"const": tool["name"]}, "arguments": _parameters(tool)},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {"type": "json_schema", "json_schema": {"name": "action", "schema": {"oneOf": actions}}}


def _parameters(tool: Json) -> Json:
    return tool.get("parameters") or {"type": "object", "properties": {}, "additionalProperties": False}


def _instructions(tools: list[Json]) -> str:
    # No sample of the JSON here: a small model would copy its placeholders. The schema sees to the form.
    lines = ["Answer with exactly one JSON action, one of:"]
    for tool in tools:
        names = ", ".join(_parameters(tool).get("properties", {}))
        lines.append(f"- {tool['name']}({names}): {tool.get('description', '')}")
    return "\n".join(lines)


def _plain_messages(messages: list[Json], *, as_actions: bool) -> tuple[str, list[Json]]:
    """The system prompt, and the conversation with tool calls and results as the text of its two speakers."""
    system: list[str] = []
    plain: list[Json] = []
    called: dict[str, str] = {}
    for message in messages:
        text = _text(message.get("content"))
        match message["role"]:
            case "system" | "developer":
                system.append(text)
            case "tool":
                name = called.get(message["tool_call_id"], "the tool")
                plain.append({"role": "user", "content": f"Result of {name}: {text}"})
            case "assistant":
                for call in message.get("tool_calls") or ():
                    called[call["id"]] = call["function"]["name"]
                plain.append({"role": "assistant", "content": _said(message, text, as_actions=as_actions)})
            case role:
                plain.append({"role": role, "content": text})
    return "\n".join(system), plain


def _said(message: Json, text: str, *, as_actions: bool) -> str:
    """An earlier answer in the form in which the model is to give the next one: it copies what it sees."""
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    if calls:
        return "\n".join(f'{{"name": "{call["name"]}", "arguments": {call["arguments"]}}}' for call in calls)
    return json.dumps({"name": REPLY, "arguments": {"text": text}}) if as_actions else text


def _text(content: str | list[Json] | None) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


class ActionStream:
    """Turns the text of one action, as it is sampled, into the deltas of a chat completion stream.

    What has arrived of a reply's text or of a call's arguments goes out at once; what could still turn out to be
    the closing braces of the action itself is held back until more arrives.
    """

    _HEAD = re.compile(r'\s*\{\s*"name"\s*:\s*"(?P<name>[^"]*)"\s*,\s*"arguments"\s*:\s*(?=\{)')
    _REPLY_HEAD = re.compile(r'\{\s*"text"\s*:\s*"')
    _REPLY_TEXT = re.compile(r'(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*')
    _CLOSING = re.compile(r"[\s}]*\Z")
    _HALF_A_PAIR = re.compile(r"[\ud800-\udbff]\Z")

    def __init__(self) -> None:
        self.called = False
        self._text = ""
        self._name: str | None = None
        self._start = 0
        self._sent = ""

    def feed(self, piece: str) -> list[Json]:
        """The deltas that one more piece of text completes."""
        self._text += piece
        opening = self._open()
        if self._name is None:
            return []
        body = self._reply() if self._name == REPLY else self._arguments()
        fresh = body[len(self._sent) :]
        if not fresh:
            return opening
        self._sent = body
        if self._name == REPLY:
            return [*opening, {"content": fresh}]
        return [*opening, {"tool_calls": [{"index": 0, "function": {"arguments": fresh}}]}]

    def _open(self) -> list[Json]:
        """The delta that names the tool, once, when its name has arrived."""
        if self._name is not None or not (head := self._HEAD.match(self._text)):
            return []
        self._name, self._start = head["name"], head.end()
        if self._name == REPLY:
            return []
        self.called = True
        function = {"name": self._name, "arguments": ""}
        call = {"index": 0, "id": f"call_{uuid4().hex[:20]}", "type": "function", "function": function}
        return [{"tool_calls": [call]}]

    def _reply(self) -> str:
        if not (head := self._REPLY_HEAD.match(self._text, self._start)):
            return ""
        body = self._REPLY_TEXT.match(self._text, head.end())
        decoded: str = json.loads(f'"{body[0]}"', strict=False) if body else ""
        return self._HALF_A_PAIR.sub("", decoded)

    def _arguments(self) -> str:
        action = self._text[self._start :]
        try:
            _, end = json.JSONDecoder().raw_decode(action)
        except ValueError:
            return self._CLOSING.sub("", action)
        return action[:end]
