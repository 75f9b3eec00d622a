"""Hostile texts of short pieces that were written down by hand: nothing here is made from the redactor's rules."""

from __future__ import annotations

import base64
import itertools
import json

ATOMS = (
    '"',
    "'",
    "\\",
    "{",
    "[",
    "<",
    ":",
    "=",
    ",",
    "@",
    "%",
    "&",
    "\n",
    " ",
    "/",
    "password",
    "token",
    "key",
    "sk-",
    "eyJ.",
    "Cookie: a=b; ",
    "-----BEGIN",
    "Bearer ",
    "4111",
    "://",
    "ab1",
)
RUNS = (
    "eyJhbGciOiJ9.eyJhIjoxfQ.x",
    "4111 1111 1111 1111 ",
    "4111111111111111,",
    "@a",
    "\\u0070",
    "%70%61%73%73",
    "https://h.test/o?X-Amz-Signature=0123456789abcdef0123&Expires=1 ",
    "https://u:p@h.test/ ",
    base64.b64encode(bytes(range(48))).decode(),
    "user,password\nann,x1y2z3w4\n",
    "password\nx1y2z3w4\n",
    '{"name": "password", "value": "x1y2z3w4"}, ',
    '{"value": "x1y2z3w4", "name": "password"} ',
    '"password": "{{{{", ',
    'name { "password" } ',
    "INSERT INTO t (a, password) VALUES ('b', 'x1y2z3w4'), ",
    "VALUES ('a', 'b'), ",
    "WIFI:T:WPA;S:a;P:x1y2z3w4;; ",
    "WIFI:",
    '["user", "password"], ["ann", "x1y2z3w4"], ',
    '"columns": ["password"], "rows": [["',
    '"sensitive": true, ',
    '"sensitive_attributes": [[{"type": "get_attr", "value": "a"}]], ',
    "kind: Secret\ndata:\n  a: eDF5Mg==\n",
    '"kind": "Secret", "data": {"a": "eDF5Mg=="}, ',
    "h.test:5999:d:u:x1y2z3w4\n",
    "password: |\n  x1\n\n",
    "password = <<EOF\n",
    'password = """\n',
    "COPY t (a, password) FROM stdin;\n",
    "curl -x a:b@h ",
    "password: !!str &a ",
    "requirepass x1y2z3w4\n",
    "password |\n---|\n",
    "\ud800",
    "<password ",
    "<a password='x' ",
    "--password x ",
    "mysql -px1y2 ",
    "Environment=A=b PASSWORD=x1y2 ",
)
PADS = (0, 40, 150)


def pieces() -> list[str]:
    """All runs, all atoms, and all pairs of atoms, each with spare letters behind it."""
    pairs = ["".join(pair) for pair in itertools.product(ATOMS, repeat=2)]
    return [piece + "x" * pad for pad in PADS for piece in (*RUNS, *ATOMS, *pairs)]


def deep(levels: int) -> list[object]:
    """Values nested that deep: lists, objects, and texts of JSON."""
    lists: object = "password=x1y2z3w4"
    objects: object = lists
    texts = json.dumps({"password": "x1y2z3w4"})
    for level in range(levels):
        lists, objects = [lists], {"password": objects}
        texts = json.dumps({"a": texts}) if level < 3 else texts
    return [lists, objects, texts]


def wide(size: int) -> list[bytes]:
    """Texts in UTF-16 of about that many bytes."""
    return [(piece * (size // (2 * len(piece)) + 1)).encode("utf-16") for piece in ("password=", "sk-", '"')]
