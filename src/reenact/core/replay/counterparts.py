"""Match the questions of two runs: by content, by their new part, by their place.

Two runs of one agent soon send different chats, since each call sends the whole history again. So the question of
a model call is read in two ways: with its history, and without (the messages after its own last one).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from reenact.core.align import Pairing
from reenact.core.dataclass import dataclass
from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.model.log import CallRecord, Log
from reenact.core.model.plain import compact, error_line, plain
from reenact.core.patterns import lazy
from reenact.core.replay.question import Question

if TYPE_CHECKING:
    from reenact.core.messages import Message, ModelCall

_SECRET = lazy(rb"\[\[secret:([a-z0-9\-]+):[0-9a-f]{8}\]\]")


@dataclass(frozen=True, slots=True)
class DetachedQuestion:
    """A question, apart from its run.

    Attributes:
        whole: A hash of the label and the question. Of a model call: its messages, without ids and times.
        news: The same without the history that a model call repeats.
    """

    whole: bytes
    news: bytes


def asked(log: Log, call: CallRecord) -> DetachedQuestion:
    """Return the question of a recorded call."""
    found = _model_call(log, call)
    if found is not None:
        return _of_model(call.kind, found)
    args = log.args(call)
    if call.kind == "http":
        # Headers differ from run to run though the question is the same.
        args = {name: tree for name, tree in args.items() if name != "headers"}
    whole = _digest([call.label, args])
    return DetachedQuestion(whole, whole)


class QuestionReader:
    """Reads the questions of a running program in the form that recorded ones have."""

    def __init__(self) -> None:
        self._log = Log((), _no_blobs)
        self._count = 0

    def asked(self, question: Question) -> DetachedQuestion:
        """Return the content of a question."""
        self._count += 1
        called = {"kind": question.effect.kind, "name": question.effect.name, "args": question.trees}
        return asked(self._log, CallRecord(self._count, called))


def answer(log: Log, call: CallRecord) -> bytes | None:
    """Return a call's answer in a form that can be compared between runs.

    Of a model call: its text and its tool calls. Of an HTTP exchange: status and body. None if there is no answer
    that could be given again.
    """
    outcome = call.outcome
    if outcome is None or outcome["event"] == "cancelled":
        return None
    if outcome["event"] == "raised":
        return unmarked(error_line(outcome["error"]).encode("utf-8", "surrogatepass"))
    found = _model_call(log, call)
    if found is not None and found.embedded is None and (found.answer is not None or found.problem):
        said = [_said(found.answer)] if found.answer is not None else []
        return unmarked(codec.packed([*said, found.problem]))
    value: Tree = log.filled(outcome.get("value"))
    if call.kind == "http" and isinstance(value, dict) and "status" in value:
        value = {"status": value["status"]}
    end = error_line(call.end) if isinstance(call.end, dict) else None
    pieces = [plain(log.filled(tree)) for _, _, tree in call.pieces]
    if all(isinstance(piece, str) for piece in pieces):
        pieces = ["".join(pieces)]
    return unmarked(codec.packed([value, pieces, end]))


def align(one: Log, other: Log) -> dict[int, int]:
    """Map each call of a process to its counterpart in another run.

    Equal questions match first, then those with equal news, then those that share only their place. A call without a
    counterpart is left out.
    """
    sides = [[(call, asked(log, call)) for call in log.calls.values()] for log in (one, other)]
    pairing = Pairing(*sides)
    pairing.anywhere(lambda each: (each[0].scope, each[1].whole))
    pairing.anywhere(lambda each: each[1].whole)
    pairing.anywhere(lambda each: (each[0].scope, each[1].news))
    pairing.anywhere(lambda each: each[1].news)
    pairing.anywhere(lambda each: (each[0].scope, each[0].label, each[0].ordinal))
    return {sides[0][i][0].number: sides[1][j][0].number for i, j in pairing.mates.items()}


def _model_call(log: Log, call: CallRecord) -> ModelCall | None:
    from reenact.core.messages import read  # noqa: PLC0415 - for replays of edited programs

    return read(log, call)


def _of_model(kind: str, call: ModelCall) -> DetachedQuestion:
    messages = [_said(message) for message in call.messages]
    last = max((at for at, message in enumerate(call.messages) if message.role == "assistant"), default=-1)
    head = ["model", call.model if kind == "model" else "", sorted(call.tools)]
    return DetachedQuestion(_digest([head, messages]), _digest([head, messages[last + 1 :]]))


def _digest(tree: Tree) -> bytes:
    """Return a hash, as the whole questions of a long chat would fill the memory."""
    return hashlib.blake2b(unmarked(codec.packed(tree)), digest_size=16).digest()


def _said(message: Message) -> list[str]:
    calls = [f"{call.name}({compact(call.args)})" for call in message.calls]
    return [message.role, message.text.strip(), message.name, *calls]


def unmarked(data: bytes) -> bytes:
    """Return the bytes with comparable tokens: a secret has another one in each recording."""
    return _SECRET.sub(rb"[[secret:\1]]", data) if b"[[secret:" in data else data


def _no_blobs(address: str) -> bytes:
    raise LookupError(address)
