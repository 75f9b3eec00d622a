"""Random programs that change files: nested folders, renames, links, databases, truncations, modes, commands."""

from __future__ import annotations

import random

HEAD = """
import hashlib, json, os, pathlib, shutil, sqlite3, stat, subprocess, sys, tempfile, time
import reenact

@reenact.tool
def mark(number):
    return time.time_ns()

def attempt(act):
    try:
        act()
    except (OSError, shutil.Error, sqlite3.Error) as error:
        print(type(error).__name__)

def text():
    return f"{time.time_ns()}\\n"

def write(path, data, mode="w"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, mode) as file:
        file.write(data)

def insert(path):
    base = sqlite3.connect(path)
    base.execute("create table if not exists rows(at integer)")
    base.execute("insert into rows values(?)", (time.time_ns(),))
    base.commit()
    print(base.execute("select count(*) from rows").fetchone()[0])
    base.close()

def cut(path, size):
    with open(path, "r+b") as file:
        file.truncate(size)

def shell(line):
    print(subprocess.run(["sh", "-c", line], capture_output=True, text=True).stdout)

def look(folder):
    for path in sorted(pathlib.Path(folder).rglob("*")):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file"
        read = kind == "file" and path.suffix != ".db" and path.name not in ("ignored.txt", "server.key")
        data = hashlib.sha256(path.read_bytes()).hexdigest()[:8] if read else ""
        print(path, kind, oct(path.lstat().st_mode) if kind == "file" else "", data)
"""

ACTS = (
    "write({new!r}, text())",
    "write({new!r}, text() * 40)",
    "write({old!r}, text(), 'a')",
    "write({old!r}, os.urandom(300), 'wb')",
    "write('big/{n}.bin', bytes([{n} % 256]) * 1500000, 'wb')",
    "os.rename({old!r}, {new!r})",
    "os.replace({old!r}, {other!r})",
    "os.rename({folder!r}, {folder!r} + '-moved{n}')",
    "shutil.move({old!r}, {folder!r})",
    "shutil.copy2({old!r}, 'copy{n}')",
    "shutil.copytree({folder!r}, 'tree{n}', symlinks=True)",
    "shutil.rmtree({folder!r})",
    "os.symlink({old!r}, 'link{n}')",
    "os.symlink('nowhere', 'dangling{n}')",
    "os.link({old!r}, 'hard{n}')",
    "os.remove({old!r})",
    "os.rmdir({folder!r})",
    "os.chmod({old!r}, {mode})",
    "os.utime({old!r}, (10**9, 10**9 + {n}))",
    "cut({old!r}, {n})",
    "insert('base{small}.db')",
    "os.makedirs({folder!r} + '/new{n}/deep', mode=0o750)",
    "print(sorted(os.listdir({folder!r})))",
    "print(open({old!r}, 'rb').read()[:40])",
    "pathlib.Path({old!r}).touch()",
    "os.rename(tempfile.mkstemp(dir='.')[1], 'temp{n}')",
    "look('.')",
    "shell('date +%N >> {old}; mkdir -p made{n}; cp {old} made{n}/')",
    "shell('mv {old} shell{n}; ls | sort')",
    "shell('find {folder} -type f | head -2 | while read f; do rm $f; done')",
    "shell('ln -s {old} sl{n}; tar cf t{n}.tar {folder} 2>/dev/null; chmod 600 {old}')",
    "shell('sed -i s/1/one/ {old}; wc -c < {old}')",
)

FOLDERS = ("a", "b", "a/deep", "c/d/e", "empty")
FILES = ("a/one.txt", "a/two.txt", "b/three.bin", "c/d/e/four.txt", "five.json", "a/deep/six.txt")


def program(seed: int) -> str:
    """Return the text of a program with five to twenty random acts, with a step between them."""
    draw = random.Random(seed)
    lines = [HEAD]
    names = [*FILES]
    for number in range(draw.randint(5, 20)):
        act = draw.choice(ACTS)
        new = draw.choice((f"new{number}.txt", f"a/new{number}.txt", f"made/{number}/x.txt"))
        words = {
            "n": number,
            "small": number % 2,
            "new": new,
            "old": draw.choice(names),
            "other": draw.choice(names),
            "folder": draw.choice(FOLDERS),
            "mode": draw.choice((0o600, 0o644, 0o755, 0o444)),
        }
        lines.append(f"attempt(lambda: {act.format(**words)})")
        if "{new" in act:
            names.append(new)
        if draw.random() < 0.6:
            lines.append(f"mark({number})")
    lines += ["mark('end')", "look('.')"]
    return "\n".join(lines) + "\n"
