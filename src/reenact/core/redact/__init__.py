"""Replace secrets before anything is written.

Every byte of a recording crosses a `Redactor`. A known or recognised secret is replaced by a
token, `[[secret:<label>:<8 hex>]]`: a keyed hash of the value, so that equal secrets stay equal, a replay can
still match its requests, and the value cannot be guessed without the salt.

How it finds them, in the order of cost:

1. One pass of hyperscan over the bytes, with the beginnings of all shapes and the names of all keys at once
   (`marks`; some 3 GB/s). It only raises marks: *here may be a secret*. No mark, no work, and `line` hands
   back the very object it was given.
2. At each mark, Python's `re` looks at that place only, and decides what exactly is the secret (`named`,
   `placed`).
3. The exact values that the process is known to hold (environment, `learn`) are a second pass (`known`).

A token depends on the value alone, never on the place where it was found; else the same key would get one
name in a header and another in a prompt, and a replay would see a difference where there is none.

See docs/secrets.md for what is found, and for what is not.
"""

from reenact.core.redact.body_stream import StreamRedactor
from reenact.core.redact.late import LateSecrets
from reenact.core.redact.members import is_value
from reenact.core.redact.names import field_names, says_secret
from reenact.core.redact.redactor import Redactor
from reenact.core.redact.rules import DEFAULT_RULES, SecretRules

__all__ = [
    "DEFAULT_RULES",
    "LateSecrets",
    "Redactor",
    "SecretRules",
    "StreamRedactor",
    "field_names",
    "is_value",
    "says_secret",
]
