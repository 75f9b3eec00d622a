"""Convert a recorded answer to text for an editor, and back.

The text is plain if that loses nothing: a text is itself, JSON is JSON, a stream of texts is their joined text. Values
of Python's own types keep their tags (docs/format.md). An error is `{"$raises": …}`.
"""

from __future__ import annotations

import builtins
from dataclasses import replace
from typing import Any

import orjson

from reenact.core.dataclass import dataclass
from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.model.plain import plain
from reenact.core.query.recorded_run import Step
from reenact.core.replay.watch import Edit
from reenact.errors import UsageError

RAISES = "$raises"
RETURNS = "$returns"


@dataclass(frozen=True, slots=True)
class EditedAnswer:
    """An answer in the editor.

    Attributes:
        answer: The original answer.
        text: The text to edit.
        suffix: The file's suffix, for the editor: `.txt` or `.json`.
        kept: The part of the answer that is not in the text, in a sentence; or empty.
    """

    answer: Edit
    text: str
    suffix: str
    kept: str = ""


def recorded(step: Step) -> Edit:
    """Return the recorded answer of a step, with its blobs; None as its value without an answer."""
    call, filled = step.call, step.log.filled
    outcome = call.outcome or {}
    if "error" in outcome:
        return Edit(error=filled(outcome["error"]))
    streamed = bool(call.pieces) or bool(outcome.get("stream"))
    pieces = tuple(filled(tree) for _, _, tree in call.pieces) if streamed else None
    return Edit(filled(outcome.get("value")), pieces)


def draft(answer: Edit) -> EditedAnswer:
    """Return the text in which an answer is edited."""
    if answer.error is not None:
        return EditedAnswer(answer, _json({RAISES: answer.error}), ".json")
    if answer.pieces is not None:
        kept = "the head of the stream stays unchanged" if answer.value is not None else ""
        whole = _joined(answer.pieces)
        if whole is None:
            return EditedAnswer(answer, _json(list(answer.pieces)), ".json", kept)
        return replace(_text(answer, whole), kept=kept)
    text = _words(answer.value)
    return EditedAnswer(answer, _json(answer.value), ".json") if text is None else _text(answer, text)


def edited(draft: EditedAnswer, text: str) -> Edit | None:
    """Return the answer of the edited text, or None if unchanged.

    Raises UsageError for an invalid text, in one line with the place.
    """
    if not draft.text.endswith("\n"):
        # Editors add a newline at the end of a file.
        text = text.removesuffix("\n")
    if text == draft.text:
        return None
    if draft.suffix == ".txt":
        return _of_text(draft.answer, text)
    tree = _parsed(text)
    if _is_text(draft.answer) and not (isinstance(tree, dict) and tree.keys() & {RAISES, RETURNS}):
        # JSON in a text was indented for reading: it becomes one line again.
        return _of_text(draft.answer, orjson.dumps(tree).decode())
    if draft.answer.error is not None and not (isinstance(tree, dict) and tree.keys() & {RAISES, RETURNS}):
        raise UsageError(f'an error is written {{"{RAISES}": …}}, an answer in its place {{"{RETURNS}": …}}')
    return _meant(draft.answer, tree)


def raising(text: str) -> Edit:
    """Return the answer that is an error, written `ValueError: no such order`.

    Raises UsageError for a name that Python does not have by itself and that names no module.
    """
    return Edit(error=_error(text))


def giving(text: str, before: Edit) -> Edit:
    """Return the answer that is written on one line: JSON, or the text itself.

    For a stream of text it is the whole text. Raises UsageError as `edited` does.
    """
    if _is_text(before):
        return _of_text(before, text)
    try:
        tree: Tree = orjson.loads(text)
    except ValueError:
        tree = text
    return _meant(before, tree)


def _meant(before: Edit, tree: Tree) -> Edit:
    """Return the answer of a hand-written tree."""
    if isinstance(tree, dict) and len(tree) == 1:
        if RAISES in tree:
            return Edit(error=_error(tree[RAISES]))
        if RETURNS in tree:
            return Edit(_sound(tree[RETURNS]))
    if before.pieces is None:
        return Edit(_sound(tree))
    if not isinstance(tree, list):
        raise UsageError("a stream is a list of its chunks: [ …, … ]")
    return Edit(before.value, tuple(_sound(piece) for piece in tree))


