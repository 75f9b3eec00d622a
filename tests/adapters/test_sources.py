"""The source of a tool's function, as it is compared between a recording and its replay."""

from __future__ import annotations

import inspect
import sys
import types

from reenact.adapters import sources


def outer(base):
    def look(place):  # a remark
        return {"place": (place), "base": base}

    return look


def test_a_source_is_read_without_remarks_and_layout():
    text = sources._text(outer(1).__code__, __name__)
    assert text == "def look(place):\n    return {'place': place, 'base': base}"


def test_code_without_a_source_is_told_by_its_instructions():
    names = {}
    exec("def made(place): return place", names)
    assert sources._text(names["made"].__code__, "nowhere").startswith("made (b")
    assert sources._text(names["made"].__code__, None).startswith("made (b")


def test_no_other_module_is_looked_at_for_it(monkeypatch):
    asked = []

    class Watched(types.ModuleType):
        @property
        def __file__(self):
            asked.append(self.__name__)
            return "/nowhere.py"

    monkeypatch.setattr(inspect, "modulesbyfile", {})
    monkeypatch.setitem(sys.modules, "watched_by_a_test", Watched("watched_by_a_test"))
    sources._text.cache_clear()
    assert sources._text(outer(2).__code__, __name__).startswith("def look")
    assert asked == []
