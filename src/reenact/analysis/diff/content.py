"""The compared content of a step, and its fingerprints.

Parts that always differ between two runs are left out: the ids of tool calls, the salt of replaced secrets, the headers
of HTTP answers, the volatile headers of requests, ports of this machine that the system chose; of a browser's action
its times, its pictures, and the measurements after its message. Of a model call only new messages are compared: its
history repeats the calls before it, and would make every call after the first difference look changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from hashlib import blake2b
from typing import Any

from reenact.analysis.diff.result import Spent
from reenact.core.messages import Message, cost
from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.model.plain import binary, error_line, parsed
from reenact.core.query.conversation import Turn
from reenact.core.query.facts import RecordingFacts, StepFacts

SPOKEN = frozenset(
    ("messages", "input", "contents", "prompt", "question", "system", "instructions", "systemInstruction")
)
"""Arguments of a model call that hold its messages, which are compared as messages."""

_PASSING = {
    "agent": ("agent_id", "at"),
    "browser": (
        "started_at", "ended_at", "timestamp", "waited", "why", "action", "fingerprint", "delivered", "error",
        "screenshot", "box", "selectors",
    ),
    "http": ("headers", "extensions"),
}  # fmt: skip
"""Parts of an answer, by kind, that differ between any two runs, or repeat arguments."""

_SECRET = re.compile(r"(\[\[secret:[^\[\]:]+):[0-9a-f]{8}\]\]")
_PORT = re.compile(r"\b(127\.0\.0\.1|localhost):(?:3276[89]|327[7-9]\d|32[89]\d\d|3[3-9]\d{3}|[4-6]\d{4})\b")
_OWNER = re.compile(r"/call:[^/]+")
_AGE = re.compile(r"\bthe page is \d{1,4}\.\d s old\b")
_SETTLED = b"[[secret:", b"127.0.0.1:", b"localhost:", b"the page is "
_WORD = re.compile(r"[^\W_]+")


def _worded(name: str, tree: Tree) -> Tree:
    """Return the consequence of a browser's action as lines; other parts unchanged."""
    if name != "consequence" or not isinstance(tree, dict):
        return tree
    page, dom = tree.get("navigated"), tree.get("dom")
    lines = [f"opened {page}"] if page else []
    lines += [f"sent {request}" for request in tree.get("requests") or ()]
    if isinstance(dom, dict):
        lines += [
            f"{change} {line}" for change in ("added", "removed", "changed") for line in dom.get(change, ())
        ]
    return "\n".join(lines) or None


