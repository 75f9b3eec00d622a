"""A coding agent in small: it reads a program, and repairs one line of it."""

from pathlib import Path

import reenact

SOURCE = Path("prices.txt")


@reenact.tool
def read_file(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


@reenact.tool
def edit_file(path: str, old: str, new: str) -> str:
    file = Path(path)
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return f"{path}: 1 line changed"


@reenact.tool
def write_file(path: str, text: str) -> str:
    Path(path).write_text(text, encoding="utf-8")
    return f"{path}: {len(text)} characters"


if __name__ == "__main__":
    if "349 euros" in read_file("prices.txt"):
        print(edit_file("prices.txt", "349 euros", "349.00 EUR"))
    print(write_file("changes.txt", "The price of the espresso machine has its currency.\n"))
