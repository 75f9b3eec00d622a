"""Real HTTP traffic of model providers, as other projects recorded it, served by a server on this machine."""

import json
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from tests.adapters.http.server import Server, _Handler

DATA = Path(os.environ.get("REENACT_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
"""Beside the project, where somebody has put recordings of others there; without them their tests are skipped."""

_OWN = {"transfer-encoding", "content-length", "connection", "date", "server", "keep-alive"}


@dataclass
class Exchange:
    """One request and its answer."""

    method: str
    url: str
    headers: dict
    body: bytes
    status: int
    answer_headers: list = field(default_factory=list)
    answer: bytes = b""

    @property
    def host(self):
        return self.url.split("/")[2]

    @property
    def path(self):
        return "/" + self.url.split("/", 3)[3]

    @property
    def json(self):
        return json.loads(self.body)


def found(*names):
    """The cassettes below these folders of the data, in a fixed order."""
    return [path for name in names for path in sorted((DATA / name).rglob("*.yaml"))]


def naming(paths, *words):
    """Those of them that name one of these."""
    return [path for path in paths if any(word.encode() in path.read_bytes() for word in words)]


def load(path):
    """The exchanges of one cassette that have a request over HTTP and an answer."""
    import yaml

    cassette = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    exchanges = []
    for one in (cassette or {}).get("interactions", ()):
        asked, answered = one["request"], one["response"]
        headers = {key.lower(): _first(value) for key, value in (asked.get("headers") or {}).items()}
        lines = [
            (key, value) for key, values in (answered.get("headers") or {}).items() for value in _all(values)
        ]
        status = answered["status"]
        exchanges.append(
            Exchange(
                asked["method"],
                asked["uri"],
                headers,
                _body(asked),
                int(status["code"] if isinstance(status, dict) else status),
                [(key, str(value)) for key, value in lines if key.lower() not in _OWN],
                _body(answered) if "parsed_body" in answered else _body(answered.get("body") or {}, "string"),
            )
        )
    return exchanges


def _body(part, key="body"):
    if "parsed_body" in part:
        return json.dumps(part["parsed_body"]).encode()
    value = part.get(key)
    if value is None:
        return b""
    return (
        value.encode()
        if isinstance(value, str)
        else value
        if isinstance(value, bytes)
        else json.dumps(value).encode()
    )


def _all(value):
    return value if isinstance(value, list) else [value]


def _first(value):
    return str(_all(value)[0]) if _all(value) else ""


class Player(Server):
    """A server that answers with the exchanges of a cassette, in their order; `received` is what it was asked."""

    def __init__(self, exchanges):
        self.exchanges = list(exchanges)
        self.received = []
        self.played = 0
        super().__init__(_Player)


class _Player(_Handler):
    def handle_any(self):
        body = self._read_body()
        with self.owner.lock:
            self.owner.requests.append((self.command, self.path))
            self.owner.received.append(body)
            one = self.owner.exchanges[self.owner.played % len(self.owner.exchanges)]
            self.owner.played += 1
        self.send_response(one.status)
        for key, value in one.answer_headers:
            if key.lower() != "content-encoding" or _is_encoded(one.answer, value):
                self.send_header(key, value)
        if b"\ndata:" in b"\n" + one.answer[:2000]:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for event in one.answer.split(b"\n\n"):
                if event:
                    self.chunk(event + b"\n\n")
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(one.answer)))
        self.end_headers()
        self.wfile.write(one.answer)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = do_PATCH = handle_any  # noqa: N815 - as http.server names them


def _is_encoded(data, encoding):
    """Some cassettes keep the header of an encoding that they have removed."""
    try:
        if encoding == "gzip":
            zlib.decompress(data, 31)
        elif encoding == "br":
            import brotli

            brotli.decompress(data)
    except Exception:
        return False
    return encoding in ("gzip", "br")
