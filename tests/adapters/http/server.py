"""A real HTTP server on the loopback interface that does what servers do to their clients."""

import base64
import gzip
import importlib
import json
import socket
import struct
import threading
import time
import zlib
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from reenact.core.unpack import ZSTD

TEXT = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. " * 40
BINARY = bytes(range(256)) * 100
BIG = b"0123456789abcdef" * 65536


def packed_by(encoding):
    """Return the text, compressed."""
    if encoding == "br":
        return importlib.import_module("brotli").compress(TEXT.encode())
    modules = {"gzip": gzip, "deflate": zlib}
    return (modules.get(encoding) or importlib.import_module(ZSTD)).compress(TEXT.encode())


class Server:
    """Serves from construction until `stop`. `requests` lists what was asked, `sent` when each SSE event went out."""

    def __init__(self, handler=None):
        self.requests = []
        self.sent = []
        self.bodies = {}
        self.lock = threading.Lock()
        self.released = threading.Event()
        self.http = _Threading(("127.0.0.1", 0), type("Handler", (handler or _Handler,), {"owner": self}))
        self.port = self.http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    def count(self, path):
        with self.lock:
            return sum(1 for _, asked in self.requests if asked.partition("?")[0] == path)

    def stop(self):
        if self._thread is not None:
            self.released.set()
            self.http.shutdown()
            self.http.server_close()
            self._thread.join()
            self.http.close_all()
            self._thread = None


