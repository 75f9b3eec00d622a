"""A hook is called once its module is imported, and the import is otherwise as it was."""

import importlib
import importlib.util
import subprocess
import sys
import threading
import zipfile

import pytest

from reenact.adapters.hooks import wrap
from reenact.adapters.imports import when_imported


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module that can be imported; its name."""
    monkeypatch.syspath_prepend(tmp_path)
    count = 0

    def write(source="VALUE = 1\n", package=False):
        nonlocal count
        count += 1
        name = f"hooked_{tmp_path.name.replace('-', '_')}_{count}"
        path = tmp_path / name / "__init__.py" if package else tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
        importlib.invalidate_caches()
        return name

    return write


def test_a_module_that_is_imported_is_given_at_once():
    given = []
    when_imported("json", given.append)
    assert given == [sys.modules["json"]]


def test_a_later_import_calls_each_hook_once_with_the_whole_module(module):
    name = module("VALUE = 2\n")
    given = []
    for _ in range(2):
        when_imported(name, lambda found: given.append(found.VALUE))
    assert given == []
    found = importlib.import_module(name)
    importlib.reload(found)
    assert given == [2, 2]


def test_the_module_sees_its_own_loader_while_it_runs_and_after(module):
    name = module("LOADER, SPEC = __loader__, __spec__.loader\n")
    when_imported(name, print)
    found = importlib.import_module(name)
    loader = importlib.util.spec_from_file_location(name, found.__file__).loader
    assert {type(one) for one in (found.LOADER, found.SPEC, found.__loader__, found.__spec__.loader)} == {
        type(loader)
    }
    assert found.__loader__.get_source(name) == "LOADER, SPEC = __loader__, __spec__.loader\n"


def test_a_package_and_its_modules_are_imported_as_before(module, tmp_path):
    name = module("from . import inner\n", package=True)
    (tmp_path / name / "inner.py").write_text("VALUE = 3\n")
    given = []
    when_imported(name, given.append)
    when_imported(f"{name}.inner", given.append)
    found = importlib.import_module(name)
    assert given == [found.inner, found]


def test_a_module_in_an_archive_is_hooked_too(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.writestr("hooked_in_zip.py", "VALUE = 4\n")
    monkeypatch.syspath_prepend(tmp_path / "some.zip")
    given = []
    when_imported("hooked_in_zip", given.append)
    assert importlib.import_module("hooked_in_zip").VALUE == 4
    assert len(given) == 1


def test_a_module_that_fails_calls_no_hook_until_it_is_imported_whole(module, tmp_path):
    name = module("raise ValueError('not yet')\n")
    given = []
    when_imported(name, given.append)
    with pytest.raises(ValueError, match="not yet"):
        importlib.import_module(name)
    assert given == []
    (tmp_path / f"{name}.py").write_text("VALUE = 'five, at last'\n")
    importlib.invalidate_caches()
    assert importlib.import_module(name).VALUE == "five, at last"
    assert len(given) == 1


def test_a_module_that_does_not_exist_is_missing_as_before():
    when_imported("hooked_nowhere", print)
    with pytest.raises(ModuleNotFoundError, match="No module named 'hooked_nowhere'"):
        importlib.import_module("hooked_nowhere")
    assert importlib.util.find_spec("hooked_nowhere") is None


def test_threads_that_import_together_call_the_hook_once(module):
    name = module("import time\ntime.sleep(0.01)\n")
    given = []
    when_imported(name, given.append)
    threads = [threading.Thread(target=importlib.import_module, args=(name,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == 1


def test_a_module_is_run_by_its_name(module, tmp_path):
    name = module("if __name__ == '__main__':\n    print('ran')\n")
    code = (
        "import runpy\n"
        "from reenact.adapters.imports import when_imported\n"
        f"when_imported({name!r}, id)\n"
        f"runpy.run_module({name!r}, run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "ran\n"


def test_a_wrapped_method_looks_and_works_as_before():
    class Counter:
        def add(self, number: int, *, twice: bool = False) -> int:
            """Add."""
            return number * (2 if twice else 1)

    def wrapper(wrapped, instance, args, options):
        return [wrapped(*args, **options), instance]

    wrap(Counter, "add", wrapper)
    counter = Counter()
    assert counter.add(2, twice=True) == [4, counter]
    assert (Counter.add.__name__, Counter.add.__doc__) == ("add", "Add.")
