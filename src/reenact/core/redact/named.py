"""Secrets by the names of their keys: `"password": "..."`, `api_key=...`, `--token ...`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote_plus

from reenact.core.patterns import compiled
from reenact.core.redact import name_forms as forms
from reenact.core.redact.column_names import Lists
from reenact.core.redact.named_values import cookies, is_bare_secret, is_secret_text, likely, opens_value
from reenact.core.redact.names import NUMERIC, Names, dense, is_placeholder
from reenact.core.redact.shapes import TOKEN
from reenact.core.redact.siblings import siblings
from reenact.core.redact.tabular import Tables
from reenact.core.redact.tags import Tags
from reenact.core.redact.text import (
    FORM_VALUE,
    FoundSecret,
    close,
    hit,
    level_of,
    name_behind,
    plain,
)
from reenact.core.redact.work import LOOKS_A_HIT, Work


class _Key(NamedTuple):
    """A name that means a secret."""

    name: bytes
    kind: str
    before: bytes  # the text before it, reversed


class NamedSecrets:
    """Finds the values of keys whose names say that they are secret."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._tags = Tags(names)
        self._tables = Tables(names)
        self._lists = Lists(names)
        weak = b"|".join(
            b'(?<="%b)' % name.encode() for name in forms.WEAK if names.kind(name.encode()) == "weak"
        )
        self._passed = compiled(rb"(?:%b)%b" % (weak or b"(?!)", forms.PASSED))
        self._looks = {
            "object": self._object,
            "string": self._string,
            "bare": self._bare,
            "number": self._number,
            "braced": self._braced,
            "tag": self._tag,
            "part": self._part,
            "flag": self._flag,
            "block": self._block,
            "heredoc": self._heredoc,
            "below": self._below,
            "later": self._later,
            "element": self._element,
            "sql": self._sql,
        }

    def look(self, data: bytes, at: int, work: Work) -> Iterable[FoundSecret]:
        """Return the secrets of a name that ends here, if it is one."""
        if self._passed.match(data, at):
            work.left += 0.75  # of the look that the mark has cost
            return ()
        work.spend(1)
        after = forms.AFTER.match(data, at)
        hits = list(self._looks[after.lastgroup or ""](data, at, after, work)) if after else []
        if hits or (after and after["kquote"] and not after["pair"]):
            return hits  # the name of a member is no value, no column, and no attribute
        work.spend(1)
        return self._elsewhere(data, at, work)

    def _elsewhere(self, data: bytes, at: int, work: Work) -> Iterable[FoundSecret]:
        """Return the secrets of a name with its value beside it, below it, or in its tag."""
        follows = data[at : at + 1]
        hits = list(self._beside(data, at, work)) if follows in forms.ENDS_A_VALUE else []
        hits = hits or list(self._tables.look(data, at, work))
        return hits or (self._tags.look(data, at, work) if follows in forms.IN_A_TAG else ())

    def _beside(self, data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
        key = self._word(data, at, work)
        if key is not None:
            for found in siblings(data, at, key.before, work):
                yield from self._value(
                    data, (found.start, found.end), key.kind, found.level, work, open_=found.open
                )
            yield from self._lists.look(data, at, key.before, work)

    def look_in_tag(self, data: bytes, at: int, work: Work) -> Iterable[FoundSecret]:
        """Return the secrets of the tag in which a name ends here."""
        return self._tags.look(data, at, work) if data[at : at + 1] in forms.IN_A_TAG else ()

    def _word(self, data: bytes, at: int, work: Work) -> _Key | None:
        """Return the name of one word that ends here, if it is that of a secret. It is read once."""
        if work.word[0] != at:
            work.word = at, self._key(data, at, forms.WORD_BEHIND)
        key: _Key | None = work.word[1]
        return key

    def _key(self, data: bytes, at: int, behind: re.Pattern[bytes]) -> _Key | None:
        found = behind.match(data[max(0, at - 160) : at][::-1])
        if found is None:
            return None
        name = name_behind(found).removeprefix(b"-H")  # `curl -HAuthorization:...`
        kind = self._names.kind(name)
        return _Key(name, kind, found["before"]) if kind else None

    def _string(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """Quoted forms: `"name": "value"`, `name="value"`, `["header", "value"]`, `"name": ["x"]`."""
        key = self._key(data, at, forms.KEY_BEHIND)
        if key is None:
            return
        start, quoted = after.end(), after["open"]
        flag = careful = False
        if after["pair"]:
            flag = key.name.startswith(b"--") and b" " not in key.name  # ["tool", "--api-key", "..."]
            if quoted == b"[" or not (flag or self._opens_pair(key)):
                return
            careful = not flag and key.kind not in {"header", "cookie"}
        if quoted == b"[":
            if key.kind != "weak":
                yield from self._list(data, start, key.kind, work)
            return
        if not opens_value(data, after):
            return
        level = level_of(after["slashes"])
        end = close(data, start, quoted[0], level, work)
        stop = len(data) if end is None else end
        if after["pair"] and not flag and not forms.PAIR_ENDS.match(data, stop):
            return
        if careful and not is_secret_text(data[start:stop]):
            return
        if quoted == b"`" and b"${" in data[start:stop]:
            return
        yield from self._value(data, (start, stop), key.kind, level, work, open_=end is None)

    def _opens_pair(self, key: _Key) -> bool:
        name = key.name.decode().strip().lower()
        return (
            name in self._names.headers or key.kind in {"strong", "header", "cookie"}
        ) and forms.PAIR_OPENS_BEHIND.match(key.before) is not None

    def _list(self, data: bytes, at: int, kind: str, work: Work) -> Iterator[FoundSecret]:
        """Yield the strings of a flat list, the form in which many libraries keep a header's values."""
        while found := forms.ITEM.match(data, at):
            work.spend(LOOKS_A_HIT)
            level = level_of(found["slashes"])
            end = close(data, found.end(), found["open"][0], level, work)
            stop = len(data) if end is None else end
            yield from self._value(data, (found.end(), stop), kind, level, work, open_=end is None)
            if end is None:
                return
            at = stop + 1 + (len(found["slashes"]) if found["open"] == b'"' else 0)

    def _object(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """`{"name": "x-api-key", "value": "..."}` of HAR, and `"password": {"value": "..."}`."""
        key = self._word(data, at, work)
        if key and key.before[:1] in {b'"', b"'"}:
            level = level_of(after["oslashes"])
            end = close(data, after.end(), after["oopen"][0], level, work)
            stop = len(data) if end is None else end
            yield from self._value(data, (after.end(), stop), key.kind, level, work, open_=end is None)

    def _value(
        self, data: bytes, span: tuple[int, int], kind: str, level: int, work: Work, *, open_: bool
    ) -> Iterator[FoundSecret]:
        """Yield the secret parts of a value that its key calls secret; `open_` if it breaks off."""
        start, stop = span
        if kind == "cookie":
            yield from cookies(data, start, stop, level, work)
            return
        work.read(stop - start)
        scheme = forms.SCHEME.match(data, start, stop)
        if scheme and scheme.end() < stop:
            start, kind = scheme.end(), "header"
        raw = data[start:stop]
        stop -= 0 if open_ else len(raw) - len(raw.rstrip())
        start += len(raw) - len(raw.lstrip())
        value = plain(data[start:stop], level)
        if kind == "weak" and not open_ and (not dense(value) or forms.LOG_PROBABILITY.match(data, stop)):
            return
        if len(value) >= (1 if open_ or kind == "header" else 4):
            yield from hit(data, start, stop, value)

    def _bare(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """Bare forms: `name=value` in forms, queries and environments; `name: value` on a line."""
        key = self._word(data, at, work)
        if key is None:
            return
        start, gap = after.end(), bool(after["gap"] or after["gap2"])
        if (
            key.kind in {"header", "cookie"}
            and after["sep"] == b":"
            and key.before[:1] != b"/"
            and not after["kept"]
        ):
            line = forms.REST_OF_LINE.match(data, start)
            if line:
                yield from self._value(data, (start, line.end()), key.kind, 0, work, open_=False)
            return
        if after["kept"] and (
            forms.NUMBER.match(data, start, start + 40)
            or (data[:1] in {b"{", b"["} and after["kept"] == b'"')
        ):
            return  # in JSON the bare values are numbers and constants
        form = not gap and after["sep"] == b"=" and key.before[:1] in {b"", b"?", b"&", b'"'}
        found = (FORM_VALUE if form else forms.BARE_VALUE).match(data, start)
        if found is None or TOKEN.match(data, start):
            return
        work.read(len(found[0]) * 2)
        text = found[0].decode("utf-8", "surrogateescape")
        value = text if gap else unquote_plus(text)
        if likely(value, key.kind) and (
            form or is_bare_secret(data, found, after["sep"], gap=gap, strong=_is_alone(key))
        ):
            yield from hit(data, *found.span(), value)

    def _flag(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """`--api-key value` on a command line."""
        key = self._word(data, at, work)
        if key is None:
            return
        assigns = forms.ASSIGNS_BEHIND.match(key.before) is not None
        if not key.name.startswith(b"-") and b"--" not in key.name and not assigns:
            return
        found = forms.FLAG_VALUE.match(data, after.end())
        if found is None:
            return
        value = found[0].decode("utf-8", "replace")
        sure = b"--" in key.name or assigns or (dense(value) and key.kind == "strong")
        if sure and likely(value, key.kind) and not is_placeholder(found[0]):
            yield from hit(data, *found.span(), value)

    def _sql(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """`WITH PASSWORD 'value'`."""
        key = self._word(data, at, work)
        if key and key.name.startswith(b"-"):
            yield from self._flag(data, at, after, work)
            return
        found = forms.SQL_VALUE.match(data, after.end())
        if not key or key.kind != "strong" or not found or is_placeholder(found[0]):
            return
        value = found[0].decode("utf-8", "replace")
        if key.name.isupper() or dense(value):
            yield from hit(data, *found.span(), value)

    def _block(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """`password: |` and the lines below it that are indented as far."""
        key = self._word(data, at, work)
        lines = compiled(
            forms.BLOCK_LINE
            + rb"(?:(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n){1,4}"
            + re.escape(after["indent"])
            + forms.BLOCK_LINE
            + rb")*+"
        )
        found = lines.match(data, after.end(), after.end() + 8192) if key else None
        if key and found:
            work.read(len(found[0]) * 2)
            if likely(value := plain(found[0], 0), key.kind):
                yield from hit(data, *found.span(), value)

    def _heredoc(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """`password = <<EOF`, the lines below it, and `EOF`."""
        key = self._word(data, at, work)
        ends = compiled(forms.END_OF_LINE + rb"[ \t]*+" + re.escape(after["word"]) + rb"\b")
        found = ends.search(data, after.end(), after.end() + forms.LONGEST_PART) if key else None
        if key:
            work.read((found.end() - at) * 2 if found else forms.LONGEST_PART)
        if key and found and likely(value := plain(data[after.end() : found.start()], 0), key.kind):
            yield from hit(data, after.end(), found.start(), value)

    def _below(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """`password:` and a lone value in the next line, or a list of them in the next lines."""
        key = self._word(data, at, work)
        item = compiled(after["newline"].replace(b"\\", rb"\\") + after["item"] + rb"(?:\\{0,15}[\"'])?")
        start = after.end()
        while key:
            found = forms.BARE_VALUE.match(data, start, start + forms.LONGEST_PART)
            if found is None or not forms.LINE_ENDS.match(data, found.end()):
                return
            work.spend(LOOKS_A_HIT)
            work.read(len(found[0]) * 2)
            if found[0][-1:] != b":" and is_secret_text(found[0]):
                yield from hit(data, *found.span(), found[0].decode("utf-8", "replace"))
            rest = forms.QUOTE.match(data, found.end())
            following = (
                item.match(data, rest.end() if rest else found.end()) if b"-" in after["item"] else None
            )
            if following is None:
                return
            start = following.end()

    def _later(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """`name: PASSWORD` and `value: ...` in the next line."""
        key = self._word(data, at, work)
        if key is None or not forms.NAME_BEHIND.match(key.before):
            return
        found = forms.BARE_VALUE.match(data, after.end())
        if (
            found
            and not is_placeholder(found[0])
            and likely(value := found[0].decode("utf-8", "replace"), key.kind)
        ):
            yield from hit(data, *found.span(), value)

    def _element(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterable[FoundSecret]:
        """`<key>password</key><string>value</string>`."""
        key = self._word(data, at, work)
        return self._tags.element(data, at) if key and key.before[:1] == b">" else ()

    def _tag(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """`<password>value</password>`."""
        key = self._word(data, at, work)
        found = forms.TAGGED.match(data, after.end()) if key and forms.TAG_BEHIND.match(key.before) else None
        if (
            key
            and found
            and not is_placeholder(found[1])
            and likely(value := found[1].decode("utf-8", "replace"), key.kind)
        ):
            yield from hit(data, *found.span(1), value)

    def _part(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """A field of a multipart form: `name="password"`, an empty line, the value, a boundary."""
        key = self._word(data, at, work)
        if key is None or not forms.FIELD_BEHIND.match(key.before):
            return
        work.spend(LOOKS_A_HIT)
        start = after.end()
        ends = [data.find(line, start, start + forms.LONGEST_PART) for line in forms.PART_ENDS]
        found = [end for end in ends if end >= 0]
        last = forms.LAST_LINE.match(data, start, start + forms.LONGEST_PART) if not found else None
        if not found and not last:
            return
        text = last[0] if last else data[start : min(found)]
        work.read(len(text) * 2)
        text = (
            text.removesuffix(b"\r")
            if found and min(found) == ends[0]
            else forms.ESCAPED_RETURN.sub(b"", text)
        )
        if likely(value := plain(text, 0), key.kind):
            yield from hit(data, start, start + len(text), value)

    def _braced(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """`PWD={value};` of a connection string; `password={name}` is a template."""
        key = self._word(data, at, work)
        end = data.find(b"}", after.end(), after.end() + 201)
        value = data[after.end() : end].decode("utf-8", "replace")
        if key and likely(value, key.kind) and not forms.IDENTIFIER.fullmatch(value) and "(" not in value:
            yield from hit(data, after.end(), end, value)

    def _number(self, data: bytes, at: int, after: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        """`"pin": 123456`."""
        key = self._word(data, at, work)
        found = forms.DIGITS.match(data, after.end())
        if key and found and key.name.lower().endswith(NUMERIC):
            yield from hit(data, *found.span(), found[0].decode(), quote=after["nquote"])


def _is_alone(key: _Key) -> bool:
    """Return True for the name of a secret, False inside of `arn:aws:secret:...`."""
    return key.kind == "strong" and key.before[:1] not in {b":", b"/", b"@"} and key.before[:2] != b"[["
