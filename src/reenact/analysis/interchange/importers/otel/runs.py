"""Spans as one run: model calls and tools as effects, agents as scopes, gaps as notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from reenact.analysis.interchange.importers.otel import kinds, span_model, tool
from reenact.analysis.interchange.importers.otel.span import Span, SpanEvent, moment, said
from reenact.analysis.interchange.importers.otel.span_answer import choices
from reenact.analysis.interchange.importers.run import DEEPEST, Happened, ImportedRun, Stretch
from reenact.core.dataclass import dataclass
from reenact.core.messages.message_text import content
from reenact.core.model.plain import compact

_SESSIONS = ("gen_ai.conversation.id", "session.id", "langfuse.session.id", "langfuse.trace.session_id")
_TEMPORARY = "pending_span"


def traces(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Return the spans by their traces, in the order of their beginnings.

    Of several complete spans of one id, the last one is kept.
    """
    found: dict[str, dict[str, Span]] = {}
    loose: dict[tuple[str, str], list[SpanEvent]] = {}
    for span in spans:
        if span.loose:
            loose.setdefault((span.trace, span.id), []).extend(span.events)
        elif span.get("logfire.span_type") != _TEMPORARY:
            # Logfire sends a span twice: at its beginning, and whole.
            each = found.setdefault(span.trace, {})
            # A span that was sent at its beginning may arrive after the whole one.
            known = each.get(span.id)
            if known is not None and known.ended and span.ended and replace(known, replaced=0) != span:
                each[span.id] = replace(span, replaced=known.replaced + 1)
            elif known is None or (not known.ended):
                each[span.id] = span
    for (trace, id), events in loose.items():
        of = found.get(trace, {}).get(id)
        if of is not None:
            joined = sorted((*of.events, *events), key=lambda event: event.at)
            found[trace][id] = replace(of, events=tuple(joined))
    return {trace: sorted(each.values(), key=lambda span: span.began) for trace, each in found.items()}


def tells(spans: Iterable[Span]) -> bool:
    """Return whether the spans contain a model call, a tool or another effect of an agent."""
    return any(kinds.kind(span) not in (kinds.NOTHING, kinds.AGENT) for span in spans)


def run(spans: list[Span], *, source: dict[str, Any], name: str = "", bare: bool = False) -> ImportedRun:
    """Return one trace as a run.

    Args:
        spans: Its spans, in the order of their beginnings.
        source: Further facts, kept in the header.
        name: The run's name, by default that of its first agent, or of the outermost span.
        bare: No span is known to be an agent's work: each one becomes a step of kind `span`.
    """
    tree = _Tree(spans, bare=bare)
    effects = list(tree.effects())
    root = tree.root
    failed = [span for span in tree.tops if span.error is not None]
    resource = dict(root.resource)
    service = str(resource.get("service.name") or "")
    session = next((str(value) for span in spans if (value := span.get(*_SESSIONS)) is not None), "")
    tags = [f"service:{service}"] if service and not service.startswith("unknown_service") else []
    tags += [f"conversation:{session}"] if session else []
    kept = root.get("reenact.recording.tags")
    tags += [str(tag) for tag in kept] if isinstance(kept, list) else []
    about = {"trace": root.trace, "spans": len(spans), "resource": resource, "root": _left(root)}
    libraries = sorted({span.library for span in spans if span.library})
    return ImportedRun(
        name=name or _name(tree, root, service),
        effects=effects,
        tags=tuple(dict.fromkeys(tags)),
        status="error" if failed else "ok",
        problem=failed[0].error or "" if failed else "",
        output=_output(tree, effects),
        source={**source, **about, "libraries": libraries},
        notes=tuple(_notes(tree, effects, bare=bare)),
        overlapping=True,
    )


@dataclass(slots=True)
class _Missing:
    """The missing parts of effects' spans, by the effects' numbers from 1."""

    messages: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    rough: list[int] = field(default_factory=list)


