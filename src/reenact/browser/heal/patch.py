"""Write learned selectors as a patch of the user's script: a unified diff for review.

Only verified heals change the script, and only the selector's literal is replaced. All other heals are listed as
comments on top.
"""

from __future__ import annotations

import ast
import difflib
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from reenact.browser.heal.heal_record import AGENT, HealRecord, digest
from reenact.browser.heal.learned_selectors import PatchTrial, learned
from reenact.browser.heal.source import ScriptSource, UnchangeableSelector
from reenact.core import git
from reenact.errors import UsageError

WIDTH = 100
"""Columns of a line; a literal that makes its line longer is split over several lines."""


class _AlreadyLearned(Exception):
    """The script has the learned selector already."""


@dataclass
class ScriptPatch:
    """The changes of one file.

    Attributes:
        file: The script.
        old: Its text now; `new` with the selectors replaced.
        remarks: The heals that were not applied, with reasons; one line each.
        changed: The heals that it applies.
    """

    file: Path
    old: bytes
    new: bytes
    remarks: list[str] = field(default_factory=list)
    changed: list[HealRecord] = field(default_factory=list)

    def diff(self) -> str:
        """Return the unified diff; empty where nothing changes."""
        if self.old == self.new:
            return ""
        name = _name(self.file)
        lines = difflib.unified_diff(_lines(self.old), _lines(self.new), name, name)
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        )

    def text(self) -> str:
        """Return the diff after its remarks as comments, which `patch` and `git apply` skip."""
        return "".join(f"# {line}\n" for line in self.remarks) + self.diff()


def suggested(heals: Iterable[HealRecord], trials: Sequence[PatchTrial | None] = ()) -> str:
    """Return a unified diff of the scripts with those heals, for `patch -p0` or `git apply -p0`.

    Args:
        heals: In the order of time: of several heals of one call, the last verified one counts.
        trials: For each heal, the result of trying its selectors; None if they were not tried.

    Returns:
        The diff, after comments on the heals that cannot be applied. Empty if there is nothing to report.

    Raises:
        UsageError: A script cannot be parsed as Python.
    """
    files: dict[str, list[tuple[HealRecord, PatchTrial | None]]] = {}
    for place, heal in enumerate(heals):
        files.setdefault(heal.file, []).append((heal, trials[place] if trials else None))
    texts = []
    for file, pairs in files.items():
        own = [heal for heal, _ in pairs]
        try:
            if not file.isprintable():
                raise ValueError("a name that a diff cannot hold")
            data = Path(file).read_bytes()
        except (OSError, ValueError):
            texts.append("".join(f"# {_remark_line(heal, 'its script cannot be read')}\n" for heal in own))
            continue
        texts.append(patched(Path(file), data, own, trials=[trial for _, trial in pairs]).text())
    return "".join(texts)


def patched(
    file: Path,
    data: bytes,
    heals: Sequence[HealRecord],
    refs: Sequence[str] = (),
    trials: Sequence[PatchTrial | None] = (),
) -> ScriptPatch:
    """Apply heals to one script.

    Args:
        file: The script.
        data: Its bytes.
        heals: In the order of time.
        refs: For each heal, the argument that names its recording in a command; by default the last one.
        trials: For each heal, the result of trying its selectors; None if they were not tried.

    Raises:
        UsageError: The script cannot be parsed as Python.
    """
    script = ScriptSource(data, _name(file))
    patch = ScriptPatch(file, data, data)
    now = digest(str(file), data)
    chosen: dict[int, tuple[HealRecord, str]] = {}
    said: dict[int, str] = {}
    torn: set[int] = set()
    given = zip(heals, refs or ["last"] * len(heals), trials or [None] * len(heals), strict=True)
    for heal, ref, trial in given:
        try:
            number = _place(script, heal, now, ref, trial)
            text = _literal(script, number, learned(heal, trial))
        except _AlreadyLearned:
            continue
        except UnchangeableSelector as beyond:
            _remark(patch, heal, str(beyond), trial)
            continue
        before = chosen.get(number)
        if before is not None and before[0].key != heal.key and before[1] != text:
            torn.add(number)
            for one in (before[0], heal):
                _remark(patch, one, "the call is run more than once, and means several elements")
            continue
        chosen[number] = heal, text
        said[number] = "" if trial is None else trial.told
    wanted = {number: one for number, one in chosen.items() if number not in torn}
    patch.changed = [heal for heal, _ in wanted.values()]
    for number, (heal, _) in wanted.items():
        if said[number]:
            patch.remarks.append(_line(f"{_call(heal)}: {said[number]}"))
    patch.new = script.replaced({number: text for number, (_, text) in wanted.items()})
    return patch