class Content:
    """One step as it is compared.

    Attributes:
        facts: The step.
        place: Its place in the run, from 0.
        family: The family of possible counterparts: `tool:search`, `http:GET …`, or `model` for any model call.
        scope: Its scope, without the ids that a framework gives tool calls.
        inside: It carries a model call that is a step itself.
        turn: The model call with its new messages, or None.
    """

    def __init__(self, facts: StepFacts) -> None:
        self.facts = facts
        self.place = facts.step.number - 1
        call, log = facts.call, facts.step.log
        self.scope = _OWNER.sub("/call", call.scope)
        within = log.calls.get(call.within) if call.within is not None else None
        self.inside = within is not None and within.kind == "model"
        self.turn: Turn | None = None if self.inside else facts.turn
        self.family = "model" if self.turn is not None else call.label

    @cached_property
    def question(self) -> bytes:
        """Return the fingerprint of the question: a model call's new messages, HTTP without headers."""
        if self.inside:
            return b""
        if self.turn is not None:
            return fingerprint([said(message) for message in self.turn.new])
        args = self.facts.step.log.args(self.facts.call)
        if self.facts.call.kind == "http":
            args = {name: tree for name, tree in args.items() if name != "headers"}
        return fingerprint(args)

    @cached_property
    def answer(self) -> bytes:
        """The fingerprint of the outcome, and of its end."""
        return fingerprint([self.facts.call.status, self.error, None if self.inside else self._came])

    @property
    def _came(self) -> Any:
        if self.turn is None:
            return self.output
        answer = self.turn.call.answer
        thought = answer.thinking if answer is not None else ""
        return [answer and said(answer), thought, self.turn.call.problem]

    @property
    def key(self) -> tuple[str, bytes, bytes]:
        """Equal for steps that ask the same and are answered the same."""
        return self.family, self.question, self.answer

    @property
    def outputs(self) -> dict[str, Tree]:
        """Return the outcome, by name; empty if there is none, not even None."""
        outcome = self.facts.call.outcome
        return {"output": self.output} if outcome is not None and "value" in outcome else {}

    @property
    def output(self) -> Tree:
        """Return the outcome as a tree, without headers and times; a stream as one text."""
        outcome = self.facts.call.outcome
        value = outcome.get("value") if outcome is not None else None
        passing = _PASSING.get(self.facts.call.kind)
        if passing and isinstance(value, dict):
            value = {name: _worded(name, tree) for name, tree in value.items() if name not in passing}
        if not self.facts.call.pieces:
            return value
        pieces = [self.facts.step.log.filled(tree) for _, _, tree in self.facts.call.pieces]
        chunks = [binary(tree) for tree in pieces]
        # The network cuts an answer into chunks at random.
        whole = [chunk for chunk in chunks if chunk is not None]
        joined = _text(b"".join(whole)) if len(whole) == len(chunks) else pieces
        return {**value, "body": joined} if isinstance(value, dict) else joined

    @cached_property
    def error(self) -> str:
        """Its error on one line, or an empty text."""
        outcome = self.facts.call.outcome
        tree = outcome.get("error") if outcome is not None else None
        tree = tree or self.facts.call.end
        return settled(error_line(tree)) if isinstance(tree, dict) else ""

    @cached_property
    def spent(self) -> Spent:
        """Return time, tokens and cost of a step."""
        call = self.facts.model_call
        usage = call.usage if call is not None else None
        if call is None or usage is None:
            return Spent(self.facts.call.duration)
        return Spent(self.facts.call.duration, usage.input, usage.output, cost(call))

    @cached_property
    def words(self) -> frozenset[str]:
        """Some of its words, for an estimate of how alike two steps are."""
        if self.turn is None:
            texts = [codec.packed(self.facts.step.log.args(self.facts.call)), codec.packed(self.output)]
            parts = [text.decode("utf-8", "replace") for text in texts]
        else:
            answer = self.turn.call.answer
            messages = [*self.turn.new, *([answer] if answer is not None else [])]
            parts = [message.text for message in messages]
            parts += [f"{call.name} {call.args}" for message in messages for call in message.calls]
        # Only the ends of long texts: they are enough to recognise a page that a tool returned.
        ends = (part if len(part) < 2000 else f"{part[:1000]} {part[-1000:]}" for part in parts)
        return frozenset(_WORD.findall(settled(" ".join(ends))))

    def settings(self) -> Mapping[str, Tree]:
        """All arguments of a model call besides messages: model, settings, tools."""
        call = self.facts.call
        args = self.facts.step.log.args(call)
        if call.kind == "http":
            body = parsed(args.get("body"))
            return {**args, "body": _unspoken(body) if isinstance(body, dict) else body}
        assert self.turn is not None
        told = self.turn.call.messages[0].text if self.turn.call.messages else None
        # A program's own model function: its first argument, of any name, is the message.
        rest = {name: tree for name, tree in _unspoken(args).items() if tree != told or tree is None}
        return {"model": call.name, **rest}


def contents(facts: RecordingFacts) -> list[Content]:
    """All steps of a run."""
    return [Content(step) for step in facts]


def said(message: Message) -> list[Any]:
    """Return a message as it is compared: role, text, tool calls. Ids are left out."""
    calls = [[call.name, call.args] for call in message.calls]
    return [message.role, message.text.strip(), message.name, calls]


def fingerprint(tree: Any) -> bytes:
    """Return equal bytes for equal trees; replaced secrets of one kind count as equal."""
    data = codec.packed(tree)
    if any(mark in data for mark in _SETTLED):
        data = _same_everywhere(data.decode("utf-8", "replace")).encode()
    return blake2b(data, digest_size=16).digest()


def settled(tree: Tree) -> Tree:
    """Return a tree without the salts of replaced secrets and ports that a system chose."""
    if isinstance(tree, str):
        return _same_everywhere(tree)
    if isinstance(tree, dict):
        return {key: settled(item) for key, item in tree.items()}
    return [settled(item) for item in tree] if isinstance(tree, list) else tree


def _same_everywhere(text: str) -> str:
    if "[[secret:" in text:
        text = _SECRET.sub(r"\1]]", text)
    if "127.0.0.1:" in text or "localhost:" in text:
        text = _PORT.sub(r"\1:PORT", text)
    if "the page is " in text:
        text = _AGE.sub("the page is some seconds old", text)
    return text


def _unspoken(args: Mapping[str, Tree]) -> dict[str, Tree]:
    return {name: tree for name, tree in args.items() if name not in SPOKEN}


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"<{len(data)} bytes, blake2b {blake2b(data, digest_size=8).hexdigest()}>"
