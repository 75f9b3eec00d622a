"""Short forms of texts, numbers and times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

WIDE = 10_000
"""The width of a pipe: without a terminal, nothing is wrapped or cut."""

# A recorded text may hold escape sequences, which would recolour, overwrite or even type into this terminal.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]|\r(?!\n)"
)


def visible(text: str) -> str:
    """Return a text with visible signs for control characters."""
    return _CONTROL.sub(_picture, text.replace("\r\n", "\n"))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else f"<U+{code:04X}>"


_TOKEN = re.compile(r"\[\[secret:[^\[\]\s]{1,60}\]\]")


def without_tokens(text: str) -> str:
    """Return a text with `(secret)` for each token. Not for comparisons, which need the tokens."""
    return _TOKEN.sub("(secret)", text) if "[[secret:" in text else text


def one_line(text: str, limit: int = 0) -> str:
    """Return a text on one line, cut if a limit is given."""
    if not limit:
        return visible(" ".join(text.split()))
    joined = " ".join(text.split(maxsplit=limit))  # so many words are longer than the limit
    line = visible(joined[: limit + 1])
    return line if len(line) <= limit else line[: limit - 1] + "…"


LONGEST = 6000
"""Characters of one text that a page shows."""


def cut(value: str, longest: int = LONGEST) -> str:
    """Return a text, or the beginning and end of a very long one."""
    if len(value) <= longest:
        return value
    head, tail = longest * 2 // 3, longest // 3
    return f"{value[:head]}\n… {len(value) - head - tail} letters left out …\n{value[-tail:]}"


def numbers(found: tuple[int, ...]) -> str:
    """Return step numbers in a short form: `3, 7-9`."""
    parts: list[list[int]] = []
    for number in found:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in parts)


# -- numbers -------------------------------------------------------------------------------------------------


def ago(started: str, now: datetime | None = None) -> str:
    """Return the age in few characters: `now`, `5m`, `3h`, `2d`, `Nov 21`, `2024-11-21`."""
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return "?"
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    now = now or datetime.now(UTC)
    seconds = (now - moment).total_seconds()
    if seconds < -60:
        return moment.date().isoformat()
    for limit, unit, word in ((60, 0, "now"), (3600, 60, "m"), (86400, 3600, "h"), (7 * 86400, 86400, "d")):
        if seconds < limit:
            return f"{int(seconds // unit)}{word}" if unit else word
    return f"{moment:%b %d}" if seconds < 300 * 86400 else moment.date().isoformat()


def moment(started: str) -> str:
    """Return a time to the second, `2026-11-21 15:30:00 UTC`; another text unchanged."""
    try:
        at = datetime.fromisoformat(started)
    except ValueError:
        return started
    return f"{at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def seconds(value: float | None) -> str:
    """Return a duration: `3 ms`, `1.2 s`, `4 min 05 s`."""
    if value is None:
        return ""
    if value < 0.0005:
        return "<1 ms"
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    minutes, left = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {left:02} s"


def count(value: int) -> str:
    """Return a count: `950`, `12.3k`, `1.2M`."""
    if value < 1000:
        return str(value)
    if value < 999_950:
        return f"{value / 1000:.1f}k"
    return f"{value / 1e6:.1f}M"


def money(value: float | None) -> str:
    """Return US dollars, with more digits for smaller amounts."""
    if value is None:
        return ""
    if value and value < 0.0001:
        return "<$0.0001"
    return f"${value:.2f}" if value >= 1 else f"${value:.4f}"


def size(value: int) -> str:
    """Return a size in bytes: `950 B`, `12.3 kB`, `1.2 MB`."""
    if value < 1000:
        return f"{value} B"
    return f"{value / 1000:.1f} kB" if value < 999_950 else f"{value / 1e6:.1f} MB"


def many(number: int, word: str) -> str:
    """Return a count with its word: `1 step`, `1,234 steps`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def marks(tags: Iterable[str], note: str) -> str:
    """Return tags, labels and note on one line: `#staging #bad “Refunded twice”`."""
    words = [f"#{tag}" for tag in tags]
    return one_line(" ".join([*words, f"“{note}”"] if note else words))
