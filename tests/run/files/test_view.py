"""The view of an overlay from Python."""

from __future__ import annotations

import shutil
from pathlib import Path

from reenact.run.files.upper import Upper
from reenact.run.files.view import OverlayView


def test_a_file_that_two_processes_change_at_once_has_the_lines_of_both(tmp_path, monkeypatch):
    log = tmp_path / "root" / "log"
    log.parent.mkdir()
    log.write_text("before\n", encoding="utf-8")
    upper = tmp_path / "layer" / "upper"
    upper.mkdir(parents=True)
    view, copy = OverlayView([Upper(log.parent, upper)], []), shutil.copy2

    def write(line):
        with Path(view.changed(str(log))).open("a", encoding="utf-8") as file:
            file.write(line)

    def copy_while_another_writes(source, target, **options):
        monkeypatch.setattr(shutil, "copy2", copy)
        write("other\n")
        return copy(source, target, **options)

    monkeypatch.setattr(shutil, "copy2", copy_while_another_writes)
    write("mine\n")
    assert Path(view.real(str(log))).read_text(encoding="utf-8") == "before\nother\nmine\n"
    assert log.read_text(encoding="utf-8") == "before\n"
    assert [path.name for path in upper.parent.iterdir()] == ["upper"]