def forking(recording: str, step: int, edit: Edit | None) -> list[str]:
    """Return the command that forks at a step, with its edited answer if `--set` can express it."""
    words = ["reenact", "fork", recording, "--at", str(step)]
    if edit is None:
        return words
    if edit.error is not None:
        name = str(edit.error["type"]).removeprefix("builtins:")
        text = orjson.dumps(f"{name}: {edit.error['text']}").decode()
        return [*words, "--set", f"error = {text}"]
    if edit.pieces is None and b'"$' not in codec.dumps(edit.value):
        return [*words, "--set", f"output = {codec.dumps(edit.value).decode()}"]
    return words


# -- texts ---------------------------------------------------------------------------------------------------


def _words(tree: Tree) -> str | None:
    """Return the text of a tree, or of its bytes; None for other values."""
    if isinstance(tree, dict) and len(tree) == 1 and isinstance(tree.get("$utf8"), str):
        return str(tree["$utf8"])
    return tree if isinstance(tree, str) else None


def _joined(pieces: tuple[Tree, ...]) -> str | None:
    """Return the text of a stream of texts of one kind; None for other streams."""
    words = [_words(piece) for piece in pieces]
    if not words or len({isinstance(piece, str) for piece in pieces}) > 1:
        return None
    return None if None in words else "".join(word for word in words if word is not None)


def _is_text(answer: Edit) -> bool:
    if answer.error is not None:
        return False
    return (_words(answer.value) if answer.pieces is None else _joined(answer.pieces)) is not None


def _text(answer: Edit, text: str) -> EditedAnswer:
    """Return a text unchanged, or indented if it is a JSON object or list."""
    if text[:1] in ("{", "["):
        try:
            return EditedAnswer(answer, _json(orjson.loads(text)), ".json")
        except ValueError:
            pass
    return EditedAnswer(answer, text, ".txt")


def _of_text(before: Edit, text: str) -> Edit:
    """Return the answer with that text, of the same kind; of a stream, in one chunk."""
    like = before.value if before.pieces is None else before.pieces[0] if before.pieces else text
    tree: Tree = text if isinstance(like, str) else {"$utf8": text}
    if before.pieces is None:
        return Edit(tree)
    return Edit(_resized(before.value, len(text.encode())), (tree,) if text else ())


def _resized(head: Tree, size: int) -> Tree:
    """Update the length in an HTTP answer's head: clients rely on it."""
    headers = head.get("headers") if isinstance(head, dict) else None
    if not isinstance(headers, list):
        return head
    lengths = [
        [pair[0], str(size)] if isinstance(pair, list) and str(pair[0]).lower() == "content-length" else pair
        for pair in headers
    ]
    return {**head, "headers": lengths}


# -- JSON ----------------------------------------------------------------------------------------------------


def _json(tree: Any) -> str:
    try:
        return orjson.dumps(tree, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        # Lone surrogates: the codec escapes them.
        return orjson.dumps(orjson.loads(codec.dumps(tree)), option=orjson.OPT_INDENT_2).decode()


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(
            f"line {error.lineno}, column {error.colno}: this is no JSON ({error.msg})"
        ) from None


def _sound(tree: Tree) -> Tree:
    """Return the tree if it is valid."""
    try:
        codec.view(tree)
    except Exception as error:  # the type that a hand-written tag names may raise anything
        shown = orjson.dumps(plain(tree)).decode()[:60]
        raise UsageError(f"{shown} cannot be read as a value: {type(error).__name__}: {error}") from None
    return tree


def _error(written: Tree) -> Tree:
    if isinstance(written, dict) and isinstance(written.get("type"), str):
        tree = {"text": "", "args": [], **written}
        if not isinstance(tree["args"], list) or not isinstance(tree["text"], str):
            raise UsageError('an error has a "type", a "text" and a list of "args"')
        return tree
    if not isinstance(written, str):
        raise UsageError(
            'an error is written "ValueError: no such order", or as the object that was recorded'
        )
    name, _, text = (part.strip() for part in written.partition(":"))
    module, _, short = name.rpartition(".")
    kind = getattr(builtins, short, None) if not module else None
    if not module and not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise UsageError(
            f"'{name}' is not a built-in exception; name its module too: httpx.{name or 'ReadTimeout'}"
        )
    return {"type": f"{module or 'builtins'}:{short}", "text": text, "args": [text] if text else []}
