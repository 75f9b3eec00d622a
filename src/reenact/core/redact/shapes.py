"""Formats that are always a secret, and the tokens that replace secrets."""

from __future__ import annotations

import re
from functools import cached_property

from reenact.core.dataclass import dataclass
from reenact.core.patterns import compiled, lazy

TOKEN = lazy(rb"\[\[secret:[a-z0-9\-]+:[0-9a-f]{8}\]\]")
_DOTTED = r"(?:\.[\w\-]+)*+"


@dataclass(frozen=True)
class SecretShape:
    """`prefix`, then at least `least` characters of `chars`.

    Attributes:
        label: The label in its token.
        needs: A pattern that must follow the prefix, if prefix and length are not enough.
        tail: A pattern that may follow the characters.
        strict: A short prefix must not follow "-" or "_" either: base64url text is full of those.
        shown: The number of characters of the prefix that are no secret.
        first: The possible first characters after a prefix of two, as a mark has at least three.
    """

    label: str
    prefix: str
    chars: str
    least: int
    needs: str = ""
    tail: str = ""
    strict: bool = False
    shown: int = 0
    first: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        text = f"{re.escape(self.prefix)}{self.needs}{self.chars}{{{self.least},}}+{self.tail}"
        return compiled(text.encode())

    @cached_property
    def unfinished(self) -> re.Pattern[bytes]:
        """Its beginning at the text's end. A final dot may go on: a further part may be empty."""
        return compiled(f"{re.escape(self.prefix)}{self.chars}*+{self.tail.replace('+)', '*)')}".encode())


_HEX = "0123456789abcdef"
_W, _D, _A, _H = "[A-Za-z0-9_]", r"[A-Za-z0-9_\-]", "[A-Za-z0-9]", "[0-9a-f]"
# Real keys hold a digit or a long unbroken run; the class names of scikit-learn's HTML
# ("sk-toggleable__label") do not.
_DENSE = r"(?:(?=[A-Za-z_\-]*+[0-9])|(?=(?:[A-Za-z0-9]{0,15}+[_\-]++)*+[A-Za-z0-9]{16}))"
_AWS = "(?=[A-Z0-9]{16}(?![A-Za-z0-9]))"
_HOOK = "hooks.slack.com/services/"
_DISCORD = ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/")
_TELEGRAM = "api.telegram.org/bot"
_HASHED = r"[A-Za-z0-9./$=,+\-]"
SHAPES: tuple[SecretShape, ...] = (
    SecretShape("anthropic", "sk-ant-", _D, 16),
    *(SecretShape("openai", f"sk-{kind}-", _D, 16) for kind in ("proj", "svcacct", "admin", "None")),
    SecretShape("openrouter", "sk-or-", _D, 16),
    SecretShape("langfuse", "sk-lf-", _D, 16),
    SecretShape("openai", "sk-", _D, 16, needs=_DENSE, strict=True),
    SecretShape("google", "AIza", _D, 30),
    SecretShape("google-oauth", "ya29.", _D, 16, tail=_DOTTED),
    SecretShape("google-oauth", "GOCSPX-", _D, 20, tail=_DOTTED),
    *(SecretShape("aws", kind, "[A-Z0-9]", 16, needs=_AWS) for kind in ("AKIA", "ASIA")),
    *(SecretShape("github", f"gh{kind}_", _A, 20) for kind in "pousr"),
    SecretShape("github", "github_pat_", _W, 20),
    SecretShape("gitlab", "glpat-", _D, 16),
    *(SecretShape("slack", f"xox{kind}-", _D, 10) for kind in "abeprs"),
    SecretShape("slack", "xapp-", _D, 16),
    *(SecretShape("stripe", f"{k}k_{mode}_", _A, 10) for k in "sr" for mode in ("live", "test")),
    SecretShape("stripe", "whsec_", "[A-Za-z0-9+/=]", 16),
    SecretShape("jwt", "eyJ", _D, 8, needs=r"(?=[\w\-]++\.[\w\-]{4,}+\.)", tail=_DOTTED),
    SecretShape("huggingface", "hf_", _A, 20, strict=True),
    SecretShape("groq", "gsk_", _A, 20),
    SecretShape("npm", "npm_", _A, 30),
    SecretShape("pypi", "pypi-", _D, 16),
    SecretShape("sendgrid", "SG.", _D, 16, needs=r"(?=[\w\-]++\.[\w\-]{16})", tail=_DOTTED, strict=True),
    SecretShape("twilio", "SK", _H, 32, needs="(?=[0-9a-f]{32}(?![0-9A-Za-z]))", strict=True, first=_HEX),
    SecretShape("databricks", "dapi", _H, 32),
    SecretShape("xai", "xai-", _A, 20),
    SecretShape("perplexity", "pplx-", _A, 20),
    SecretShape("replicate", "r8_", _A, 30, strict=True),
    SecretShape("nvidia", "nvapi-", _D, 20),
    SecretShape("tavily", "tvly-", _D, 16),
    SecretShape("langsmith", "lsv2_pt_", _W, 16),
    SecretShape("langsmith", "lsv2_sk_", _W, 16),
    SecretShape("pinecone", "pcsk_", _W, 20),
    SecretShape("logfire", "pylf_v", _W, 20),
    SecretShape("digitalocean", "dop_v1_", _H, 40),
    SecretShape("shopify", "shpat_", _H, 32),
    SecretShape("docker", "dckr_pat_", _D, 20),
    SecretShape("vault", "hvs.", _D, 20, tail=_DOTTED),
    SecretShape("linear", "lin_api_", _A, 20),
    SecretShape("age", "AGE-SECRET-KEY-1", "[A-Z0-9]", 40),
    SecretShape(
        "slack", _HOOK, "[A-Za-z0-9/]", 16, shown=len(_HOOK)
    ),  # only the end of a webhook's address is secret
    *(SecretShape("discord", hook, r"[A-Za-z0-9/_\-]", 60, shown=len(hook)) for hook in _DISCORD),
    SecretShape("telegram", _TELEGRAM, r"[A-Za-z0-9:_\-]", 40, shown=len(_TELEGRAM)),
    *(
        SecretShape("password-hash", f"${kind}$", _HASHED, 28)
        for kind in ("1", "5", "6", "y", "2a", "2b", "2y", "apr1")
    ),
    *(SecretShape("password-hash", f"$argon2{kind}$", _HASHED, 28) for kind in ("i", "d", "id")),
)
_BEGINNINGS = tuple({shape.prefix[:2] for shape in SHAPES})
_HOOK_END = lazy(rb"T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{10,}")
_PRIVATE_KEY = lazy(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*", re.DOTALL)


def label_of(value: str) -> str:
    """Return the kind of a secret, by its shape."""
    data = value.encode("utf-8", "surrogatepass")
    for shape in SHAPES if value.startswith(_BEGINNINGS) else ():
        if value.startswith(shape.prefix) and not shape.shown and shape.pattern.fullmatch(data):
            return shape.label
    if _HOOK_END.fullmatch(data):
        return "slack"
    return "private-key" if _PRIVATE_KEY.fullmatch(data) else "secret"
