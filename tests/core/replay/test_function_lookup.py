"""A function that `module:function` names is found without an import."""

from __future__ import annotations

import pytest

from reenact.core.replay.function_lookup import missing

MODULE = """
raise SystemExit("imported")
from os import path as found_path
import json.decoder
try:
    import nothing_like_this as either
except ImportError:
    def either(): ...
if True:
    async def inside(): ...
first, (second, third) = 1, (2, 3)
typed: object = print
class Group:
    def method(self): ...
def plain():
    def hidden(): ...
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "stand_ins.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("def (:")
    (tmp_path / "untold.py").write_text("from stand_ins import *")
    (tmp_path / "magic.py").write_text("def __getattr__(name): ...")
    (tmp_path / "pack" / "deep").mkdir(parents=True)
    for name in ("pack", "pack/deep"):
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('imported')")
    (tmp_path / "pack" / "deep" / "leaf.py").write_text("def answer(): ...")
    return str(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["stand_ins:plain", "stand_ins:found_path", "stand_ins:json", "stand_ins:either", "stand_ins:inside",
     "stand_ins:third", "stand_ins:typed", "stand_ins:Group.method", "pack.deep.leaf:answer", "pack.deep:leaf.answer",
     "untold:anything", "magic:anything", "__main__:later", "json:dumps", "xml.dom.minidom:parseString",
     "itertools:count", "_json:make_encoder", "reenact.errors:UsageError"],
)  # fmt: skip
def test_what_is_there_is_found(folder, name):
    assert missing(name, [folder]) == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("stand_ins:hidden", "the module stand_ins has no hidden"),
        ("stand_ins:method", "the module stand_ins has no method"),
        ("stand_in:plain", "there is no module stand_in"),
        ("stand_ins.plain:x", "there is no module stand_ins.plain"),
        ("pack.deep.other:x", "there is no module pack.deep.other"),
        ("pack.deep.leaf:question", "the module pack.deep.leaf has no question"),
        ("pack:answer", "the module pack has no answer"),
        ("broken:x", "the module broken is no Python: invalid syntax (line 1)"),
        ("json:no_such_function", "the module json has no no_such_function"),
        ("itertools:no_such_function", "the module itertools has no no_such_function"),
        ("a..b:x", "there is no module a..b"),
    ],
)
def test_what_is_not_there_is_named(folder, name, why):
    assert missing(name, [folder]) == why
