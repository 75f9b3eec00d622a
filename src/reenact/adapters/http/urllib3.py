"""urllib3 (requests, boto3): `HTTPConnectionPool._make_request`, one attempt of a request.

It is below retries and redirects, and includes all network traffic of an attempt, also a proxy's tunnel and TLS.
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from reenact.adapters import hooks
from reenact.adapters.http import exchange
from reenact.adapters.http.coding import Coding, coding_of
from reenact.adapters.http.framing import Served, StandIn, length_again
from reenact.adapters.http.http_client import tee
from reenact.adapters.scopes import listening
from reenact.core.boundary import Call, begin, reporting

_BLOCK = 16384
_LIMITS = (("connect", "_connect"), ("read", "_read"), ("total", "total"))
_NEEDED = (
    "conn",
    "method",
    "url",
    "body",
    "headers",
    "retries",
    "response_conn",
    "preload_content",
    "decode_content",
)


def install(module: ModuleType) -> None:
    """Patch `urllib3.connectionpool`. Raises HookMissing."""
    pool: Any = module.HTTPConnectionPool
    known = inspect.signature(pool._make_request).parameters if hasattr(pool, "_make_request") else {}
    if not set(_NEEDED) <= known.keys():
        raise hooks.HookMissing(
            "this urllib3 is older than 2.0 or unknown: requests and boto3 are not recorded (and a replay refuses "
            "them); install urllib3 >= 2"
        )
    library = _Urllib3Library()
    hooks.patch(pool, "_make_request", library.hook, library="urllib3")
    for kind in (pool, module.HTTPSConnectionPool):
        if "_prepare_proxy" in kind.__dict__:
            hooks.patch(kind, "_prepare_proxy", library.proxy_hook, library="urllib3")


class _Urllib3Library:
    def __init__(self) -> None:
        self._signature: inspect.Signature

    def hook(self, original: Any) -> Any:
        self._signature = inspect.signature(original)

        def _make_request(pool: Any, conn: Any, *args: Any, **options: Any) -> Any:
            if listening() is None:
                return original(pool, conn, *args, **options)
            bound = self._signature.bind(pool, conn, *args, **options)
            bound.apply_defaults()
            return self._cross(original, bound.arguments)

        return _make_request

    def proxy_hook(self, original: Any) -> Any:
        def _prepare_proxy(pool: Any, conn: Any) -> Any:
            if listening() is None:
                return original(pool, conn)
            # The tunnel belongs to the attempt, which begins in a moment.
            conn._reenact_proxy = lambda: original(pool, conn)
            return None

        return _prepare_proxy

    def _cross(self, original: Any, args: dict[str, Any]) -> Any:
        pool, conn, method = args["self"], args["conn"], args["method"]
        headers = [
            (exchange.text(key), exchange.text(value)) for key, value in (args["headers"] or {}).items()
        ]
        url = args["url"] if "://" in args["url"] else _origin(pool) + args["url"]
        prepare = conn.__dict__.pop("_reenact_proxy", None)
        if exchange.upgrades(headers, url):
            return _attempt(original, args, prepare)
        body = _body(args)
        call = begin(
            exchange.effect(method, url, headers, body, _limits(pool, args.get("timeout"))), Coding()
        )
        if call is None:
            return _attempt(original, args, prepare)
        preload, args["preload_content"] = args["preload_content"], False
        if call.answer is not None:
            response = self._replayed(call, args)
        else:
            exchange.keeps_model(call, "urllib3")
            with reporting(call):
                response = _attempt(original, args, prepare)
            _tee(response, call)
        if preload:
            # Read here: the response's constructor would read without recording.
            response._body = response.read(decode_content=args["decode_content"])
        return response

    def _replayed(self, call: Call, args: dict[str, Any]) -> Any:
        from http.client import HTTPResponse as Low

        from urllib3 import HTTPHeaderDict, HTTPResponse

        pool = args["self"]
        pool.num_requests += 1
        try:
            head = call.recorded.serve()
        except Exception as error:
            _mend(error, args)
            raise
        low: Any = Low(StandIn(Served(call, head, args["method"])), method=args["method"])  # type: ignore[arg-type]
        low.begin()
        names = inspect.signature(HTTPResponse.__init__).parameters
        options = {
            "body": low,
            "headers": HTTPHeaderDict(low.headers.items()),
            "status": low.status,
            "version": low.version,
            "version_string": head["version"],
            "reason": low.reason,
            "preload_content": False,
            "decode_content": args["decode_content"],
            "original_response": low,
            "enforce_content_length": args["enforce_content_length"],
            "request_method": args["method"],
            "request_url": args["url"],
        }
        response: Any = HTTPResponse(**{name: value for name, value in options.items() if name in names})
        length = length_again(call, head)
        if length is not None and low.length:
            low.length = response.length_remaining = length
        response.retries = args["retries"]
        response._connection = args["response_conn"]
        response._pool = pool
        return response


def _limits(pool: Any, given: Any) -> dict[str, float | None]:
    """Return the time limits of an attempt."""
    limits = pool._get_timeout(given) if hasattr(pool, "_get_timeout") else given
    found = {name: getattr(limits, attribute, None) for name, attribute in _LIMITS}
    return {name: float(value) if isinstance(value, (int, float)) else None for name, value in found.items()}


def _attempt(original: Any, args: dict[str, Any], prepare: Any) -> Any:
    options = dict(args)
    pool, conn = options.pop("self"), options.pop("conn")
    if prepare is not None:
        prepare()
    return original(pool, conn, **options)


def _tee(response: Any, call: Call) -> None:
    low = getattr(response, "_original_response", None)
    if low is not None:
        tee(low, call)
        return
    # HTTP/2, which urllib3 offers as an experiment, reads a body whole.
    headers = list(response.headers.items())
    call.returned(exchange.head(response.status, response.reason, "HTTP/2", headers), stream=True)
    for part in [response._body] if getattr(response, "_body", None) else []:
        call.chunk(part)
    for mark in coding_of(call).mark():
        call.chunk(mark)
    call.over()


def _body(args: dict[str, Any]) -> exchange.Body:
    body = args["body"]
    if body is None:
        return exchange.Body()
    if isinstance(body, (bytes, str)):
        return exchange.Body.of([body])
    if hasattr(body, "read"):
        kept = exchange.Body()
        while block := body.read(_BLOCK):
            kept.add(block)
    else:
        try:
            memoryview(body)
        except TypeError:
            kept = exchange.Body.of(part for part in body if part)
        else:
            return exchange.Body.of([bytes(body)])
    args["body"] = kept.parts()
    return kept


def _origin(pool: Any) -> str:
    port = "" if pool.port in (None, {"http": 80, "https": 443}.get(pool.scheme)) else f":{pool.port}"
    host = f"[{pool.host}]" if ":" in pool.host and not pool.host.startswith("[") else pool.host
    return f"{pool.scheme}://{host}{port}"


def _mend(error: Exception, args: dict[str, Any]) -> None:
    """Give a recorded error the connection and pool of this run, which are not recorded."""
    for name, value in (("conn", args["conn"]), ("pool", args["self"]), ("_pool", args["self"])):
        if name in vars(error):
            setattr(error, name, value)
