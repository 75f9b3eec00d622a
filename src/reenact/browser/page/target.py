"""Identities of elements: role, name, record, region and frame.

The identity in a good run is compared with that of the found element before the element is acted on. Digits count:
`Invoice 18` is not `Invoice 17`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reenact.browser.page.wording import same_name, says
from reenact.errors import ActionError

FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "listbox", "slider"})
"""Roles of elements that are written into or chosen from."""


@dataclass(frozen=True, slots=True)
class TargetIdentity:
    """The identity of an element: *the button "Delete" of the record "Invoice 18"*.

    Attributes:
        role: Its role.
        name: Its name: shown, slotted or labelled; empty for none.
        long: A hash of the whole name if it is cut.
        record: The key text of its record, the nearest ancestor that repeats; None if unknown.
        region: The name of the dialog, list, table or landmark around it, else the heading before it.
        icon: Its picture, as `eyes.js` describes it; it counts only without a name.
        dialog: True if the region is a dialog.
        frames: The selectors of the frames around it.
        texts: All texts of its record.
        near: The texts beside it.
        marks: Its lasting attributes: test id, id, field name.
        path: Its place in the page.
        heading: The heading before it.
        column: The heading of its column in a table.
        twin: True if its row has others of its name, so that only the column distinguishes them.
        group: The caption, record or heading above its record.
        namesake: True if a record elsewhere, in another group, has the same key.
        shared: The texts of its record that a record beside it has, too.
        joint: True if only all texts together distinguish its record from those beside it.
        outline: The headings above it, the nearest first.
        section: The heading of its part of the page, else the label of the form or group around it.
        question: The texts of the dialog around it.
        text: Its visible text, if its name is a label.
        title: Its title, which explains a name without letters.
        choice: For a box to tick, the name of its group and its value.
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
    group: str = ""
    namesake: bool = False
    long: str = ""
    shared: tuple[str, ...] = ()
    joint: bool = False
    outline: tuple[str, ...] = ()
    section: str = ""
    question: tuple[str, ...] = ()
    text: str = ""
    title: str = ""
    choice: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, fingerprint: Mapping[str, Any]) -> TargetIdentity:
        """Return the identity in a fingerprint. Fingerprints of older recordings have no record."""
        record = fingerprint.get("record") or {}
        region = fingerprint.get("region") or {}
        column = fingerprint.get("column") or {}
        texts = tuple(str(one) for one in record.get("texts") or ())
        # A clickable record is identified by its key, because its name is all its texts.
        whole = fingerprint.get("role") not in FIELDS and len(texts) > 1
        name = str(fingerprint.get("name") or fingerprint.get("caption") or "")
        attributes = fingerprint.get("attributes") or {}
        marks = [(kind, str(attributes[kind])) for kind in _MARKS if attributes.get(kind)]
        return cls(
            role=str(fingerprint.get("role") or ""),
            name="" if whole and all(says(name, one) for one in texts[:3]) else name,
            record=str(record.get("key") or "") if "record" in fingerprint else None,
            region=str(region.get("name") or fingerprint.get("heading") or ""),
            icon=str(fingerprint.get("icon") or ""),
            dialog=region.get("role") == "dialog",
            frames=tuple(fingerprint.get("frames") or ()),
            texts=texts,
            near=tuple(str(one) for one in fingerprint.get("near") or ()),
            marks=tuple(marks),
            path=str(fingerprint.get("path") or ""),
            heading=str(fingerprint.get("heading") or ""),
            column=str(column.get("name") or ""),
            twin=bool(column.get("twin")),
            group=str(record.get("within") or ""),
            namesake=bool(record.get("twin")),
            long=str(fingerprint.get("long") or ""),
            shared=tuple(str(one) for one in record.get("shared") or ()),
            joint=bool(record.get("joint")),
            outline=tuple(str(one) for one in fingerprint.get("outline") or ()),
            section=str(
                fingerprint.get("section")
                or (region.get("name") if region.get("role") in _SECTIONS else "")
                or ""
            ),
            question=tuple(str(one) for one in region.get("texts") or ()),
            text=str(fingerprint.get("text") or ""),
            title=str(attributes.get("title") or ""),
            choice=_choice(attributes),
        )

    @property
    def shown(self) -> dict[str, str]:
        """The readable parts: role, name, record, region, icon; those that are not empty."""
        parts = {"role": self.role, "name": self.name, "record": self.record or "", "region": self.region}
        if not self.name:
            parts["icon"] = self.icon
        if self.namesake:
            parts["group"] = self.group
        if self.twin and not same_name(self.name, self.column):
            parts["column"] = self.column
        return {name: value for name, value in parts.items() if value}

    @property
    def compared(self) -> tuple[Any, ...]:
        """All parts in which two good runs of a step may differ."""
        return tuple(self.shown.items()), self.outline, self.section, self.question, self.title

    def __str__(self) -> str:
        words = self.role or "element"
        if self.name:
            words += f' "{self.name}"'
        elif self.icon:
            words += f" with the picture {self.icon[:60]}"
        if self.record:
            words += f' of the record "{self.record}"'
        if "group" in self.shown:
            words += f' under "{self.group}"'
        if "column" in self.shown:
            words += f' in the column "{self.column}"'
        if self.region:
            words += f' in "{self.region}"'
        return words + (" in a frame" if self.frames else "")


