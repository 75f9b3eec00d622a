"""Secrets of every shape, and the search for them: in plain, escaped, packed and encoded form."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import random
import re
import string
import urllib.parse
import zipfile
import zlib
from pathlib import Path

from reenact.core.redact.marks import Database

_LETTERS = string.ascii_letters + string.digits
_chance = random.Random(20)


def _some(count, letters=_LETTERS):
    # The first is a digit, so that the whole looks like a key, whatever comes out.
    return "7" + "".join(_chance.choice(letters) for _ in range(count - 1))


# Put together here, so that no scanner of repositories takes them for real ones.
SHAPES = {
    "openai": "sk-" + _some(40),
    "openai project": "sk-proj-" + _some(48),
    "anthropic": "sk-ant-" + "api03-" + _some(40),
    "openrouter": "sk-or-" + "v1-" + _some(40),
    "google": "AIza" + _some(35),
    "google oauth": "ya29." + _some(40),
    "aws": "AKIA" + _some(16, string.ascii_uppercase + "234567"),
    "github": "ghp_" + _some(36),
    "github fine-grained": "github_" + "pat_" + _some(50),
    "gitlab": "glpat-" + _some(20),
    "slack": "xoxb-" + _some(40),
    "stripe": "sk_" + "live_" + _some(24),
    "stripe hook": "whsec_" + _some(32),
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + _some(30) + "." + _some(30),
    "huggingface": "hf_" + _some(34),
    "groq": "gsk_" + _some(40),
    "npm": "npm_" + _some(36),
    "pypi": "pypi-" + _some(50),
    "sendgrid": "SG." + _some(22) + "." + _some(43),
    "twilio": "SK" + _some(32, "0123456789abcdef"),
    "databricks": "dapi" + _some(32, "0123456789abcdef"),
    "xai": "xai-" + _some(40),
    "perplexity": "pplx-" + _some(40),
    "nvidia": "nvapi-" + _some(40),
    "digitalocean": "dop_" + "v1_" + _some(64, "0123456789abcdef"),
    "vault": "hvs." + _some(24),
}
"""Recognised wherever they stand."""

NAMED = "zx9" + _some(24)
"""Without a shape: found only under a name that says that it is a secret."""

HELD = "kv4" + _some(24)
"""Without a shape: found wherever it stands, because a variable of the environment holds it."""

EVERYWHERE = " ".join([*SHAPES.values(), HELD])
"""All that must be found wherever it stands, as one text."""

WINDOW = 10
"""So many characters of a secret on disk are a leak."""


def pieces(secret):
    """The parts of a secret that must not be on disk: runs of its random characters."""
    body = re.sub(r"^[A-Za-z_]+[\d_.-]*?[-_.]", "", secret)
    return {body[at : at + WINDOW].encode() for at in range(len(body) - WINDOW + 1)}


PIECES = {
    piece: name
    for name, secret in {**SHAPES, "named": NAMED, "held": HELD}.items()
    for piece in pieces(secret)
}
_NAMES = list(PIECES.values())
_ANY = Database([(piece, 0) for piece in PIECES], literal=True)
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}")


def leaks(folder):
    """The names of the secrets of which a part stands in any file below a folder, with the file."""
    found = set()
    for path in Path(folder).rglob("*"):
        if path.is_file():
            found |= {(name, path.name, how) for name, how in search(path.read_bytes())}
            found |= {
                (name, str(path.relative_to(folder)), "in its name")
                for name, _ in search(str(path).encode(), 0)
            }
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as archive:
                    for member in archive.namelist():
                        found |= {(name, member, how) for name, how in search(archive.read(member))}
    return found


def search(data, depth=2, how="plain"):
    """The secrets in bytes: as they stand, and in whatever the bytes are an encoding of."""
    found = {(_NAMES[number], how) for number, _ in _ANY.scan(data, 1 << 30)}
    if depth:
        for name, view in _views(data):
            found |= search(view, depth - 1, f"{how}, {name}")
    return found


def _views(data):
    if b"\\" in data:
        yield "unescaped", re.sub(rb"\\u00([0-9a-f]{2})", lambda m: bytes.fromhex(m[1].decode()), data)
    if b"%" in data:
        yield "unquoted", urllib.parse.unquote_to_bytes(data)
    if b"\x00" in data:
        yield "utf-16", data.replace(b"\x00", b"")
    for run in set(_BASE64.findall(data)):
        for offset in range(4):
            yield from _decoded(run[offset:])
    for magic in re.finditer(rb"\x1f\x8b\x08|\x78[\x01\x9c\xda]", data):
        yield from _inflated(data[magic.start() :])


def _decoded(run):
    plain = run[: len(run) // 4 * 4].translate(bytes.maketrans(b"-_", b"+/"))
    try:
        yield "base64", base64.b64decode(plain)
    except binascii.Error:
        return
    if len(run) % 2 == 0 and re.fullmatch(rb"[0-9a-fA-F]+", run):
        yield "hex", bytes.fromhex(run.decode())


def _inflated(data):
    try:
        yield "compressed", zlib.decompressobj(47).decompress(data)
    except zlib.error:
        return


def test_the_search_finds_what_is_hidden():
    secret = SHAPES["openai"]
    for hidden in (
        secret.encode(),
        secret[5:25].encode(),
        base64.b64encode(f"user:{secret}".encode()),
        b"xx" + base64.b64encode(gzip.compress(f"{secret} {string.printable}".encode())),
        gzip.compress(json.dumps({"a": secret}).encode()),
        secret.encode("utf-16-le"),
        "".join(f"\\u00{ord(c):02x}" for c in secret).encode(),
        "".join(f"%{ord(c):02x}" for c in secret).encode(),
        secret.encode().hex().encode(),
    ):
        assert {name for name, _ in search(hidden)} == {"openai"}, hidden
