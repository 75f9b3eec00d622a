"""A server's log: one line for each event, as JSON or as text.

The code chooses each field of a line: routes instead of addresses, statuses, times, projects. So the log never contains
a key, the signature of an address or a recorded value.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TextIO

from reenact.verbs.fields import Field

Form = Literal["json", "text"]

Log = Annotated[Form | None, Field(description="Log each request and event to standard error: json or text.")]
"""The option `--log` of a server."""

LOG = logging.getLogger("reenact.server")
"""The logger of a server's events, which are dropped without a log."""
LOG.addHandler(logging.NullHandler())
LOG.propagate = False

_HANDLERS: list[logging.Handler] = []
_OTHERS = ("uvicorn.error", "asyncio")


def begin(form: Form, stream: TextIO | None = None) -> Callable[[], None]:
    """Write the log, to standard error.

    Args:
        form: `json` for machines, `text` for people.
        stream: Another stream.

    Returns:
        A function that ends the log.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_json() if form == "json" else _Text())
    loggers = [LOG, *(logging.getLogger(name) for name in _OTHERS)]
    before = [(one, one.level, one.propagate) for one in loggers]
    for one in loggers:
        one.addHandler(handler)
        one.propagate = False
        # Another uvicorn in this process may have set a higher level.
        one.setLevel(logging.INFO if one is LOG else logging.WARNING)
    handler.addFilter(_is_logged)
    _HANDLERS.append(handler)

    def end() -> None:
        _HANDLERS.remove(handler)
        for one, level, propagate in before:
            one.removeHandler(handler)
            one.setLevel(level)
            one.propagate = propagate

    return end


def event(name: str, level: int = logging.INFO, **fields: object) -> bool:
    """Log an event. Returns True if a log is written.

    Args:
        name: The event's name: `request`, `started`, `store_away` …
        level: As in `logging`.
        fields: Its fields by name, never a key or a recorded value.
    """
    if not begun():
        return False
    LOG.log(level, name, extra={"fields": fields})
    return True


def begun() -> bool:
    """Return True if a log is written."""
    return bool(_HANDLERS)


def of_uvicorn() -> dict[str, Any]:
    """Return uvicorn's log options: warnings go to this log, and request lines are off."""
    told: dict[str, Any] = {"log_level": "warning", "access_log": False}
    return told | {"log_config": None} if begun() else told


def _is_logged(record: logging.LogRecord) -> bool:
    """Return True for a line of this server, or a warning of a library."""
    return record.name == LOG.name or record.levelno >= logging.WARNING


def _fields(record: logging.LogRecord) -> dict[str, object]:
    found: dict[str, object] = getattr(record, "fields", {})
    return found


def _when(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _json() -> logging.Formatter:
    # Imported here because only a server with a JSON log needs it.
    from pythonjsonlogger.core import LogData  # noqa: PLC0415
    from pythonjsonlogger.orjson import OrjsonFormatter  # noqa: PLC0415

    class LogFormatter(OrjsonFormatter):
        """Writes all fields on one line, with type and text of a library's error."""

        def process_log_record(self, log_data: LogData) -> LogData:
            return log_data

        def add_fields(
            self, log_data: LogData, record: logging.LogRecord, message_dict: dict[str, object]
        ) -> None:
            log_data |= {"time": _when(record), "level": record.levelname.lower()}
            if record.name == LOG.name:
                log_data |= {"event": record.getMessage(), **_fields(record)}
                return
            log_data |= {"event": "library", "logger": record.name, "text": record.getMessage()[:500]}
            if record.exc_info and record.exc_info[0] is not None:
                log_data["error"] = record.exc_info[0].__name__

    return LogFormatter()


class _Text(logging.Formatter):
    """The text form of a line, for people."""

    def format(self, record: logging.LogRecord) -> str:
        parts = [_when(record), record.levelname.lower(), record.getMessage()[:500]]
        parts += [f"{name}={_plain(value)}" for name, value in _fields(record).items() if value is not None]
        if record.name != LOG.name:
            parts[2] = " ".join(parts[2].split())
        return " ".join(parts)


def _plain(value: object) -> str:
    text = str(value)
    return text if text and text.isprintable() and " " not in text else repr(text)