def _choice(attributes: Mapping[str, Any]) -> tuple[str, str]:
    if attributes.get("type") not in {"radio", "checkbox"}:
        return "", ""
    return str(attributes.get("name") or ""), str(attributes.get("value") or "")


_SECTIONS = frozenset({
    "form", "grid", "group", "listbox", "menu", "radiogroup", "region", "table", "tabpanel", "toolbar", "tree",
})  # fmt: skip
"""Roles of elements that divide a page into parts, or belong to one part, as a menu does."""

_MARKS = ("data-testid", "data-test-id", "data-test", "id", "name")


@dataclass(frozen=True, slots=True)
class KnownTarget:
    """The known facts of a step's element before the step is done.

    Attributes:
        pasts: Its identity in earlier good runs, each different one once.
        written: The parts that the script states (`expect_target=`).
        words: The text by which the script's selector names the element; empty for none.
        context: The other texts of the selector, such as its record's.
        codes: The words in the selector's ids, values and addresses.
        seconds: The longest time that its element took to appear in a good run.
        like: The newest fingerprint, or None.
        writes: The requests of good runs that may change something (`writes.Written`). The first one of the step is
            compared with them before it is sent.
        whole: True if its path and body must be equal, too.
    """

    pasts: tuple[TargetIdentity, ...] = ()
    written: Mapping[str, str] | None = None
    words: str = ""
    context: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    seconds: float = 0.0
    like: Mapping[str, Any] | None = None
    writes: tuple[Mapping[str, Any], ...] = ()
    whole: bool = False

    @property
    def meant(self) -> str:
        """The identity in words."""
        if self.written is not None:
            return str(written_identity(self.written))
        if self.pasts:
            return str(self.pasts[0])
        record = f' of "{self.context[0]}"' if self.context else ""
        name = self.words or next(iter(self.codes), "")
        return "the element" + (f' "{name}"' if name else "") + record

    @property
    def worded(self) -> bool:
        """True if only the selector's words identify the element."""
        return not self.pasts and self.written is None and bool(self.words or self.context or self.codes)


@dataclass(frozen=True, slots=True)
class TargetDifference:
    """A part in which an element differs: `part` and both values.

    Attributes:
        sure: False if only words of the selector raise the doubt, which outside of a block does not stop the step.
    """

    part: str
    meant: str
    found: str
    sure: bool = True


_STATED = ("role", "name", "record", "icon")
"""The parts of an element that a remedy states, and for an element of a dialog its region."""


