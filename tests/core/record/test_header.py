"""The header's line: without secrets, and without a look at what cannot be one."""

import orjson
import pytest

from reenact.core.record.header import header_line
from reenact.core.redact import Redactor, SecretRules

PACKAGES = {"google-auth": "2.62.2", "pyotp": "2.12.0", "token": "0.1", "torch": "2.1.0+cu118"}


def header(redactor, **program):
    return {
        "format": 2,
        "program": {"argv": ["python", "a.py"], **program, "git": None},
        "secrets": redactor.told(),
    }


def written(redactor, **program):
    return orjson.loads(header_line(header(redactor, **program), redactor))


def test_packages_stand_where_they_stood():
    redactor = Redactor(salt=b"a salt")
    found = written(redactor, packages=PACKAGES)
    assert found == {"event": "opened", **header(redactor, packages=PACKAGES)}
    assert list(found["program"]) == ["argv", "packages", "git"]


def test_a_program_without_packages_has_a_header():
    redactor = Redactor(salt=b"a salt")
    assert written(redactor) == {"event": "opened", **header(redactor)}
    assert written(redactor, packages={}) == {"event": "opened", **header(redactor, packages={})}


def test_secrets_beside_the_packages_are_replaced():
    redactor = Redactor(salt=b"a salt")
    argv = ["python", "--password=hunter22hunter22", '"packages":{}']
    found = written(redactor, packages=PACKAGES, argv=argv)
    assert "hunter22" not in str(found)
    assert found["program"]["argv"][2] == '"packages":{}'
    assert found["program"]["packages"] == PACKAGES


@pytest.mark.parametrize(
    "packages",
    [
        {"a": "sk-proj-" + "Ab3" * 20},
        {"a": "1.0", "password": "hunter22 hunter22"},
        {"a": "https://ann:hunter22@example.com/"},
    ],
)
def test_another_form_is_looked_at(packages):
    found = written(Redactor(salt=b"a salt"), packages=packages)
    assert found["program"]["packages"] != packages
    assert "hunter22" not in str(found)


@pytest.mark.parametrize(
    "rules", [None, SecretRules(frozenset(), frozenset(), values=frozenset({"private-package"}))]
)
def test_a_known_value_is_replaced_there_too(rules):
    environ = {"API_KEY": "private-package"}
    redactor = Redactor(salt=b"a salt", environ=environ) if rules is None else Redactor(rules, salt=b"a salt")
    found = written(redactor, packages={"private-package": "1.0"})
    assert "private-package" not in str(found)
