"""The extras, their packages, and the error for a package that is not installed.

`pip install reenact` installs the packages that recording, replaying and reading need. Code that needs another one
imports it inside `needing`, where a user's command asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reenact.errors import MissingExtra

EXTRAS = {
    "analysis": ("genai_prices", "jsonschema"),
    "browser": (
        "playwright", "pydantic_ai", "websockets", "libcst", "PIL", "av", "markdownify", "jsonschema", "uvicorn",
        "starlette", "h11", "httpx", "pydantic", "pydantic_core",
    ),
    "cassettes": ("yaml",),
    "mcp": ("mcp", "mcp_types", "uvicorn"),
    "otel": ("opentelemetry", "google", "httpx"),
    "proxy": ("starlette", "uvicorn", "h11", "httpx"),
    "ray": ("ray",),
    "server": (
        "fastapi", "starlette", "uvicorn", "h11", "anyio", "sse_starlette", "prometheus_client", "multipart",
        "python_multipart", "pythonjsonlogger", "opentelemetry", "cryptography", "genai_prices", "jsonschema",
        "pydantic", "pydantic_core",
    ),
    "ship": ("httpx",),
    "sign": ("cryptography",),
    "speed": ("hyperscan",),
    "team": ("sqlalchemy", "psycopg", "alembic", "obstore", "cryptography", "httpx"),
    "tui": ("textual",),
}  # fmt: skip
"""The packages of each extra, by the names that are imported.

A package stands in each extra that brings it.
"""


def missing(error: ImportError, feature: str, extra: str = "") -> MissingExtra | None:
    """Return the error for a package of an extra; None if the import failed otherwise.

    Args:
        error: The failed import.
        feature: The user's command, or the object, that needs the package.
        extra: The extra to install if it brings the package; by default, the smallest one that does.
    """
    if isinstance(error, MissingExtra):
        return error
    package = (error.name or "").partition(".")[0]
    bringing = [name for name, packages in EXTRAS.items() if package in packages]
    if not bringing:
        return None
    smallest = min(bringing, key=lambda name: len(EXTRAS[name]))
    return MissingExtra(feature, extra if extra in bringing else smallest)


@contextmanager
def needing(extra: str, feature: str) -> Iterator[None]:
    """Import an extra's packages in the body. Raises MissingExtra."""
    try:
        yield
    except ImportError as error:
        if (found := missing(error, feature, extra)) is None:
            raise
        raise found from None
