"""A server's log: one line for each event, as JSON or as text.

The fields of a line are chosen in the code, one by one: routes and not addresses, statuses, times, projects. So
no key, no signature of a lent address and no recorded value is ever in it.
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
"""The logger of a server's events; without a log, they go nowhere."""
LOG.addHandler(logging.NullHandler())
LOG.propagate = False

_HANDLERS: list[logging.Handler] = []
_OTHERS = ("uvicorn.error", "asyncio")


def begin(form: Form, stream: TextIO | None = None) -> Callable[[], None]:
    """Write the log, to standard error.

    Args:
        form: `json` for machines, `text` for people.
        stream: Another place.

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
        # A uvicorn that another part of the program started may have set a higher one.
        one.setLevel(logging.INFO if one is LOG else logging.WARNING)
    handler.addFilter(_told)
    _HANDLERS.append(handler)

    def end() -> None:
        _HANDLERS.remove(handler)
        for one, level, propagate in before:
            one.removeHandler(handler)
            one.setLevel(level)
            one.propagate = propagate

    return end


def event(name: str, level: int = logging.INFO, **fields: object) -> bool:
    """Log an event. Returns whether a log is being written.

    Args:
        name: The event's name: `request`, `started`, `store_away` …
        level: As in `logging`.
        fields: Its fields by name: never a key, nor a recorded value.
    """
    if not begun():
        return False
    LOG.log(level, name, extra={"fields": fields})
    return True


def begun() -> bool:
    """Return whether a log is written."""
    return bool(_HANDLERS)


def of_uvicorn() -> dict[str, Any]:
    """Return uvicorn's log options: its warnings go to this log, its request lines are off."""
    told: dict[str, Any] = {"log_level": "warning", "access_log": False}
    return told | {"log_config": None} if begun() else told


def _told(record: logging.LogRecord) -> bool:
    """Return whether a line is this server's, or a library's warning."""
    return record.name == LOG.name or record.levelno >= logging.WARNING


def _fields(record: logging.LogRecord) -> dict[str, object]:
    found: dict[str, object] = getattr(record, "fields", {})
    return found


def _when(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _json() -> logging.Formatter:
    # No server that writes none pays for it.
    from pythonjsonlogger.core import LogData  # noqa: PLC0415
    from pythonjsonlogger.orjson import OrjsonFormatter  # noqa: PLC0415

    class LogFormatter(OrjsonFormatter):
        """Our fields beside each other; of a library's error its type and text, on the same line."""

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
