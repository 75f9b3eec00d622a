"""The functions of known libraries by which C and Rust code reaches the network."""

from __future__ import annotations

_CALLS = ("__call__", "with_call", "future")
_QUERIES = ("execute", "executemany", "stream", "copy")
_SENDING = ("request", "get", "head", "options", "delete", "post", "put", "patch")

SITES: dict[str, tuple[str, ...]] = {
    "psycopg.generators": ("connect",),
    "psycopg.cursor": tuple(f"Cursor.{name}" for name in _QUERIES),
    "psycopg.cursor_async": tuple(f"AsyncCursor.{name}" for name in _QUERIES),
    "psycopg2": ("_connect",),
    "MySQLdb.connections": ("Connection.__init__",),
    "mysql.connector.connection_cext": ("CMySQLConnection._open_connection", "CMySQLConnection.cmd_query"),
    "pymssql": ("connect",),
    "pymssql._pymssql": ("connect",),
    "pyodbc": ("connect",),
    "cx_Oracle": ("connect", "SessionPool"),
    "oracledb": ("init_oracle_client",),
    "confluent_kafka": ("Producer.__init__", "Consumer.__init__"),
    "zmq.sugar.socket": tuple(f"Socket.{name}" for name in ("connect", "bind", "send", "recv_multipart")),
    "pynng.nng": ("Socket.dial", "Socket.listen"),
    "curl_cffi.curl": ("Curl.perform",),
    "curl_cffi.aio": ("AsyncCurl.add_handle",),
    "pycurl": ("Curl.perform", "CurlMulti.add_handle"),
    "tls_client.sessions": ("Session.execute_request",),
    "primp": (*_SENDING, *(f"{kind}.{name}" for kind in ("Client", "AsyncClient") for name in _SENDING)),
    "grpc._channel": tuple(
        f"_{kind}MultiCallable.{name}"
        for kind in ("UnaryUnary", "UnaryStream", "SingleThreadedUnaryStream", "StreamUnary", "StreamStream")
        for name in _CALLS
    ),
    "grpc.aio._channel": tuple(
        f"{kind}MultiCallable.__call__" for kind in ("UnaryUnary", "UnaryStream", "StreamUnary", "StreamStream")
    ),
}  # fmt: skip
"""The functions that reach the network first, by the module that holds them."""
