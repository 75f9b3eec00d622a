"""A function's text is that of `inspect`, without comments and layout."""

import argparse
import ast
import contextlib
import importlib
import inspect
import textwrap
import types

import pytest

from reenact.adapters.function_text import function_text

MODULES = (
    "argparse",
    "asyncio.base_events",
    "contextlib",
    "doctest",
    "email.message",
    "inspect",
    "logging",
    "typing",
)

ODD = """
def commented():
    a = 1
# A comment that is no deeper.
    b = 2
    return a, b

def of_text():
    text = '''
one
def two(): ...
    three
'''
    return text

def continued():
    a = 1 + \\
2
    return a

@decorated(
    lambda x: x
)
def many(
    a,
    b=(
1, 2
),
):
    # The last comment.
    return a

class Inner:
    def method(self):
        text = '''
no margin'''
        return text

    other = lambda self: (
        1
    )

def one_line(): return 1
pair = lambda: 1, lambda: 2
async def last():
\tif 1:
\t\tpass
"""


def functions(code, module):
    """Yield a function for each code within another."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            cells = tuple(types.CellType() for _ in inner.co_freevars)
            yield types.FunctionType(inner, {"__name__": module}, closure=cells)
            yield from functions(inner, module)


def of_inspect(function):
    text = textwrap.dedent(inspect.getsource(function))
    try:
        return ast.unparse(ast.parse(text))
    except SyntaxError:
        return text


def result(read, function):
    with contextlib.suppress(OSError, TypeError, SyntaxError, IndexError):
        return read(function)
    return None


@pytest.mark.parametrize("name", MODULES)
def test_the_text_is_that_of_inspect(name):
    module = importlib.import_module(name)
    code = compile(inspect.getsource(module), module.__file__, "exec")
    found = list(functions(code, name))
    assert len(found) > 20
    for function in found:
        assert result(function_text, function) == result(of_inspect, function), function.__qualname__


def test_the_text_of_odd_functions_is_that_of_inspect(tmp_path, monkeypatch):
    text = ODD.replace("    b = 2", "\f    b = 2")
    (tmp_path / "odd_functions.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    code = compile(text, str(tmp_path / "odd_functions.py"), "exec")
    found = list(functions(code, "odd_functions"))
    assert len(found) >= 12
    for function in found:
        assert result(function_text, function) == result(of_inspect, function), function.__qualname__
    by_name = {
        each.__name__: function_text(each) for each in found if each.__name__ in ("commented", "of_text")
    }
    assert "b = 2" in by_name["commented"]
    assert "three" in by_name["of_text"]


def test_a_function_without_a_file_has_no_text():
    names = {}
    exec("def made(): return 1", names)
    with pytest.raises(OSError, match="could not get source code"):
        function_text(names["made"])
    assert function_text(argparse.ArgumentParser.exit).startswith("def exit(self")
