"""Texts made of the redactor's own prefixes, names and delimiters, as many as go into them.

They are built from the rules, so that a new rule is covered at once.
"""

from __future__ import annotations

import json

from reenact.core.redact import DEFAULT_RULES
from reenact.core.redact.marks import _AFTER_A_NAME
from reenact.core.redact.names import Names
from reenact.core.redact.placed import place_marks
from reenact.core.redact.shapes import SHAPES
from reenact.core.redact.shell_commands import command_marks

VALUE = "abcd1234"
SYNTAXES = (
    '"{n}":',
    '{{"{n}":',
    '{{"{n}": ["',
    '"{n}": "{v}",',
    '{{"{n}": "{v}"}},',
    '"{n}": ["{v}",',
    '"{n}",["',
    '["{n}","{v}"],',
    '\\"{n}\\":\\"',
    '\\"{n}\\":\\"{v}\\",',
    '\\\\\\"{n}\\\\\\": \\\\\\"{v}\\\\\\",',
    '"name":"{n}","value":"{v}",',
    '"name":"{n}","value":"',
    '"{n}": 12345,',
    "'{n}': '",
    "{n}='",
    "{n}=",
    "{n}={v}&",
    "{n}: {v}\n",
    "{n}: a b c d ",
    "{n}: |\n  {v}\n",
    "name: {n}\nvalue: {v}\n",
    'name="{n}"\r\n\r\n{v}\r\n--',
    'name="{n}"\r\nA: b\r\n\r\n',
    'name="{n}"\r\n\r\n',
    'name="{n}";',
    "<{n}>",
    "<{n}>{v}</{n}>",
    "<{n} ",
    '<{n} a="',
    '<input name="{n}" value="{v}">',
    '<input value="{v}" name={n}>',
    '<input name="{n}" ',
    '<a name="{n}" value="',
    "<key>{n}</key><string>{v}</string>",
    "--{n} ",
    "--{n} {v} ",
    "{n} '{v}' ",
    "ENV {n} {v}\n",
    "{n}  ",
    '{n}" ,"',
    "{n}\\n\\n",
    "%22{n}%22%3A%22{v}%22",
    "&quot;{n}&quot;:&quot;{v}&quot;",
    "\\u0022{n}\\u0022:",
)
_LISTED = 24  # names that are put into each syntax; all of them are put into one


def kinds() -> list[str]:
    """One name of each kind and number of words."""
    names = Names(DEFAULT_RULES)
    found: dict[tuple[str | None, int], str] = {}
    for name in sorted(DEFAULT_RULES.names | DEFAULT_RULES.headers):
        found.setdefault((names.kind(name.encode()), min(2, len(name.replace("-", "_").split("_")))), name)
    return sorted(found.values())


def fragments() -> list[str]:
    """Each prefix, name and delimiter of the rules, alone and with what makes it a secret."""
    found = {mark.text for mark, _ in [*place_marks(), *command_marks()]}
    for shape in SHAPES:
        found |= {
            f"{shape.prefix}{'a' * shape.least}",
            f"{shape.prefix}{'A1b2' * shape.least} ",
            f'"{shape.prefix}{"0a1b2c3d" * 5}",',
            f"{shape.prefix}a1-",
        }
    for mark, _ in command_marks():
        found |= {
            f"{mark.text} -u me:{VALUE} ",
            f"{mark.text} -p {VALUE}\n",
            f"{mark.text} -",
            f" {mark.text} -pa",
        }
    for name in kinds():
        found |= {syntax.format(n=name, v=VALUE) for syntax in SYNTAXES}
        found |= {name + after for after in _AFTER_A_NAME}
        found.add("".join(f"%{ord(char):02x}" for char in name) + "=")
        found.add('"' + "".join(f"\\u00{ord(char):02x}" for char in name) + '":"')
    found |= {
        f'"{name}":"{VALUE}",' for name in sorted(DEFAULT_RULES.names | DEFAULT_RULES.headers)[:_LISTED]
    }
    found |= {
        *(
            "a=b;",
            '"',
            "\\",
            "/",
            "@",
            " ",
            "[[secret:x:01234567]]",
            "[",
            "{",
            '{"a":',
            "postgres://a:b@",
            "/a:b@",
        ),
        *(
            "%41",
            "%25",
            "%41a",
            "%2541",
            "\\u0041",
            "\\u0041a",
            "\\x41",
            "&quot;",
            "&#65;",
            "&amp;a",
            "\\\\u005c",
        ),
        *(
            "<",
            "<a ",
            "<a b=c ",
            '<a b="',
            "\\n",
            "\\",
            "token=%61%62%63%64",
            "TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcms=",
        ),
        *(
            "-----BEGIN RSA PRIV" + "ATE KEY-----\nA: ",
            "eyJaaaaaaaaaaaa.",
            "eyJhbGciOiJ9.eyJhbGciOiJ9.abcdef ",
        ),
    }
    return sorted(found)


def forms(fragment: str, size: int) -> dict[str, bytes]:
    """About that many bytes of the fragment: raw, as one string of an event, in a list, as members, and nested."""
    text = fragment * (size // len(fragment.encode()) + 1)
    item = json.dumps(fragment)
    count = size // (len(item) + 1) + 1
    members = {f"{fragment}{number}": fragment for number in range(size // (2 * len(item) + 8) + 1)}
    return {
        "raw": text.encode(),
        "string": json.dumps({"event": "returned", "value": text}).encode(),
        "list": json.dumps({"event": "returned", "value": [fragment] * count}).encode(),
        "members": json.dumps({"event": "returned", "value": members}).encode(),
        "nested": json.dumps({"event": "returned", "value": json.dumps([fragment] * count)}).encode(),
    }
