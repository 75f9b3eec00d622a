"""The written forms of a secret name and its value, as regular expressions."""

from __future__ import annotations

import re

from reenact.core.patterns import lazy
from reenact.core.redact.text import SOFT

GAP = rb"(?:\s|\\{1,15}[nrt])*+"  # spaces, also escaped, as in JSON in a string
CLOSE = rb"\\{0,15}[\"']"
END_OF_LINE = rb"(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n)"
# What follows the name, up to the value. The outer group that matches tells how the two are written.
AFTER = lazy(
    rb"""
      (?P<object> CLOSE GAP (?: , | : GAP \{ ) GAP CLOSE value CLOSE GAP : GAP (?P<oslashes>\\{0,15}) (?P<oopen>["']) )
    | (?P<string> (?:(?P<kslashes>\\{0,15}) (?P<kquote>["']))?
                  (?: \]? GAP (?::=|=>|:|=) | (?<=["']) GAP (?P<pair>,) )
                  GAP [bru]? (?: (?P<triple> "" (?=") | \'\' (?=\') ) | (?P<three>\\{1,15})"(?P=three)"
                                (?=(?P=three)") )?
                  (?P<slashes>\\{0,15}) (?P<open>["'`\[]) )
    | (?P<block>  [ \t]? : [ \t]{0,4} YAML [|>] [+\-0-9]{0,2} [ \t]{0,4} (?:\#[^\r\n\\"]{0,200})?
                  EOL (?P<indent>[ \t]{1,40}) )
    | (?P<heredoc> [ \t]{0,40} = [ \t]{0,4} <<[\-~]? \\{0,15}["']? (?P<word>[A-Za-z_]\w{0,30}) \\{0,15}["']? EOL )
    | (?P<below>  : [ \t]{0,4} (?P<newline>EOL) (?P<item>[ \t]{0,40}(?:-[ \t]{1,4})?) (?<=[ ]) (?:CLOSE)?
                  (?=[^\s"'\\&{}\[\]<>$(|*!\#:\-]{4}) )
    | (?P<later>  (?:CLOSE)? EOL (?:[ \t]|\\{1,15}t){0,40} (?:CLOSE)? value (?:CLOSE)? [ ]{0,4} [:=] [ \t]{0,4}
                  (?:CLOSE)? (?=[^\s"'\\&{}\[\]<>$(|*!]{3}) )
    | (?P<number> (?P<nquote>CLOSE) GAP : GAP (?=[0-9]{3}) )
    | (?P<bare>   (?:\]|%5D|(?P<kept>CLOSE)?(?P<gap>[ \t])?)? (?P<sep>[:=]) (?P<gap2>[ \t]{0,4} (?:(?<=[ \t]) YAML)?)
                  (?=[^\s"'\\&{}\[\]<>$(|*!]{3}) )
    | (?P<braced> [ ]?=[ ]? \{ (?=[^\s"'\\{}$<>]{4,200}\}) )
    | (?P<tag>    > (?=GAP (?:<!\[)?[^\s<>&]{3}) )
    | (?P<part>   (?:CLOSE)? (?:;(?:[^\r\n\\]{1,100}+|\\{1,15}["']){0,6}+)? EOL
                  (?:[A-Za-z\-]{1,40}+:[^\r\n\\]{0,200}+ EOL){0,4}+ EOL )
    | (?P<element> (?=</) )
    | (?P<sql>    [ ]{1,3} \\{0,15} ' (?=[^\s'"\\,)]{4}) )
    | (?P<flag>   [ ]{1,3} (?:CLOSE)? (?=[^\s"'\\\-]{3}) )
    """.replace(b"CLOSE", CLOSE)
    .replace(b"GAP", GAP)
    .replace(b"YAML", rb"(?:[!&][\w!.:/\-]{0,40}[ \t]{1,4}){0,2}")
    .replace(b"EOL", END_OF_LINE),
    re.IGNORECASE | re.VERBOSE,
)
# The name itself, read backwards.
KEY_BEHIND = lazy(rb"(?P<name>[\w.\- $]{1,80})(?P<before>.{0,80})", re.DOTALL)
WORD_BEHIND = lazy(rb"(?P<name>[\w.\-]{1,80})(?P<before>.{0,80})", re.DOTALL)
FIELD_BEHIND = lazy(rb"(?:[\"']\\*)?=eman")
NAME_BEHIND = lazy(rb"(?:[\"']\\*)?[ \t]*[:=][ \t]*(?:[\"']\\*)?(?:eman|yek)", re.IGNORECASE)
ASSIGNS_BEHIND = lazy(
    rb" +(?:VNE|GRA|xtes|vnetes|[A-Za-z]{1,3}- tes)(?![A-Za-z](?!\\))"
)  # `ENV`, `ARG`, `setx`, `setenv`
PART_ENDS = (b"\n--", b"\\n--")  # before the next boundary of a multipart form: a newline, plain or escaped
LAST_LINE = lazy(rb"[^\r\n\\\"]++(?=\\*+\"|\Z)")  # of a form that breaks off
ESCAPED_RETURN = lazy(rb"(?:\\{1,15}r)?\\{0,15}\Z")
LONGEST_PART = 8192  # bytes
TAG_BEHIND = lazy(rb"(?::[\w.\-]*)?<")
PAIR_OPENS_BEHIND = lazy(rb"[\"']\\*b?(?:\s|[nrt]\\+)*[\[(]")

