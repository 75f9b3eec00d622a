"""Identities of elements: role, name, record, region and frame; and their comparison.

The identity of a good run is compared with that of the element found now, before anything happens. Digits are kept:
`Invoice 18` is not `Invoice 17`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reenact.browser.page.synonyms import meaning
from reenact.errors import ActionError

_PRESSED = frozenset({
    "button", "link", "menuitem", "tab", "option", "summary", "generic", "treeitem", "img", "listitem", "cell", "row",
    "text", "paragraph", "heading", "presentation", "none", "gridcell",
})  # fmt: skip
_FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "listbox", "slider"})
_TICKED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})

GRAVE = frozenset({
    "delete", "remove", "erase", "destroy", "discard", "cancel", "reset", "clear", "unsubscribe", "deactivate",
    "terminate", "wipe", "drop", "revoke", "uninstall", "logout", "pay", "buy", "purchase", "order", "checkout",
    "transfer", "send", "submit", "publish", "confirm", "block", "ban", "report", "archive", "close", "suspend",
    "refund", "charge", "withdraw", "approve", "reject", "decline", "merge", "signout", "payment", "forget",
    "disable", "expel", "evict", "purge", "void", "trash", "kick", "leave", "quit", "shutdown", "restart", "deploy",
    "löschen", "entfernen", "abbrechen", "verwerfen", "kaufen", "bezahlen", "senden", "abmelden", "kündigen",
    "supprimer", "effacer", "annuler", "retirer", "acheter", "payer", "envoyer",
    "eliminar", "borrar", "cancelar", "quitar", "comprar", "pagar", "enviar",
    "elimina", "cancella", "annulla", "rimuovi", "acquista", "paga", "invia", "verwijderen", "annuleren", "kopen",
})  # fmt: skip
"""Words with serious consequences: an element with one never replaces an element without it."""

OTHER = frozenset({
    "draft", "copy", "as", "new", "another", "later", "template", "all", "and", "next", "not", "without", "dont", "no",
    "un", "confirm", "repeat", "again", "retype", "verify", "old", "current", "previous", "other", "second",
    "alternative", "everywhere", "everything", "recovery", "backup", "permanently", "forever", "selected", "bulk",
    "each", "every", "entire", "also", "team", "account", "workspace", "devices", "sessions",
})  # fmt: skip
"""Words that turn a name into a different one: `Save`, and `Save as draft`."""

_PHRASES = re.compile(r"\b(?:sign|log) ?(?:out|off)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\(\s*(?:\d+\+?|required|optional)\s*\)|\*|\b(?:required|optional)$", re.IGNORECASE)
_COUNT = re.compile(r"^\d+(?= [^\W\d])")
_TIMELY = re.compile(
    r"\d ?(s|secs?|seconds?|min|mins|minutes?|h|hours?|days?)\b|\d{1,2}:\d{2}|\bago\b", re.IGNORECASE
)
_NAMED_KEY = re.compile(r"@|^#\d+$|[^\W\d].*?\d+$|^\d{3,}$")


def tokens(text: str) -> list[str]:
    """Return the words of a name in lower case, digits kept, without counts in brackets."""
    return re.sub(r"[\W_]+", " ", _ASIDE.sub(" ", text)).casefold().split()


def same_name(one: str, other: str) -> bool:
    """Return True if two names are the same, or synonyms. A longer name is another one."""
    mine, its = tokens(one), tokens(other)
    if not mine or not its:
        return one.split() == other.split()
    return mine == its or "".join(mine) == "".join(its) or meaning(" ".join(mine)) == meaning(" ".join(its))


def says(text: str, words: str) -> bool:
    """Return True if a text contains the words as whole words, digits kept."""
    mine, its = f" {' '.join(tokens(text))} ", " ".join(tokens(words))
    return bool(its) and f" {its} " in mine


def grave(text: str) -> set[str]:
    """Return the words of a text that have serious consequences."""
    found = set(tokens(text)) & GRAVE
    return found | ({"sign out"} if _PHRASES.search(text) else set())


def extends(words: str, name: str) -> bool:
    """Return True if a name says more than the words: `Sign out everywhere` for `Sign out`."""
    return says(name, words) and tokens(name) != tokens(words)


@dataclass(frozen=True, slots=True)
class TargetIdentity:
    """The identity of an element: *the button "Delete" of the record "Invoice 18"*.

    Attributes:
        role: Its role.
        name: Its name: shown, slotted or labelled; empty for none.
        record: The key text of the record that it belongs to: the nearest ancestor that repeats. None where unknown.
        region: The name of the dialog, list, table or landmark around it, else the heading before it.
        icon: Its picture, as `eyes.js` describes one; it counts only without a name.
        dialog: True if the region is a dialog.
        frames: The selectors of the frames around it.
        texts: All texts of its record.
        near: The texts beside it.
        marks: Its lasting attributes: test id, id, field name.
        path: Its place in the page.
        heading: The heading before it.
        column: The heading of its column in a table.
        twin: True if its row has others of its name, so that the column tells them apart.
    """

    role: str = ""
    name: str = ""
    record: str | None = None
    region: str = ""
    icon: str = ""
    dialog: bool = False
    frames: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    marks: tuple[tuple[str, str], ...] = ()
    path: str = ""
    heading: str = ""
    column: str = ""
    twin: bool = False

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> TargetIdentity:
        """Return the identity in a fingerprint. Those of older recordings have no record."""
        record = told.get("record") or {}
        region = told.get("region") or {}
        column = told.get("column") or {}
        texts = tuple(str(one) for one in record.get("texts") or ())
        # A clickable record is known by its key: its name is all its texts.
        whole = told.get("role") not in _FIELDS and len(texts) > 1
        name = str(told.get("name") or told.get("caption") or "")
        attributes = told.get("attributes") or {}
        marks = [(kind, str(attributes[kind])) for kind in _MARKS if attributes.get(kind)]
        return cls(
            role=str(told.get("role") or ""),
            name="" if whole and all(says(name, one) for one in texts[:3]) else name,
            record=str(record.get("key") or "") if "record" in told else None,
            region=str(region.get("name") or told.get("heading") or ""),
            icon=str(told.get("icon") or ""),
            dialog=region.get("role") == "dialog",
            frames=tuple(told.get("frames") or ()),
            texts=texts,
            near=tuple(str(one) for one in told.get("near") or ()),
            marks=tuple(marks),
            path=str(told.get("path") or ""),
            heading=str(told.get("heading") or ""),
            column=str(column.get("name") or ""),
            twin=bool(column.get("twin")),
        )

    @property
    def shown(self) -> dict[str, str]:
        """The readable parts: role, name, record, region, icon; those that are not empty."""
        told = {"role": self.role, "name": self.name, "record": self.record or "", "region": self.region}
        if not self.name:
            told["icon"] = self.icon
        if self.twin and not same_name(self.name, self.column):
            told["column"] = self.column
        return {name: value for name, value in told.items() if value}

    def __str__(self) -> str:
        words = self.role or "element"
        if self.name:
            words += f' "{self.name}"'
        elif self.icon:
            words += f" with the picture {self.icon[:60]}"
        if self.record:
            words += f' of the record "{self.record}"'
        if "column" in self.shown:
            words += f' in the column "{self.column}"'
        if self.region:
            words += f' in "{self.region}"'
        return words + (" in a frame" if self.frames else "")


_MARKS = ("data-testid", "data-test-id", "data-test", "id", "name")


@dataclass(frozen=True, slots=True)
class KnownTarget:
    """The known facts of a step's element before the step is done.

    Attributes:
        pasts: Its identity in earlier good runs, each different one once.
        written: The parts that the script states (`expect_target=`).
        words: The text by which the script's selector names the element; empty for none.
        context: The other texts of the selector, such as its record's.
        seconds: The longest time that its element took to appear in a good run.
        like: The newest fingerprint, or None.
        writes: The requests of good runs that may change something (`writes.Written`): the first one of the step is
            compared with them before it is let go.
        whole: True if it must be equal in path and body.
    """

    pasts: tuple[TargetIdentity, ...] = ()
    written: Mapping[str, str] | None = None
    words: str = ""
    context: tuple[str, ...] = ()
    seconds: float = 0.0
    like: Mapping[str, Any] | None = None
    writes: tuple[Mapping[str, Any], ...] = ()
    whole: bool = False

    @property
    def meant(self) -> str:
        """The identity in words."""
        if self.written is not None:
            return str(written_identity(self.written))
        return str(self.pasts[0]) if self.pasts else f'the element "{self.words}"'


@dataclass(frozen=True, slots=True)
class TargetDifference:
    """A part in which an element is another one: `part` and both values."""

    part: str
    meant: str
    found: str


class DriftedTarget(ActionError):
    """The selector found another element than the step means; nothing was done.

    Attributes:
        facts: `meant` and `found` in words, `differs` (the parts), and `identity`, the found element's parts.
    """

    def __init__(
        self, known: KnownTarget, found: TargetIdentity, differs: Sequence[TargetDifference]
    ) -> None:
        parts = [one.part for one in differs]
        listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        super().__init__(
            f"drifted, and nothing was done: the step means {known.meant}; its selector now finds {found} "
            f"({listed} {'differs' if len(parts) == 1 else 'differ'})"
        )
        self.facts: dict[str, Any] = {
            "reason": "drifted",
            "meant": known.meant,
            "found": str(found),
            "differs": {one.part: [one.meant, one.found] for one in differs},
            "identity": found.shown,
        }


def differences(known: KnownTarget, found: TargetIdentity, told: Mapping[str, Any]) -> list[TargetDifference]:
    """Return the parts in which a found element is not the known one; empty if it is.

    Args:
        known: The known target.
        found: The found element's identity.
        told: Its fingerprint.
    """
    if known.written is not None:
        return _against(known.written, found)
    if known.pasts:
        return _all_against(known.pasts, found)
    return _against_words(known.words, found, told)


def exact(wanted: TargetIdentity, found: TargetIdentity) -> str:
    """Return the reason that a candidate is not exactly the wanted element, or ""."""
    found_differences = _between(wanted, found, bound=_BOUND)
    if found_differences:
        one = found_differences[0]
        return f"its {one.part} is {one.found!r}, not {one.meant!r}"
    same = set(wanted.marks) & set(found.marks) or (wanted.path == found.path and wanted.near == found.near)
    if not wanted.name and not wanted.icon and not same:
        return "it has no name and no picture that identify it"
    return ""


def belongs(found: TargetIdentity, told: Mapping[str, Any], text: str) -> bool:
    """Return True if its record, name, region or a neighbour says a text."""
    around = (found.record or "", " ".join(found.texts), *found.texts, found.name, found.region, *found.near)
    return any(
        says(one, text) for one in (*around, str(told.get("text") or ""), str(told.get("heading") or ""))
    )


def contradiction(wanted: TargetIdentity, found: TargetIdentity) -> str:
    """Return the reason that it has another record, dialog or frame, or ""."""
    parts = [_frame(wanted, found), _dialog(wanted, found), _record(wanted, found), _column(wanted, found)]
    one = next((part for part in parts if part is not None), None)
    return "" if one is None else f"its {one.part} is {one.found!r}, not {one.meant!r}"


_BOUND = frozenset({"name", "record"})


def _all_against(pasts: Sequence[TargetIdentity], found: TargetIdentity) -> list[TargetDifference]:
    """Compare with all good runs: a part that differs among them is not binding."""
    bound = set()
    if all(same_name(pasts[0].name, one.name) for one in pasts[1:]):
        bound.add("name")
    if all(pasts[0].record == one.record for one in pasts[1:]):
        bound.add("record")
    each = [_between(one, found, bound=frozenset(bound)) for one in pasts]
    best = min(each, key=len)
    if not best and "name" not in bound:
        known = set().union(*(grave(one.name) for one in pasts))
        if more := grave(found.name) - known:
            return [TargetDifference("grave word", ", ".join(sorted(known)) or "none", min(more))]
    return best


def _between(
    wanted: TargetIdentity, found: TargetIdentity, *, bound: frozenset[str]
) -> list[TargetDifference]:
    parts = [_role(wanted, found), _frame(wanted, found), _dialog(wanted, found)]
    if "record" in bound:
        parts.append(_column(wanted, found))
    if "name" in bound:
        parts.append(_name(wanted, found))
    if "record" in bound:
        parts.append(_record(wanted, found))
    return [one for one in parts if one is not None]


def _role(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if not wanted.role or not found.role or wanted.role == found.role:
        return None
    if any({wanted.role, found.role} <= group for group in (_PRESSED, _FIELDS, _TICKED)):
        return None
    return TargetDifference("role", wanted.role, found.role)


def _frame(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if len(wanted.frames) == len(found.frames):
        return None
    return TargetDifference("frame", " > ".join(wanted.frames) or "none", " > ".join(found.frames) or "none")


def _dialog(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if not wanted.dialog and not found.dialog:
        return None
    if wanted.dialog == found.dialog and same_name(wanted.region, found.region):
        return None
    if wanted.record is None:
        return None  # an older recording, which knows no regions
    return TargetDifference(
        "dialog", wanted.region if wanted.dialog else "none", found.region if found.dialog else "none"
    )


def _column(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if not wanted.twin or same_name(wanted.column, found.column):
        return None
    return TargetDifference("column", wanted.column, found.column or "none")


def _name(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if wanted.name:
        if same_name(wanted.name, found.name):
            return None
        return TargetDifference("name", wanted.name, found.name or found.icon or "none")
    if wanted.icon:
        if wanted.icon == found.icon:
            return None
        return TargetDifference("picture", wanted.icon, found.name or found.icon or "none")
    if set(wanted.marks) & set(found.marks) and not grave(found.name):
        return None
    if not found.name and (wanted.path == found.path or set(wanted.near) & set(found.near)):
        return None
    if wanted.record is None and not grave(found.name):
        return None  # an older recording, which knows less
    return TargetDifference("name", "none", found.name or found.icon or "none, at another place")


def _record(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if wanted.record is None or (not wanted.texts and not wanted.record):
        return _without_record(wanted, found)
    if not wanted.record:
        return None  # nothing told it from the records beside it
    texts = found.texts or (*found.near, found.name, found.region, found.heading)
    if not any(tokens(one) == tokens(wanted.record) for one in texts) and not (
        not found.texts and any(says(one, wanted.record) for one in texts)
    ):
        return TargetDifference("record", wanted.record, found.record or " ".join(found.texts[:3]) or "none")
    if found.texts and not _NAMED_KEY.search(wanted.record) and _all_others_differ(wanted, found):
        return TargetDifference("record", " ".join(wanted.texts[:4]), " ".join(found.texts[:4]))
    return None


def _without_record(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    """Compare an element that had no record with one that has one: the texts beside it decide."""
    if wanted.record is None or not found.record or not wanted.near:
        return None
    around = " ".join((*found.near, *found.texts))
    if any(says(around, one) for one in wanted.near):
        return None
    return TargetDifference("record", wanted.near[0], found.record)


def _all_others_differ(wanted: TargetIdentity, found: TargetIdentity) -> bool:
    """Return True if a record has several texts, and none but its key is the wanted one's."""
    others = [one for one in wanted.texts if one != wanted.record and not _TIMELY.search(one)]
    have = {_COUNT.sub("#", one) for one in found.texts}
    return bool(others) and not any(_COUNT.sub("#", one) in have for one in others)


