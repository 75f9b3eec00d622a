"""Send a trace to an OTLP endpoint over HTTP."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from reenact.analysis.interchange.exporters.otel.wire import to_protobuf
from reenact.analysis.interchange.importers.otel.span import Span
from reenact.core.extras import needing
from reenact.core.version import VERSION
from reenact.errors import ReenactError, UsageError

if TYPE_CHECKING:
    import httpx

_PATH = "/v1/traces"
_SAID = 300
_PATIENCE = 30.0


def headers_of(given: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the headers to send: those given, over those of OTEL_EXPORTER_OTLP_HEADERS.

    Args:
        given: `NAME: VALUE` or `NAME=VALUE` each.
        environ: The environment; by default that of the process.

    Raises:
        UsageError: One of them has neither form.
    """
    environ = os.environ if environ is None else environ
    found: dict[str, str] = {}
    for variable in ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"):
        for pair in filter(None, map(str.strip, environ.get(variable, "").split(","))):
            name, equals, value = pair.partition("=")
            if not equals or not name.strip():
                raise UsageError(
                    f"{variable}: a header there is written NAME=VALUE, several with commas between"
                )
            found[name.strip().lower()] = unquote(value.strip())
    for text in given:
        place = min((text.find(mark) for mark in ":=" if mark in text), default=-1)
        if place < 1:
            raise UsageError(f"--otlp-header {text.partition(' ')[0]}: a header is written 'NAME: VALUE'")
        found[text[:place].strip().lower()] = text[place + 1 :].strip()
    return found


def endpoint(url: str) -> str:
    """Return the URL for traces: the given one, with OTLP's path if it has none.

    Raises UsageError if it is no HTTP URL.
    """
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound:
        raise UsageError(
            f"--otlp {url}: give the URL of an OTLP endpoint over HTTP, such as http://localhost:4318"
        )
    if parts.path.strip("/"):
        return urlunsplit(parts)
    return urlunsplit(parts._replace(path=_PATH))


def deliver(spans: Iterable[Span], url: str, headers: Mapping[str, str] | None = None) -> str:
    """Send spans in one request; return the URL that accepted them.

    Args:
        spans: The spans of one recording.
        url: The endpoint, with or without `/v1/traces`.
        headers: More headers (an API key).

    Raises:
        ReenactError: The endpoint does not answer, or refuses some or all spans; the text says which.
    """
    target = endpoint(url)
    sent = {
        "user-agent": f"reenact/{VERSION}",
        **(headers or {}),
        "content-type": "application/x-protobuf",
        "content-encoding": "gzip",
    }
    with needing("otel", "reenact export --otlp"):
        import httpx  # noqa: PLC0415 - of the extra `otel`
    body = gzip.compress(to_protobuf(spans))
    try:
        answer = httpx.post(target, content=body, headers=sent, timeout=_PATIENCE)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise ReenactError(f"{target}: the trace could not be sent ({_why(error)})") from None
    if not answer.is_success:
        hint = (
            "; is it an OTLP endpoint? its path is /v1/traces most often"
            if answer.status_code in (404, 405)
            else ""
        )
        raise ReenactError(
            f"{target} answered {answer.status_code} {answer.reason_phrase}{_said(answer)}{hint}"
        )
    _check_whole(answer, target)
    return target


def _why(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _said(answer: httpx.Response) -> str:
    kind = answer.headers.get("content-type", "")
    if "protobuf" in kind:
        text = _message_of(answer.content)
    elif "json" in kind:
        try:
            found = answer.json()
        except ValueError:
            found = None
        text = str(found.get("message") or found.get("error") or "") if isinstance(found, dict) else ""
    else:
        text = answer.text if kind.startswith("text/plain") or not kind else ""
    words = " ".join(text.split())
    return f": {words[:_SAID]}" if words else ""


def _message_of(data: bytes) -> str:
    """Return the message of a `google.rpc.Status`: its second field, a text."""
    place = 0
    while place < len(data):
        key = data[place]
        place += 1
        size = shift = 0
        while place < len(data):
            size |= (data[place] & 127) << shift
            place, shift = place + 1, shift + 7
            if not data[place - 1] & 128:
                break
        if key & 7 == 0:
            continue
        if key & 7 != 2:
            return ""
        if key >> 3 == 2:
            return data[place : place + size].decode("utf-8", "replace")
        place += size
    return ""


def _check_whole(answer: httpx.Response, target: str) -> None:
    """Raise ReenactError if the endpoint reports that it dropped spans."""
    rejected, text = 0, ""
    if "json" in answer.headers.get("content-type", ""):
        try:
            found = answer.json()
        except ValueError:
            return
        partial = found.get("partialSuccess") if isinstance(found, dict) else None
        if isinstance(partial, dict):
            rejected, text = int(partial.get("rejectedSpans") or 0), str(partial.get("errorMessage") or "")
    elif "protobuf" in answer.headers.get("content-type", ""):
        service = import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
        message = import_module("google.protobuf.message")
        response = service.ExportTraceServiceResponse()
        try:
            response.ParseFromString(answer.content)
        except message.DecodeError:
            return
        rejected, text = response.partial_success.rejected_spans, response.partial_success.error_message
    if rejected:
        words = " ".join(text.split())[:_SAID]
        raise ReenactError(
            f"{target} took the trace without {rejected} of its spans{f': {words}' if words else ''}"
        )