class _Tree:
    def __init__(self, spans: list[Span], *, bare: bool) -> None:
        self.spans = {span.id: span for span in spans}
        self.circles = _cut_circles(self.spans)
        spans = [*self.spans.values()]
        _refuse_deep(self.spans)
        self.bare = bare
        self.kinds = {span.id: kinds.kind(span) for span in spans}
        self.tops = [span for span in spans if span.parent not in self.spans]
        self.root = max(self.tops or spans, key=lambda span: span.ended - span.began)
        self.lost = sum(1 for span in self.tops if span.parent)
        self.missing = _Missing()
        self._first_tool: dict[str, int] = {}
        for span in spans:
            if self.kinds[span.id] == kinds.TOOL:
                self._first_tool[span.parent] = min(span.began, self._first_tool.get(span.parent, span.began))
        self._made: dict[str, Stretch | Happened | None] = {}
        self._inner = self._twice()

    def _twice(self) -> dict[str, Span]:
        """Return the inner spans of model calls seen by two instrumentations, by the outer id.

        A span around several calls is an agent's; one around its tools (Google's ADK) stays a call.
        """
        inside: dict[str, list[Span]] = {}
        for span in self.spans.values():
            if self.kinds[span.id] == kinds.MODEL and (outer := self._model_around(span)) is not None:
                inside.setdefault(outer.id, []).append(span)
        for around, calls in inside.items():
            if len(calls) > 1:
                self.kinds[around] = kinds.AGENT
        return {
            around: calls[0]
            for around, calls in inside.items()
            if len(calls) == 1 and self.kinds[around] == kinds.MODEL
        }

    def _model_around(self, span: Span) -> Span | None:
        for outer in self._around(span):
            if self.kinds[outer.id] == kinds.MODEL:
                return outer
            if self.kinds[outer.id] != kinds.NOTHING:
                return None
        return None

    def _around(self, span: Span) -> Iterator[Span]:
        while (outer := self.spans.get(span.parent)) is not None:
            yield outer
            span = outer

    def effects(self) -> Iterator[Happened]:
        inner = {span.id for span in self._inner.values()}
        found: list[Happened] = []
        for span in self.spans.values():
            if span.id in inner:
                continue
            kind = "span" if self.bare and self.kinds[span.id] == kinds.NOTHING else self.kinds[span.id]
            if kind in (kinds.NOTHING, kinds.AGENT):
                continue
            made = self._effect(span, kind, len(found) + 1)
            self._made[span.id] = made
            found.append(made)
        yield from found

    def _effect(self, span: Span, kind: str, place: int) -> Happened:
        if kind == kinds.MODEL:
            name, args, value = self._model(span, place)
        elif kind == kinds.TOOL:
            name, args, value = self._tool(span, place)
        elif kind == "span":
            name, args, value = (
                span.name,
                {**span.attributes},
                [[event.name, dict(event.attributes)] for event in span.events] or None,
            )
        else:
            name, args = span.name or kind, tool.arguments(span) or {}
            value = tool.result(span)[1]
        ended = span.ended or span.began
        if kind == kinds.MODEL:
            # Google's ADK runs tools inside of the span of the call that asked for them.
            ended = min(ended, self._first_tool.get(span.id, ended))
        return Happened(
            kind, name or kind, args, value, span.error,
            began=moment(span.began), ended=moment(ended), within=self._within(span),
        )  # fmt: skip

    def _model(self, span: Span, place: int) -> tuple[str, dict[str, Any], Any]:
        read = span_model.read(span)
        if (inner := self._inner.get(span.id)) is not None:
            read = read.filled(span_model.read(inner))
        if not read.messages:
            self.missing.messages.append(place)
        elif read.rough:
            self.missing.rough.append(place)
        if read.choices is None and span.error is None:
            self.missing.answers.append(place)
        return read.name, read.args(), read.value()

    def _tool(self, span: Span, place: int) -> tuple[str, dict[str, Any], Any]:
        args = tool.arguments(span)
        told, value = tool.result(span)
        if args is None:
            self.missing.arguments.append(place)
        if not told and span.error is None:
            self.missing.results.append(place)
        return kinds.tool_name(span), args or {}, value

    def _within(self, span: Span) -> Stretch | Happened | None:
        for outer in self._around(span):
            kind = self.kinds[outer.id]
            if kind == kinds.AGENT and outer.id not in self._made:
                self._made[outer.id] = Stretch(kinds.agent_name(outer), self._within(outer))
            # Nothing happens inside of a model call: inner spans are beside it.
            if outer.id in self._made and kind != kinds.MODEL:
                return self._made[outer.id]
        return None


