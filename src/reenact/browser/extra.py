"""Says in one line what is missing, where the packages of the extra `browser` are not installed."""

from importlib.util import find_spec

for _package in ("playwright", "pydantic"):
    if find_spec(_package) is None:
        raise ImportError(f"browser sessions need {_package}: pip install 'reenact[browser]'")