def write(patch: ScriptPatch) -> str:
    """Write a patch into its file, and return a sentence on the backup of the old text.

    Git keeps the old text if nothing in the file is uncommitted; else it is kept beside the script, as
    `script.py.orig`.

    Raises:
        UsageError: The file has uncommitted changes, or was changed since; nothing is written then.
    """
    name = _name(patch.file)
    if patch.file.read_bytes() != patch.old:
        raise UsageError(f"{name} has changed meanwhile: nothing was written")
    changes = _uncommitted(patch.file)
    if changes:
        raise UsageError(
            f"{name} has changes that are not committed: commit them first, or apply the printed patch"
        )
    if changes is None:
        if any(heal.source != digest(str(patch.file), patch.old) for heal in patch.changed):
            raise UsageError(
                f"{name} has changed since it was run, and git does not keep it: apply the printed patch"
            )
        kept = patch.file.with_name(f"{patch.file.name}.orig")
        try:
            with kept.open("xb") as file:
                file.write(patch.old)
        except FileExistsError:
            raise UsageError(f"{_name(kept)} is there already: nothing was written") from None
        patch.file.write_bytes(patch.new)
        return f"the old text is in {_name(kept)}"
    patch.file.write_bytes(patch.new)
    return "`git diff` shows it"


def _uncommitted(file: Path) -> bool | None:
    """Return True if git sees changes in a file; None if git does not track it."""
    folder = file.absolute().parent
    try:
        git.asked(folder, "ls-files", "--error-unmatch", "--", file.name, seconds=20)
        return bool(git.asked(folder, *git.STATUS, "--porcelain", "--", file.name, seconds=20).strip())
    except (OSError, subprocess.SubprocessError):
        return None


# -- the call and its literal ---------------------------------------------------------------------------------


def _place(script: ScriptSource, heal: HealRecord, now: str, ref: str, trial: PatchTrial | None) -> int:
    """Return the number of a heal's call.

    Raises UnchangeableSelector if the call needs no change, or cannot be changed.
    """
    if heal.rung == AGENT:
        done = "an agent finished the task" if heal.healed else "an agent tried, and failed"
        raise UnchangeableSelector(f"{done}: `reenact export-script {ref}` writes what it did")
    if not heal.verified:
        failure = f"not mended: {heal.error}" if heal.error else "not mended"
        raise UnchangeableSelector("not verified" if heal.healed else failure)
    if heal.action.startswith("page."):
        raise UnchangeableSelector("a call of session.page, whose locator is Playwright's own")
    if heal.old is None:
        raise UnchangeableSelector("the element is named by its id in an observation, not by a selector")
    if heal.new is None or heal.new == heal.old:
        raise UnchangeableSelector("its selector is right as it is")
    same = bool(heal.source) and heal.source == now
    try:
        return script.find(heal.action, heal.old, heal.line, heal.function, same=same)
    except UnchangeableSelector:
        wanted = learned(heal, trial)
        if not same and any(call.value == wanted and call.may_be(heal.action) for call in script.calls):
            raise _AlreadyLearned from None
        raise


def _literal(script: ScriptSource, number: int, value: str | Mapping[str, str]) -> str:
    """Return the new literal as Python source in the style of the old one."""
    old, column, indent = script.literal(number)
    quote = "'" if old.lstrip("rRbBuU({ \n").startswith("'") else '"'
    if isinstance(value, str):
        return _quoted(value, quote)
    members = [f"{_quoted(kind, quote)}: {_quoted(text, quote)}" for kind, text in value.items()]
    flat = "{" + ", ".join(members) + "}"
    if column + len(flat) <= WIDTH:
        return flat
    inner = "".join(f"{indent}    {member},\n" for member in members)
    return f"{{\n{inner}{indent}}}"


def _quoted(text: str, quote: str) -> str:
    """Return a string's literal in the preferred quotes.

    It uses the other quotes if they avoid backslashes. Raises UnchangeableSelector if Python would read another text.
    """
    other = "'" if quote == '"' else '"'
    if quote in text and other not in text:
        quote = other
    body = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    plain = (letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in body)
    written = f"{quote}{''.join(plain)}{quote}"
    try:
        same = ast.literal_eval(written) == text
    except (SyntaxError, ValueError):
        same = False
    if not same:
        raise UnchangeableSelector("its new selector cannot be written as a text")
    return written


# -- the text ----------------------------------------------------------------------------------------------------


def _remark(patch: ScriptPatch, heal: HealRecord, why: str, trial: PatchTrial | None = None) -> None:
    line = _remark_line(heal, why, trial)
    if line not in patch.remarks:
        patch.remarks.append(line)


def _call(heal: HealRecord) -> str:
    place = f"{_name(Path(heal.file))}:{heal.line}" if heal.file else "(unknown place)"
    return f"{place}: {heal.action} {heal.old if heal.old is not None else ''}".rstrip()


def _remark_line(heal: HealRecord, why: str, trial: PatchTrial | None = None) -> str:
    new = ""
    if heal.new and heal.new != heal.old:
        with suppress(UnchangeableSelector):
            new = f"; the new selector would be {learned(heal, trial)}"
    return _line(f"{_call(heal)}: {why}{new}")


def _line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _name(file: Path) -> str:
    """Return a file's name in a diff: relative to the working folder, or absolute outside it."""
    try:
        return file.absolute().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return os.fspath(file)


def _lines(data: bytes) -> list[str]:
    """Split into lines as `patch` does: only a line feed ends one."""
    text = data.decode("utf-8", "surrogateescape")
    return re.findall(r"[^\n]*\n|[^\n]+", text)