def _cut_circles(spans: dict[str, Span]) -> int:
    """Make one span of each circle of parents an outermost one; return the number of circles."""
    cut, climbed = 0, set[str]()
    for inner in [*spans.values()]:
        span: Span | None = inner
        path: set[str] = set()
        while span is not None and span.id not in climbed:
            path.add(span.id)
            if span.parent in path:
                spans[span.id] = replace(span, parent="")
                cut += 1
                break
            span = spans.get(span.parent)
        climbed |= path
    return cut


def _refuse_deep(spans: Mapping[str, Span]) -> None:
    """Raise ValueError if spans are nested very deep."""
    depths: dict[str, int] = {}
    for inner in spans.values():
        span: Span | None = inner
        climbed = []
        while span is not None and span.id not in depths:
            climbed.append(span.id)
            span = spans.get(span.parent)
        depth = depths[span.id] if span is not None else 0
        for id in reversed(climbed):
            depth += 1
            depths[id] = depth
        if depth > DEEPEST:
            raise ValueError(f"spans are nested more than {DEEPEST} deep")


def _name(tree: _Tree, root: Span, service: str) -> str:
    if (named := root.text("reenact.recording.name", "gen_ai.workflow.name")) or root.get(
        "reenact.recording.id"
    ):
        return named or "run"
    first = next((span for span in tree.spans.values() if tree.kinds[span.id] == kinds.AGENT), None)
    if tree.kinds[root.id] == kinds.AGENT:
        return kinds.agent_name(root)
    return root.name or (kinds.agent_name(first) if first is not None else service or "trace")


def _left(root: Span) -> dict[str, Any]:
    """Read the outermost span's description of the run."""
    left = {key: value for key, value in root.attributes.items() if len(compact(value)) <= 1000}
    return {"name": root.name, **left}


def _output(tree: _Tree, effects: list[Happened]) -> Any:
    """Return the run's output: the outermost agent's, else its last answer."""
    for span in (tree.root, *tree.tops):
        if tree.kinds[span.id] in (kinds.AGENT, kinds.NOTHING):
            found = said(span.get("final_result"))
            if found is not None:
                return found
            given = span.get(
                "gen_ai.output.messages", "output.value", "langfuse.output", "traceloop.entity.output"
            )
            made = choices(given) if given is not None else None
            if made:
                return content(made[-1].message.get("content")) or None
            if given is not None:
                return said(given)
    last = next((effect for effect in reversed(effects) if effect.kind == kinds.MODEL and effect.value), None)
    made = choices(last.value) if last is not None else None
    return content(made[0].message.get("content")) or None if made else None


def _notes(tree: _Tree, effects: list[Happened], *, bare: bool) -> Iterator[str]:
    missing = tree.missing
    if bare:
        yield (
            "no span of the trace says that it is a model call or a tool, by the GenAI conventions or OpenInference: "
            "each is shown unchanged"
        )
        return
    if replaced := sum(span.replaced for span in tree.spans.values()):
        yield f"ids of spans are repeated: {replaced} complete spans were replaced by later ones of their ids"
    if tree.circles:
        yield f"spans name each other as parents: {tree.circles} of them became outermost"
    if tree.lost:
        yield f"spans are missing: {tree.lost} name a parent outside of the trace"
    said_nothing = "the messages were not captured, which is the default of most instrumentations"
    for steps, what in (
        (missing.messages, f"does not say what the model was asked: {said_nothing}"),
        (missing.answers, f"does not say what the model answered: {said_nothing}"),
        (missing.rough, "has the model's question only as text"),
        (missing.arguments, "does not say what the tool was given"),
        (missing.results, "does not say what the tool gave"),
    ):
        if steps:
            yield f"step {_some(steps)}: the trace {what}"
    yield _replays(missing, effects)


def _replays(missing: _Missing, effects: list[Happened]) -> str:
    counted = Counter(effect.kind for effect in effects)
    lacks = "a trace has no stream chunks, failed attempts, clock, random numbers, nor what tools do inside"
    if not counted[kinds.MODEL]:
        return f"{lacks}: this recording can be read, but has no model call to replay"
    if missing.messages or missing.answers or missing.rough:
        return f"{lacks}; and messages are missing: this recording can be read, but not replayed"
    return f"{lacks}: the model's answers can be replayed (reenact.lesson.create_replay_model), the program cannot"


def _some(steps: list[int]) -> str:
    return ", ".join(map(str, steps[:5])) + (f" and {len(steps) - 5} more" if len(steps) > 5 else "")