class DriftedTarget(ActionError):
    """The selector found another element than the step's own; nothing was done.

    Attributes:
        found: The found element.
        sure: True if a difference is certain.
        facts: `meant` and `found` in words, `differs` (the parts), and `identity`, the found element's parts.
    """

    def __init__(
        self, known: KnownTarget, found: TargetIdentity, differs: Sequence[TargetDifference]
    ) -> None:
        super().__init__(self.sentence(known, found, differs))
        self.found = found
        self.sure = any(one.sure for one in differs)
        self.facts: dict[str, Any] = {
            "reason": "drifted",
            "meant": known.meant,
            "found": str(found),
            "differs": {one.part: [one.meant, one.found] for one in differs},
            "identity": found.shown,
        }

    @property
    def accepted(self) -> str:
        """The ways to continue."""
        stated = (*_STATED, "region") if self.found.dialog else _STATED
        parts = {part: value for part, value in self.found.shown.items() if part in stated}
        return f'If it is right, run the step once with drift="warn", or state it: expect_target={parts}'

    def sentence(self, known: KnownTarget, found: TargetIdentity, differs: Sequence[TargetDifference]) -> str:
        """Return the differences in words."""
        parts = [one.part for one in differs]
        listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        return (
            f"drifted, and nothing was done: the step means {known.meant}; its selector now finds {found} "
            f"({listed} {'differs' if len(parts) == 1 else 'differ'})"
        )


class AmbiguousTarget(DriftedTarget):
    """An element of another record meets `expect_target`, too; nothing was done.

    Attributes:
        facts: As for `DriftedTarget`; `reason` is `ambiguous`, and `also` the other element in words.
    """

    @property
    def accepted(self) -> str:
        """The ways to continue."""
        return 'Add the texts of the record that tell them apart, or its region: of "Lamp, 40 EUR", say'

    def __init__(self, known: KnownTarget, found: TargetIdentity, other: TargetIdentity) -> None:
        self._other = other
        super().__init__(known, found, ())
        self.facts |= {"reason": "ambiguous", "also": _whole(other), "found": _whole(found)}

    def sentence(self, known: KnownTarget, found: TargetIdentity, differs: Sequence[TargetDifference]) -> str:
        """Return both elements, in words."""
        return (
            f"ambiguous, and nothing was done: expect_target states {known.meant}; its selector finds "
            f"{_whole(found)}, and {_whole(self._other)} is stated, too"
        )


def _whole(one: TargetIdentity) -> str:
    """Return an identity with all texts of its record."""
    return str(replace(one, record=", ".join(one.texts[:4]) or one.record))


# -- identities written by hand --------------------------------------------------------------------------------

_WRITTEN = re.compile(
    r'^(?:(?P<role>[a-z]+) )?"(?P<name>[^"]+)"'
    r'(?: of (?:the record )?"(?P<record>[^"]+)")?(?: in (?:the \w+ )?"(?P<region>[^"]+)")?$'
)
PARTS = ("role", "name", "record", "region", "icon")


def written_parts(given: str | Mapping[str, Any]) -> dict[str, str]:
    """Return the parts of an identity that a script states.

    It is a dict of `role`, `name`, `record`, `region`, `icon`; a sentence, `button "Delete" of "Invoice 18" in
    "Invoices"`; or a name alone. Raises ValueError.
    """
    if isinstance(given, str):
        found = _WRITTEN.match(given.strip())
        parts = {"name": given.strip()} if found is None else found.groupdict()
    else:
        parts = dict(given)
    if unknown := [name for name in parts if name not in PARTS]:
        raise ValueError(f"expect_target has no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    parts = {name: str(value).strip() for name, value in parts.items() if value is not None}
    if not parts or not all(parts.values()):
        raise ValueError('expect_target is empty; write button "Delete" of "Invoice 18", say')
    return parts


def written_identity(parts: Mapping[str, str]) -> TargetIdentity:
    """Return the identity of the parts that a script states."""
    return TargetIdentity(**{name: str(value) for name, value in parts.items()})  # type: ignore[arg-type]
