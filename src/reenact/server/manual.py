"""The API document as a page to read: plain HTML without scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

Tree = Mapping[str, Any]

STYLE = """\
:root { color-scheme: light dark; --line: #8885; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { background: var(--soft); border-radius: 6px; padding: .6rem .8rem; overflow-x: auto; white-space: pre-wrap; }
details { border-bottom: 1px solid var(--line); }
summary { cursor: pointer; padding: .5rem 0; overflow-wrap: anywhere; }
summary b { display: inline-block; min-width: 4.2em; font: 600 13px ui-monospace, monospace; }
h2 { margin: 2rem 0 .5rem; } h3 { font-size: 1em; margin: .8rem 0 .2rem; }
dl { margin: .2rem 0; } dd { margin: 0 0 .4rem 1.5rem; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
summary span { opacity: .7; margin-left: .8rem; }
"""


def manual(document: Tree) -> str:
    """The page of an OpenAPI document."""
    info = document["info"]
    groups: dict[str, list[str]] = {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            tag = (operation.get("tags") or ["other"])[0]
            groups.setdefault(tag, []).append("".join(_operation(method, path, operation)))
    links = "".join(f'<a href="#{_id(tag)}">{escape(tag)}</a>' for tag in [*groups, "shapes"])
    schemas = document.get("components", {}).get("schemas", {})
    return "".join((
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="docs.css">',
        f"<title>{escape(info['title'])}: the API</title></head><body>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info.get('description', ''))}</p>",
        "<p>A key is sent as <code>Authorization: Bearer KEY</code>. An error is ",
        '<code>{"detail": "one line"}</code>. This page as data: <a href="openapi.json">openapi.json</a>.</p>',
        f"<nav>{links}</nav>",
        *(f'<h2 id="{_id(tag)}">{escape(tag)}</h2>{"".join(found)}' for tag, found in groups.items()),
        '<h2 id="shapes">shapes</h2>',
        *(_schema(name, schema) for name, schema in sorted(schemas.items())),
        "</body></html>",
    ))  # fmt: skip


def _operation(method: str, path: str, operation: Tree) -> Iterator[str]:
    about = operation.get("description") or operation.get("summary", "")
    short = about.partition("\n")[0].partition(". ")[0].rstrip(".")
    yield f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code>"
    yield f"<span>{escape(short)}</span></summary>"
    yield f"<p>{escape(about)}</p>"
    if parameters := operation.get("parameters"):
        yield "<h3>asked with</h3><dl>"
        for one in parameters:
            needed = ", needed" if one.get("required") else ""
            yield f"<dt><code>{escape(one['name'])}</code> in {escape(one['in'])}{needed}: "
            yield f"<code>{_type(one.get('schema', {}))}</code></dt>"
            yield f"<dd>{escape(one.get('description', ''))}</dd>"
        yield "</dl>"
    if body := operation.get("requestBody"):
        yield "<h3>body</h3>"
        yield from _contents(body.get("content", {}))
    yield "<h3>answers</h3><dl>"
    for status, answer in operation.get("responses", {}).items():
        yield f"<dt>{escape(status)}: {escape(answer.get('description', ''))}</dt>"
        # Refusals are the same everywhere, and are described at the top.
        if int(status) < 400:
            yield f"<dd>{''.join(_contents(answer.get('content', {})))}</dd>"
    yield "</dl></details>"


def _contents(contents: Tree) -> Iterator[str]:
    for kind, content in contents.items():
        schema = content.get("schema", {})
        shown = f": <code>{_type(schema)}</code>" if schema else ""
        yield f"<div>{escape(kind)}{shown}</div>"


def _schema(name: str, schema: Tree) -> str:
    fields = schema.get("properties")
    needed = schema.get("required", ())
    lines = [_type(schema)] if fields is None else []
    for field, one in (fields or {}).items():
        mark = "" if field in needed else "?"
        about = f"  <i>{escape(one['description'])}</i>" if "description" in one else ""
        given = f" = {escape(json.dumps(one['default']))}" if "default" in one else ""
        lines.append(f"{escape(field)}{mark}: {_type(one)}{given}{about}")
    about = f"<p>{escape(schema.get('description', ''))}</p>"
    body = "\n".join(lines)
    return f'<details id="{_id(name)}" open><summary><b>{escape(name)}</b></summary>{about}<pre>{body}</pre></details>'


def _type(schema: Any) -> str:
    """Return the type of a schema in one line of HTML."""
    if not isinstance(schema, Mapping) or not schema:
        return "any"
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f'<a href="#{_id(name)}">{escape(name)}</a>'
    if "const" in schema:
        return escape(json.dumps(schema["const"]))
    if "enum" in schema:
        return " | ".join(escape(json.dumps(value)) for value in schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(_type(one) for one in schema[several])
    kind = schema.get("type", "any")
    if kind == "array":
        items = [_type(one) for one in schema["prefixItems"]] if "prefixItems" in schema else []
        return f"[{', '.join(items)}]" if items else f"({_type(schema.get('items'))})[]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"{{string: {_type(values)}}}" if values else "object"
    return escape(str(kind))


def _id(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter == "-" else "-" for letter in name)
