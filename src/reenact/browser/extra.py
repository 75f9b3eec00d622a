"""Fail with one line that names the missing package of the extra `browser`."""

from importlib.util import find_spec

for _package in ("playwright", "pydantic"):
    if find_spec(_package) is None:
        raise ImportError(f"browser sessions need {_package}: pip install 'reenact[browser]'")