class _Threading(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, *args):
        super().__init__(*args)
        self.open = set()

    def process_request(self, request, address):
        self.open.add(request)
        super().process_request(request, address)

    def shutdown_request(self, request):
        self.open.discard(request)
        super().shutdown_request(request)

    def close_all(self):
        for request in list(self.open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request, address):
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Server

    def log_message(self, *args):
        pass

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def handle_any(self):
        parts = urlsplit(self.path)
        self.query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        self.body = self._read_body()
        with self.owner.lock:
            self.owner.requests.append((self.command, self.path))
            self.nth = sum(1 for _, asked in self.owner.requests if asked.partition("?")[0] == parts.path)
        name = parts.path.strip("/").split("/")
        with suppress(BrokenPipeError, ConnectionResetError):
            getattr(self, "on_" + name[0].replace("-", "_"), self.on_unknown)(*name[1:])

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = handle_any  # noqa: N815 - as http.server names them

    def _read_body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, body, *, status=200, kind="application/json", **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def begin_chunked(self, kind="text/event-stream", **headers):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def reset(self):
        self.wfile.flush()
        time.sleep(0.05)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    # -- what can be asked -----------------------------------------------------------------------------------

    def on_unknown(self, *_):
        self.answer({"error": "not found"}, status=404)

    def on_json(self, *_):
        self.answer({"hello": "wörld", "n": self.nth}, X_Twice="1", ETag='"abc"')

    def on_delayed(self, *_):
        time.sleep(float(self.query.get("delay", 0.05)))
        self.answer({"n": self.nth})

    def on_echo(self, *_):
        self.answer(
            {
                "method": self.command,
                "path": self.path,
                "type": self.headers.get("Content-Type", ""),
                "encoding": self.headers.get("Transfer-Encoding", ""),
                "size": len(self.body),
                "body": base64.b64encode(self.body[:100_000]).decode(),
            }
        )

    def on_sse(self, *_):
        self.begin_chunked()
        for number in range(int(self.query.get("n", 5))):
            self.owner.sent.append(time.perf_counter())
            self.chunk(f"data: event {number}\n\n".encode())
            time.sleep(float(self.query.get("delay", 0.03)))
        self.wfile.write(b"0\r\n\r\n")

    def on_cookies(self, *_):
        self.send_response(200)
        self.send_header("Set-Cookie", "a=1; Path=/")
        self.send_header("Set-Cookie", "b=2; Path=/")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def packed(self, encoding):
        packed = packed_by(encoding)
        self.answer(packed, kind="text/plain; charset=utf-8", Content_Encoding=encoding)

    def on_gzip(self, *_):
        self.packed("gzip")

    def on_deflate(self, *_):
        self.packed("deflate")

    def on_br(self, *_):
        self.packed("br")

    def on_zstd(self, *_):
        self.packed("zstd")

    def on_gzip_sse(self, *_):
        self.begin_chunked(Content_Encoding="gzip")
        deflater = zlib.compressobj(6, zlib.DEFLATED, 31)
        for number in range(4):
            event = f"data: event {number} {self.owner.bodies.get('secret', '')}\n\n".encode()
            self.chunk(deflater.compress(event) + deflater.flush(zlib.Z_SYNC_FLUSH))
            time.sleep(0.03)
        self.chunk(deflater.flush())
        self.wfile.write(b"0\r\n\r\n")

    def on_packed_twice(self, *_):
        packed = gzip.compress(zlib.compress(f"hello {self.owner.bodies['secret']}".encode()), mtime=0)
        self.answer(packed, kind="text/plain; charset=utf-8", Content_Encoding="deflate, gzip")

    def on_bad_gzip(self, *_):
        self.answer(b"this is no gzip at all", Content_Encoding="gzip")

    def on_cut(self, encoding, how, *_):
        packed = packed_by(encoding)
        packed = packed[: len(packed) * 2 // 3]
        if how == "chunked":
            self.begin_chunked(Content_Encoding=encoding)
            self.chunk(packed[:20])
            self.chunk(packed[20:])
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.answer(packed, kind="text/plain", Content_Encoding=encoding)

    def on_binary(self, *_):
        self.answer(BINARY, kind="application/octet-stream")

    def on_big(self, *_):
        self.answer(BIG, kind="application/octet-stream")

    def on_until_close(self, *_):
        self.close_connection = True
        self.wfile.write(b"HTTP/1.0 200 Fine\r\nContent-Type: text/plain\r\n\r\nup to ")
        self.wfile.flush()
        time.sleep(0.03)
        self.wfile.write(b"the end")

    def on_nothing(self, *_):
        self.send_response(204)
        self.end_headers()

    def on_redirect(self, *_):
        self.answer({}, status=302, Location="/json")

    def on_status(self, status, *_):
        self.answer({"error": {"message": f"status {status}", "type": "test"}}, status=int(status))

    def on_flaky(self, *_):
        if self.nth % 3:
            self.answer({"error": {"message": "try again"}}, status=500)
        else:
            self.answer({"n": self.nth})

    def on_reset(self, *_):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * 100)
        self.reset()

    def on_reset_chunked(self, *_):
        self.begin_chunked("text/plain")
        self.chunk(b"first")
        self.reset()

    def on_truncated(self, *_):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * 100)

    def on_truncated_chunk(self, *_):
        self.close_connection = True
        self.begin_chunked("text/plain")
        self.chunk(b"first")
        self.wfile.write(b"64\r\nonly a part")

    def on_no_answer(self, *_):
        self.close_connection = True

    def on_slow(self, *_):
        self.owner.released.wait(120)

    def on_stalls(self, *_):
        self.begin_chunked("text/plain")
        self.chunk(b"first")
        self.owner.released.wait(120)

    def on_secret(self, *_):
        self.answer(
            {"api_key": self.owner.bodies["secret"]}, Set_Cookie=f"session={self.owner.bodies['secret']}"
        )

    # -- providers -------------------------------------------------------------------------------------------

    def on_v1(self, *what):
        if what and what[0] == "flaky" and self.nth % 3 == 1:
            self.answer({"error": {"message": "overloaded", "type": "server_error"}}, status=500)
            return
        asked = json.loads(self.body)
        getattr(self, "_messages" if what[-1] == "messages" else "_completions")(asked)

    def _completions(self, asked):
        words = f"You said: {asked['messages'][-1]['content']} (answer {self.nth})".split()
        base = {"id": f"chatcmpl-{self.nth}", "created": 1, "model": asked["model"]}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": " ".join(words), "refusal": None}
            choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
            usage = {"prompt_tokens": 3, "completion_tokens": len(words), "total_tokens": 3 + len(words)}
            self.answer({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        self.begin_chunked()
        for word in [*words, None]:
            delta = {} if word is None else {"content": word + " "}
            choice = {"index": 0, "delta": delta, "finish_reason": "stop" if word is None else None}
            self._event({**base, "object": "chat.completion.chunk", "choices": [choice]})
        self.chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, data, name=None):
        head = f"event: {name}\n" if name else ""
        self.chunk(f"{head}data: {json.dumps(data)}\n\n".encode())
        time.sleep(0.01)

    def _messages(self, asked):
        words = f"You said: {asked['messages'][-1]['content']} (answer {self.nth})".split()
        usage = {"input_tokens": 3, "output_tokens": len(words)}
        message = {"id": f"msg_{self.nth}", "type": "message", "role": "assistant", "model": asked["model"],
                   "stop_sequence": None, "usage": usage}  # fmt: skip
        if not asked.get("stream"):
            content = [{"type": "text", "text": " ".join(words)}]
            self.answer({**message, "content": content, "stop_reason": "end_turn"})
            return
        self.begin_chunked()
        start = {**message, "content": [], "stop_reason": None}
        self._event({"type": "message_start", "message": start}, "message_start")
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        self._event(block, "content_block_start")
        for word in words:
            delta = {"type": "text_delta", "text": word + " "}
            self._event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
        self._event({"type": "content_block_stop", "index": 0}, "content_block_stop")
        delta = {"stop_reason": "end_turn", "stop_sequence": None}
        self._event({"type": "message_delta", "delta": delta, "usage": usage}, "message_delta")
        self._event({"type": "message_stop"}, "message_stop")
        self.wfile.write(b"0\r\n\r\n")
