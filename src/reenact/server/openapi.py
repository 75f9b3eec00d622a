"""Print the API document, the source of the console's types.

Run it by `python -m reenact.server.openapi`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from reenact.server.app import application
from reenact.server.settings import Settings


def document() -> str:
    """Return the server's OpenAPI document as JSON; it depends only on the code."""
    with tempfile.TemporaryDirectory() as home:
        app = application(Settings(home=Path(home), hosts=("localhost",), keyless=True, running=True))
        return json.dumps(app.openapi(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
