"""Answers in place of live calls: recorded, fixed or simulated, as the policy says."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import orjson

from reenact.core.boundary import entered
from reenact.core.model import codec
from reenact.core.model.event import Effect, Substitute
from reenact.core.model.log import CallRecord, Log
from reenact.core.model.plain import plain
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.fit import fit, with_body
from reenact.core.replay.policy import MODEL
from reenact.core.replay.rulings import ActionGuard, Ruling
from reenact.core.replay.terms import Terms
from reenact.core.replay.watch import Edit, edit_of
from reenact.errors import UsageError

_APART = frozenset(("browser", "model", "process", "socket", "websocket"))
"""Kinds whose answers are no values: a page, a command with its pipes, a connection."""

_EXAMPLES, _SHOWN = 12, 4000
"""The number of recorded examples that a model is shown, and their length in characters."""

_ASK = """\
You stand in for the tool {name} of an agent, which must not run for real now. Answer the last call as the tool would:
with the value that it returns, as JSON, and with nothing else. Keep the form of the recorded answers, and do not
contradict them.

{examples}
call: {args}
answer:"""


class NoSubstitute(Exception):
    """No answer can stand in for a live call, for a reason."""


class Substitutes:
    """Finds the answers that a ruling puts in the place of a live call.

    Args:
        log: The recorded process.
        terms: Puts arguments into the recording's terms.
        cursor: Compares questions.
        guard: Asks a model.
    """

    def __init__(self, log: Log, terms: Terms, cursor: Cursor, guard: ActionGuard) -> None:
        self._log = log
        self._terms = terms
        self._cursor = cursor
        self._guard = guard
        self._given: set[int] = set()

    def to(self, ruling: Ruling) -> Edit:
        """Return the answer of a ruling with a mode that gives one. Raises NoSubstitute."""
        effect = ruling.act.effect
        if ruling.mode == "recorded":
            return self._recorded(effect)
        if effect.kind in _APART:
            raise NoSubstitute(f"an effect of kind {effect.kind} cannot be {ruling.mode}")
        declared = ruling.given if isinstance(ruling.given, Substitute) else None
        try:
            if ruling.mode == "fixed":
                value = declared.given if declared is not None else _json(str(ruling.given))
            elif declared is not None or not str(ruling.given).startswith(MODEL):
                function = declared.given if declared is not None else _function(str(ruling.given))
                with entered(None):
                    value = function(**effect.args)
            else:
                value = self._modelled(effect, str(ruling.given).removeprefix(MODEL))
            return self._in_form(effect, value, stream=declared is not None and declared.stream)
        except UsageError as error:
            raise NoSubstitute(str(error)) from None
        except Exception as error:
            # The user's function stands in for the tool, and so do its errors.
            return Edit(error=codec.encode_error(error, codec.Encoder()))

    # -- recorded --------------------------------------------------------------------------------------------

    def _recorded(self, effect: Effect) -> Edit:
        """Return the recorded answer to an equal question, each one once while there are others."""
        args = self._terms.args(effect)
        self._terms.clean_args(args)
        found = [
            (call, edit)
            for call, edit in self._answers(effect)
            if self._cursor.equal(call, effect.label, args)
            and codec.flaw([edit.value, *(edit.pieces or ())]) is None
        ]
        if not found:
            raise NoSubstitute("it has no recorded answer to this")
        call, edit = next((pair for pair in found if pair[0].number not in self._given), found[-1])
        self._given.add(call.number)
        return edit

    def _answers(self, effect: Effect) -> list[tuple[CallRecord, Edit]]:
        """Return the recorded calls of that name with their answers."""
        calls = [call for call in self._log.calls.values() if call.label == effect.label]
        return [(call, edit) for call in calls if (edit := edit_of(self._log, call)) is not None]

    # -- fixed and simulated ---------------------------------------------------------------------------------

    def _in_form(self, effect: Effect, value: Any, *, stream: bool) -> Edit:
        """Return a value in the form of the recorded answers: types, a response, a stream."""
        old = next((edit for _, edit in reversed(self._answers(effect)) if edit.error is None), None)
        where = f"the answer to {effect.label}"
        if effect.kind == "http":
            old = old or self._any_response()
            if old is None or old.pieces is None:
                raise UsageError("the recording has no response whose form it could take")
            return with_body(old, value.encode() if isinstance(value, str) else orjson.dumps(value))
        if stream or (old is not None and old.pieces is not None):
            if not isinstance(value, (list, tuple)):
                raise UsageError(f"{where} is a stream: it is the list of its chunks")
            like = old.pieces if old is not None and old.pieces else (None,)
            pieces = (fit(like[min(at, len(like) - 1)], one, where) for at, one in enumerate(value))
            return Edit(None if old is None else old.value, tuple(pieces))
        return Edit(fit(None if old is None else old.value, value, where))

    def _any_response(self) -> Edit | None:
        calls = [call for call in self._log.calls.values() if call.kind == "http"]
        found = (edit_of(self._log, call) for call in calls)
        return next((edit for edit in found if edit is not None and edit.pieces is not None), None)

    def _modelled(self, effect: Effect, name: str) -> Any:
        """Ask a model for the answer, with recorded calls of the same name as examples."""
        ask: Callable[[str, str], str] | None = self._guard.ask_model
        if ask is None:
            raise UsageError("no model can be asked here")
        examples = "".join(
            f"call: {_shown(self._log.args(call))}\nanswer: {_shown(edit.error or edit.value or edit.pieces)}\n\n"
            for call, edit in self._answers(effect)[-_EXAMPLES:]
        )
        args = self._terms.args(effect)
        self._terms.clean_args(args)
        prompt = _ASK.format(name=effect.name, examples=examples, args=_shown(args))
        with entered(None):
            return _json(ask(name, prompt).strip().removeprefix("```json").strip("`").strip())


def _shown(tree: Any) -> str:
    return orjson.dumps(plain(tree), default=str).decode()[:_SHOWN]


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _function(name: str) -> Callable[..., Any]:
    """Return the function that `module:function` names. Raises UsageError."""
    module, _, path = name.partition(":")
    try:
        with entered(None):
            found: Any = importlib.import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"simulated:{name} cannot be imported ({error})") from None
    if not callable(found):
        raise UsageError(f"simulated:{name} is no function")
    return found  # type: ignore[no-any-return]
