"""A missing package is named with the extra that brings it."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from reenact.core.extras import EXTRAS, missing, needing
from reenact.errors import MissingExtra, UsageError

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
DECLARED = PROJECT["optional-dependencies"]
BASE = {re.split(r"[^\w.-]", each)[0].lower() for each in PROJECT["dependencies"]}
BEYOND_ALL = {"ray"}


def requirements(extra):
    return {re.split(r"[^\w.-]", each)[0].lower() for each in DECLARED[extra]}


@pytest.mark.sampled
@pytest.mark.parametrize("extra", [name for name in DECLARED if name not in {"all", "ray"}])
def test_each_requirement_of_an_extra_is_known_by_the_name_that_is_imported(extra):
    brought = packages_distributions()
    found = {name.lower().replace("_", "-") for package in EXTRAS[extra] for name in brought.get(package, ())}
    assert requirements(extra) - found == set()


def test_the_extras_are_those_of_the_package_and_all_has_all_but_ray():
    assert set(EXTRAS) | {"all"} == set(DECLARED)
    (all_of,) = DECLARED["all"]
    assert set(all_of.removeprefix("reenact[").removesuffix("]").split(",")) == set(EXTRAS) - BEYOND_ALL


def test_no_extra_brings_what_the_base_has():
    assert [extra for extra in DECLARED if extra != "all" and requirements(extra) & BASE] == []


def test_a_missing_package_is_one_line_with_the_command_that_installs_it():
    with pytest.raises(MissingExtra) as caught, needing("server", "reenact console"):
        raise ModuleNotFoundError("No module named 'fastapi'", name="fastapi.routing")
    assert str(caught.value) == "reenact console needs the extra \"server\": pip install 'reenact[server]'"
    assert isinstance(caught.value, UsageError)
    assert isinstance(caught.value, ImportError)


def test_another_failed_import_stays_as_it_is():
    with pytest.raises(ModuleNotFoundError, match="no_such_package"), needing("server", "reenact console"):
        import_module("no_such_package")
    assert missing(ImportError("cannot import name 'x'"), "reenact console") is None


def test_a_package_of_several_extras_is_looked_for_in_the_given_one_first():
    error = ModuleNotFoundError("No module named 'httpx'", name="httpx")
    assert [missing(error, "it", extra).extra for extra in ("proxy", "otel", "sign", "")] == [
        "proxy", "otel", "ship", "ship",
    ]  # fmt: skip


def test_the_first_error_is_kept_where_one_feature_needs_another():
    first = MissingExtra("a browser session", "browser")
    assert missing(first, "reenact watch", "server") is first
