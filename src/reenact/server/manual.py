"""The API document as a page to read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reenact.analysis.pages.blocks import (
    Block,
    CodeBlock,
    FactList,
    Fold,
    Paragraph,
    Section,
    StaticPage,
    Styled,
    Words,
)

Tree = Mapping[str, Any]
Line = list[str | Styled]


def manual(document: Tree) -> StaticPage:
    """Return the page of an OpenAPI document."""
    info = document["info"]
    groups: dict[str, list[Block]] = {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            tag = (operation.get("tags") or ["other"])[0]
            groups.setdefault(tag, []).append(_operation(method, path, operation))
    schemas = document.get("components", {}).get("schemas", {})
    shapes = tuple(_schema(name, schema) for name, schema in sorted(schemas.items()))
    sections = [Section("Use", (_USE,)), *(Section(tag, tuple(found)) for tag, found in groups.items())]
    return StaticPage(
        f"{info['title']} {info['version']}",
        info.get("description", ""),
        (*sections, Section("shapes", shapes)),
        kind="The API",
    )


_USE = Paragraph((
    "A key is sent as ", Styled("Authorization: Bearer KEY", "code"), ". An error is ",
    Styled('{"detail": "one line"}', "code"), ". This page as data: ",
    Styled("openapi.json", link="openapi.json"), ".",
))  # fmt: skip


def _operation(method: str, path: str, operation: Tree) -> Fold:
    about = operation.get("description") or operation.get("summary", "")
    short = about.partition("\n")[0].partition(". ")[0].rstrip(".")
    head = (Styled(method.upper(), "badge"), Styled(path, "code"), Styled(short, "quiet"))
    return Fold(head, (Paragraph(about), *_parameters(operation), *_body(operation), *_answers(operation)))


def _parameters(operation: Tree) -> Iterator[Block]:
    rows: list[tuple[Words, Words]] = []
    for one in operation.get("parameters", ()):
        needed = ", needed" if one.get("required") else ""
        about = f" · {one['description']}" if one.get("description") else ""
        rows.append((
            (Styled(one["name"], "code"), Styled(f" in {one['in']}{needed}", "quiet")),
            (*_type(one.get("schema", {})), Styled(about, "quiet")),
        ))  # fmt: skip
    if rows:
        yield Paragraph(Styled("Asked with", "strong"))
        yield FactList(tuple(rows))


def _body(operation: Tree) -> Iterator[Block]:
    if body := operation.get("requestBody"):
        yield Paragraph(Styled("Body", "strong"))
        yield FactList(tuple(_contents(body.get("content", {}))))


def _answers(operation: Tree) -> Iterator[Block]:
    rows: list[tuple[Words, Words]] = []
    for status, answer in operation.get("responses", {}).items():
        rows.append((status, answer.get("description", "")))
        # Refusals are the same for all routes, and are described at the top.
        if int(status) < 400:
            rows += _contents(answer.get("content", {}))
    yield Paragraph(Styled("Answers", "strong"))
    yield FactList(tuple(rows))


def _contents(contents: Tree) -> Iterator[tuple[Words, Words]]:
    for kind, content in contents.items():
        schema = content.get("schema", {})
        yield Styled(kind, "quiet"), tuple(_type(schema)) if schema else ""


def _schema(name: str, schema: Tree) -> Fold:
    fields = schema.get("properties")
    needed = schema.get("required", ())
    lines: list[Line] = [_type(schema)] if fields is None else []
    for field, one in (fields or {}).items():
        mark = "" if field in needed else "?"
        given = f" = {json.dumps(one['default'])}" if "default" in one else ""
        about = f"  {one['description']}" if "description" in one else ""
        lines.append([f"{field}{mark}: ", *_type(one), given, Styled(about, "quiet")])
    body = tuple(part for line in lines for part in (*line, "\n"))[:-1]
    about = schema.get("description", "")
    inside = ((Paragraph(about),) if about else ()) + (CodeBlock(body),)
    return Fold(Styled(name, "strong"), inside, _anchor(name), open=True)


def _type(schema: Any) -> Line:
    """Return the type of a schema on one line, with links to the named schemas."""
    if not isinstance(schema, Mapping) or not schema:
        return ["any"]
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return [Styled(name, link=f"#{_anchor(name)}")]
    if "const" in schema:
        return [json.dumps(schema["const"])]
    if "enum" in schema:
        return [" | ".join(json.dumps(value) for value in schema["enum"])]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return _joined([_type(one) for one in schema[several]], " | ")
    kind = schema.get("type", "any")
    if kind == "array":
        items = [_type(one) for one in schema["prefixItems"]] if "prefixItems" in schema else []
        return ["[", *_joined(items, ", "), "]"] if items else ["(", *_type(schema.get("items")), ")[]"]
    if kind == "object":
        values = schema.get("additionalProperties")
        return ["{string: ", *_type(values), "}"] if values else ["object"]
    return [str(kind)]


def _joined(lines: list[Line], between: str) -> Line:
    return [part for line in lines for part in (between, *line)][1:]


def _anchor(name: str) -> str:
    return "shape-" + "".join(letter if letter.isalnum() or letter == "-" else "-" for letter in name)
