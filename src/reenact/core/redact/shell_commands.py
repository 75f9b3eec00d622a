"""Secrets in commands, as a line or a list: `curl -u me:SECRET`, `sshpass -p X`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reenact.core.patterns import lazy
from reenact.core.redact.marks import CASELESS, MarkPattern
from reenact.core.redact.names import dense, is_placeholder
from reenact.core.redact.text import FoundSecret, Look, hit
from reenact.core.redact.work import LOOKS_A_HIT, Work

_REACH = 2048  # bytes after a command's name that are searched for its arguments
_BEHIND = 1024
# The dash of a flag: the pattern begins with that literal, for which `re` searches fast.
_DASH = rb"-(?<=[\s\"'`\[,]-)"
# What may stand between a flag and its value.
_BETWEEN = rb"[\s,=]*+(?:\\{0,15}[\"'])?(?:[\s,]*+\\{0,15}[\"'])?"
_SECRET = rb"(?P<secret>[^\s\"'\\,$<{*|;&`][^\s\"'\\|;&`]{2,})"
_USER = (
    rb"(?:[uUa]|-(?:user|proxy-user|auth|http-user))(?=[\s=\"'\\\w])"
    + _BETWEEN
    + rb"(?P<user>[^\s:\"'\\,/=$<{]{0,80}):"
    + rb"(?P<secret>(?!//)[^\s\"'\\$<{*][^\s\"'\\]*+)"
)
_CREDENTIALS = lazy(rb"-" + _USER)
_USER_ANYWHERE = lazy(_DASH + _USER)
_PROXY = lazy(
    _DASH
    + rb"(?:x|-proxy)"
    + _BETWEEN
    + rb"[^\s:/@\"'\\]{1,80}:(?P<secret>[^\s:/@\"'\\$<{*][^\s/@\"'\\]*+)(?=@)"
)
_COOKIES = lazy(
    _DASH + rb"b" + _BETWEEN + rb"(?P<secret>[\w.\-]{1,80}=[^\s\"'\\]++(?:;[ ]?[\w.\-]{1,80}=[^\s\"'\\]++)*)"
)
_GROUP = lazy(rb"[0-9]+|[a-z_-]{1,20}")
_HTTP = (b"curl", b"wget", b"http", b"xh ")


def _flag(flags: bytes) -> re.Pattern[bytes]:
    return lazy(_DASH + rb"(?:" + flags + rb")" + _SECRET)


_GAP = rb"(?:\s|\\{1,15}[nrt])++"
_WORD = rb"[^\s\"'\\]{1,200}"
_SPACED = rb"(?:[\s,]|\\{0,15}[\"'])++"
# The command's name, and the flag before its secret.
_COMMANDS: dict[str, tuple[re.Pattern[bytes], ...]] = {
    "curl": (_USER_ANYWHERE, _COOKIES, _PROXY),
    "http ": (_USER_ANYWHERE,),
    "https ": (_USER_ANYWHERE,),
    "sshpass": (_flag(rb"p" + rb"(?:" + _SPACED + rb")?"),),
    "mysql": (_flag(rb"p(?:\\{0,15}[\"'])?"),),
    "mariadb": (_flag(rb"p(?:\\{0,15}[\"'])?"),),
    "7z ": (_flag(rb"p(?:\\{0,15}[\"'])?"),),
    "requirepass ": (lazy(rb"(?<=requirepass)\s++" + _SECRET),),
    "redis-cli": (_flag(rb"a" + _SPACED),),
    "ldapsearch": (_flag(rb"w" + _SPACED),),
    "mongo": (_flag(rb"p" + _SPACED),),
    "docker login": (_flag(rb"p" + _SPACED),),
    "podman login": (_flag(rb"p" + _SPACED),),
    "machine ": (
        lazy(rb"password(?<=\spassword)\s++(?=[a-z]*+[^\sa-z\"'\\])" + _SECRET),
        lazy(rb"e " + _WORD + _GAP + rb"login" + _GAP + _WORD + _GAP + rb"password" + _GAP + _SECRET),
    ),
    "default login ": (lazy(rb"n " + _WORD + _GAP + rb"password" + _GAP + _SECRET),),
    "keytool": (_flag(rb"(?:src|dest)?(?:storepass|keypass)" + _SPACED),),
    "az login": (_flag(rb"p" + _SPACED),),
    "registry login": (_flag(rb"p" + _SPACED),),
    "openssl": (_flag(rb"(?:pass|passin|passout)" + _SPACED + rb"pass:"),),
    "sqlcmd": (_flag(rb"P" + rb"(?:" + _SPACED + rb")?"),),
    "mosquitto_": (_flag(rb"P" + _SPACED),),
    "unzip": (_flag(rb"P" + _SPACED),),
    "smbclient": (lazy(_DASH + rb"U" + _BETWEEN + rb"[^\s%\"'\\]{1,80}%" + _SECRET),),
    "oracle:thin:": (lazy(rb"[^\s/:@\"'\\]{1,80}/(?P<secret>[^\s/:@\"'\\]{3,})@"),),
    "sqlplus ": (lazy(rb"[^\s/:@\"'\\]{1,80}/(?P<secret>[^\s/:@\"'\\]{3,})@"),),
    "identified by": (lazy(rb"(?<=by)\s++\\{0,15}[\"']" + _SECRET, re.IGNORECASE),),
}
_OTHER_FLAGS = ("--user", "--proxy-user", " -u ", '"-u"', "'-u'", '-u\\"')


def command_marks() -> Iterator[tuple[MarkPattern, Look]]:
    """Yield the marks of commands and credential flags, each with its look."""
    for name, flags in _COMMANDS.items():
        yield MarkPattern(name, CASELESS), _command(name, flags)
    for flag in _OTHER_FLAGS:
        yield MarkPattern(flag, back=len(flag) - flag.index("-")), _credentials


def _command(name: str, flags: tuple[re.Pattern[bytes], ...]) -> Look:
    def look(data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
        begin = max(at - 2, work.read_to.get(name, 0))
        end = min(len(data), at + _REACH)
        if begin >= end:
            return
        work.read_to[name] = end
        work.read((end - begin) // 2)
        for flag in flags:
            for found in flag.finditer(data, begin, end):
                work.spend(LOOKS_A_HIT)
                if not is_placeholder(found["secret"]):
                    yield from _hit(data, found)

    return look


def _credentials(data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
    """`--user me:SECRET` without a known command before it: only what looks like a secret."""
    found = _CREDENTIALS.match(data, at, at + 512)
    if found and (dense(found["secret"].decode("utf-8", "replace")) or _is_http(data, at)):
        yield from _hit(data, found)


def _is_http(data: bytes, at: int) -> bool:
    behind = data[max(0, at - _BEHIND) : at]
    return any(name in behind for name in _HTTP)


def _hit(data: bytes, found: re.Match[bytes]) -> Iterator[FoundSecret]:
    """Yield the hit; not for `-u 1000:1000` and `-u node:node`, which name a user and a group."""
    secret = found["secret"]
    user = found.groupdict().get("user")
    if (
        user is not None
        and _GROUP.fullmatch(user)
        and _GROUP.fullmatch(secret)
        and (user == secret or secret.isdigit())
    ):
        return
    if len(secret) >= 3:
        yield from hit(data, *found.span("secret"), secret.decode("utf-8", "surrogateescape"))
