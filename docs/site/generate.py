"""Write the pages of the documentation's site: those of docs/, and references made from the code.

    python docs/site/generate.py build/docs

Links to files outside of docs/ become plain text, because the site does not have them.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import click

import reenact
from reenact.browser.watch.viewer import viewer
from reenact.cli.application import application
from reenact.cli.click_commands import CliArgument
from reenact.cli.panels import PANELS
from reenact.server.openapi import document

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OUTSIDE = re.compile(r"(!?)\[([^\]]*)\]\(((?:\.\./)+)([^)#]+)(#[^)]*)?\)")
MARKUP = re.compile(r"\[/?bold\]")
METHODS = ("get", "post", "put", "patch", "delete")


def main(target: Path) -> None:
    """Write all pages below a new folder."""
    shutil.rmtree(target, ignore_errors=True)
    for source in sorted(DOCS.rglob("*")):
        place = source.relative_to(DOCS)
        if source.is_dir() or place.parts[0] == "site":
            continue
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            (target / place).write_text(inside(source.read_text(encoding="utf-8"), place), encoding="utf-8")
        else:
            shutil.copy(source, target / place)
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    for name, text in (("index.md", readme), ("changelog.md", changes)):
        (target / name).write_text(inside(text, Path(name), top=True), encoding="utf-8")
    for name, text in (("python.md", python()), ("cli.md", cli()), ("rest.md", rest())):
        (target / "reference").mkdir(exist_ok=True)
        (target / "reference" / name).write_text(text, encoding="utf-8")
    (target / "viewer.html").write_text(viewer(), encoding="utf-8")
    page = target / "sharing.md"
    page.write_text(
        page.read_text(encoding="utf-8").replace("`viewer.html`", "[`viewer.html`](viewer.html)", 1), "utf-8"
    )


def inside(text: str, page: Path, *, top: bool = False) -> str:
    """Replace links that lead out of docs/ by their text."""

    def replaced(found: re.Match[str]) -> str:
        leads = len(found[3]) // 3
        if leads < len(page.parts):
            return found[0]
        return f"`{found[4]}`" if found[2] in found[4] else f"{found[2]} (`{found[4]}`)"

    text = OUTSIDE.sub(replaced, text)
    if top:
        # Of files beside README.md that are not pages.
        text = re.sub(
            r"\[([^\]]*)\]\(((?:[A-Z]+(?:\.md)?|examples|benchmarks|deploy|tests)(?:/[^)]*)?)\)",
            r"\1 (`\2`)",
            text,
        )
    return text


def python() -> str:
    """Return the page of the Python functions and classes, filled in from their docstrings by mkdocstrings."""
    lines = ["# Python", "", "All public names of `reenact`. Arguments and errors come from the code."]
    for name in reenact.__all__:
        thing = getattr(reenact, name)
        module = getattr(thing, "__module__", "")
        if (
            not isinstance(module, str)
            or not module.startswith("reenact.")
            or not hasattr(thing, "__qualname__")
        ):
            continue
        lines += ["", f"## {name}", "", f"::: {module}.{thing.__qualname__}"]
    return "\n".join(lines) + "\n"


def cli() -> str:
    """Return the page of all commands, from the options that the commands themselves are made of."""
    command = application([])
    lines = [
        "# Commands",
        "",
        "From the commands themselves. [The command line](../command-line.md) explains them.",
    ]
    with click.Context(command, info_name="reenact") as context:
        for title, names in PANELS.items():
            lines += ["", f"## {title}"]
            for name in names:
                lines += described(command.commands[name], f"reenact {name}", context)
    return "\n".join(lines) + "\n"


def described(command: click.Command, path: str, above: click.Context) -> list[str]:
    """Return the lines on a command, and on those below it."""
    with click.Context(command, info_name=path.rsplit(maxsplit=1)[-1], parent=above) as context:
        lines = ["", f"### {path}", "", MARKUP.sub("`", plain(command.help or ""))]
        rows = []
        for parameter in command.params:
            names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
            about = parameter.help if isinstance(parameter, click.Option) else ""
            if isinstance(parameter, CliArgument):
                names, about = f"`{parameter.make_metavar(context)}`", parameter.about
            rows.append(f"| {names} | {cell(plain(about or ''))} |")
        if rows:
            lines += ["", "| | |", "| --- | --- |", *rows]
        for name in getattr(command, "commands", {}):
            lines += described(command.commands[name], f"{path} {name}", context)
    return lines


def plain(text: str) -> str:
    return text.replace("<", "&lt;")


def cell(text: str) -> str:
    return MARKUP.sub("`", text).replace("|", "\\|").replace("\n", " ")


def rest() -> str:
    """Return the page of the server's API, from its own document."""
    tree = json.loads(document())
    lines = [
        "# REST",
        "",
        "From the server's own OpenAPI document, `/openapi.json`. [The server's API](../api.md) explains it.",
    ]
    for path, methods in sorted(tree["paths"].items()):
        for method in METHODS:
            if method not in methods:
                continue
            found = methods[method]
            lines += [
                "",
                f"## `{method.upper()} {path}`",
                "",
                plain(found.get("description") or found.get("summary") or ""),
            ]
            rows = [
                f"| `{each['name']}` | {each['in']} | {cell(plain(each.get('description') or ''))} |"
                for each in found.get("parameters", [])
            ]
            if rows:
                lines += ["", "| parameter | in | |", "| --- | --- | --- |", *rows]
            codes = [
                f"`{code}` {plain(answer.get('description', ''))}"
                for code, answer in found["responses"].items()
            ]
            lines += ["", f"Answers: {', '.join(codes)}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