PAIR_ENDS = lazy(rb"\\*[\"']" + GAP + rb"[\])]")
NO_VALUE = lazy(rb"[)\],;}]|\\+[nr]|\s")
ITEM = lazy(rb"(?:[\s,]|\\{1,15}[nrt])*+[bru]?(?P<slashes>\\{0,15})(?P<open>[\"'])")
# A member with a name that may mean something else and a value that is no secret, or a word with its probability, as
# models return thousands: read in one step.
WEAK = ("token", "session", "auth", "pass")
PASSED = (
    rb"(\\{0,15})\":\s?\1\"(?:(?:[^\"\\]{0,7}|[^\"\\0-9]{0,15})\1\""
    rb"|[^\"\\]{0,64}+\1\",\s?\1\"(?:logprob|bytes)\1\")"
)
LOG_PROBABILITY = lazy(rb"\\*\"\s*,\s*\\*\"(?:logprob|bytes)\\*\"")
SCHEME = lazy(
    rb"\s*(?:bearer|basic|token|apikey|api-key|digest|negotiate|bot|aws4-hmac-sha256)(?:\s+|%20|\+)",
    re.IGNORECASE,
)
# Where one cookie ends and the next begins, and its name and value: each byte is read twice at most.
COOKIE_ENDS = lazy(rb";|,(?=\s*+[^=;,\s]++=)")
COOKIE = lazy(rb"(?<![^=;,\s\"\\])([^=;,\s\"\\]++)=")
COOKIE_WORDS = frozenset(b"path domain expires max-age samesite version priority".split())
BARE_VALUE = lazy(rb"(?:[^\s&;,\"'`()<>\\{}\[\]|]++|" + SOFT + rb")++")
REST_OF_LINE = lazy(
    rb"(?:[^\r\n\"'\\]++|"
    + SOFT
    + rb"|(?<==)\\{0,15}\"[\w/][^\"\\\r\n]{0,400}+\\{0,15}\")++"  # of `Digest`, too
)
QUOTE = lazy(rb"\\{0,15}[\"']")
LINE_ENDS = lazy(rb"[ \t]*+(?:\Z|[\r\n\"'#]|\\+[nrt\"'])")
FLAG_VALUE = lazy(rb"[^\s\"'\\$<{\[][^\s\"'\\]*")
TAGGED = lazy(GAP + rb"(?:<!\[CDATA\[)?([^<>\s\"\\]+?)(?:\]\]>)?" + GAP + rb"\\*(?=</)")
SQL_VALUE = lazy(rb"[^\s'\"\\]{4,}")
BLOCK_LINE = rb"[^\r\n\"\\]++"
NUMBER = lazy(rb"-?[0-9][0-9.eE+\-]*(?=[\s,}\]]|\Z)")
ENDS_A_VALUE = frozenset({b'"', b"'", b"\\", b"\r", b"\n", b""})
IN_A_TAG = frozenset({b'"', b"'", b" ", b"\t", b"\r", b"\n", b"/", b">", b"\\"})
DIGITS = lazy(rb"[0-9]{4,32}+(?=\s*+[,}\]\\])")
IDENTIFIER = lazy(r"[A-Za-z_][A-Za-z_.]*")