def _against(written: Mapping[str, str], found: TargetIdentity) -> list[TargetDifference]:
    parts = []
    for part, value in written.items():
        has = str(getattr(found, part) or "")
        if part == "record":
            fits = any(says(one, value) for one in (found.record or "", *found.texts))
        elif part == "role":
            fits = value == has
        else:
            fits = tokens(value) == tokens(has)
        if not fits:
            parts.append(TargetDifference(part, value, has or "none"))
    return parts


def _against_words(words: str, found: TargetIdentity, told: Mapping[str, Any]) -> list[TargetDifference]:
    """Compare with the selector's own text: a longer name with grave words is another one."""
    names = [found.name, *(str(told.get(one) or "") for one in ("text", "label"))]
    if not words or any(same_name(words, one) for one in names if one):
        return []
    longer = next((one for one in names if says(one, words)), "")
    extra = set(tokens(longer)) - set(tokens(words))
    if not longer or not (extra & (GRAVE | OTHER) or (extra and grave(words))):
        return []
    return [TargetDifference("name", words, longer)]


# -- identities written by hand --------------------------------------------------------------------------------

_WRITTEN = re.compile(
    r'^(?:(?P<role>[a-z]+) )?"(?P<name>[^"]+)"'
    r'(?: of (?:the record )?"(?P<record>[^"]+)")?(?: in (?:the \w+ )?"(?P<region>[^"]+)")?$'
)
PARTS = ("role", "name", "record", "region")


def written_parts(given: str | Mapping[str, Any]) -> dict[str, str]:
    """Return the parts of an identity that a script states.

    It is a dict of `role`, `name`, `record`, `region`; a sentence, `button "Delete" of "Invoice 18" in "Invoices"`; or
    a name alone. Raises ValueError.
    """
    if isinstance(given, str):
        found = _WRITTEN.match(given.strip())
        parts = {"name": given.strip()} if found is None else found.groupdict()
    else:
        parts = dict(given)
    if unknown := [name for name in parts if name not in PARTS]:
        raise ValueError(f"expect_target has no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    told = {name: str(value).strip() for name, value in parts.items() if value is not None}
    if not told or not all(told.values()):
        raise ValueError('expect_target is empty; write button "Delete" of "Invoice 18", say')
    return told


def written_identity(parts: Mapping[str, str]) -> TargetIdentity:
    """Return the identity of the parts that a script states."""
    return TargetIdentity(**{name: str(value) for name, value in parts.items()})  # type: ignore[arg-type]
