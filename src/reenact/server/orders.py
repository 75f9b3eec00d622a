"""Orders of jobs, derived from the options of the verbs that can be jobs.

An order has the verb (`kind`), the recordings by their full ids, and the other options within limits, without options
that name a path or a command. Orders are a union by `kind`, so that the API document describes each of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, TypeAdapter, create_model

from reenact.verbs.fields import OptionField
from reenact.verbs.interface import Options
from reenact.verbs.marks import JSON, RECORDING, Cli, WireType
from reenact.verbs.registry import VERBS, Verb

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
"""A recording's full id, neither a prefix nor a path."""

Ids = Annotated[list[Id], Field(min_length=1, max_length=10_000)]
Text = Annotated[str, StringConstraints(max_length=10_000)]


class Strict(BaseModel):
    """A model that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid")


class Order(Strict):
    """An order of any kind. `order_of` makes the subclasses."""

    kind: str

    if TYPE_CHECKING:
        options: BaseModel

    @property
    def values(self) -> dict[str, Any]:
        """The given values by the names of the verb's options."""
        subject = subject_of(verb_of(self).module.Options)
        given = self.options.model_dump(exclude_defaults=True)
        return {subject: getattr(self, _plural(self)), **given}

    @property
    def asked(self) -> Options:
        """The options of the verb."""
        return verb_of(self).module.Options.of_order(self.values)

    @property
    def title(self) -> str:
        """The name of the job for people."""
        once = self.kind == "reproduce" and getattr(self.options, "times", None) == 1
        return "Run again" if once else self.kind.replace("-", " ").capitalize()

    @property
    def ids(self) -> list[str]:
        """The ids of its recordings."""
        return list(_ids(self.asked))

    @property
    def runs(self) -> bool:
        """True if the job starts programs, or asks a model with the server's key."""
        return self.asked.starts_programs

    @property
    def sorts_foreign(self) -> bool:
        """True if the verb itself refuses foreign recordings one by one."""
        return verb_of(self).module.Options.sorts_foreign


def verb_of(order: Order) -> Verb:
    """Return the verb of an order."""
    return next(verb for verb in VERBS if verb.name == order.kind)


def order_of(verb: Verb) -> type[Order]:
    """Return the model of a verb's orders."""
    options = verb.module.Options
    subject = subject_of(options)
    fields = {
        name: field_of(verb, name, info)
        for name, info in options.fields().items()
        if name != subject and _wire(info).offered
    }
    title = "".join(part.capitalize() for part in verb.name.split("-"))
    wire = cast("Any", create_model)(
        f"{title}Options",
        __base__=Strict,
        __doc__=f"Options as `reenact {verb.name}` has them.",
        **fields,
    )
    several = get_origin(options.fields()[subject].kind) is tuple
    about = {"recordings": (Ids, ...)} if several else {"recording": (Id, ...)}
    required = any(info.is_required() for info in wire.model_fields.values())
    first = (options.__doc__ or "").partition("\n")[0]
    made: type[Order] = cast("Any", create_model)(
        title,
        __base__=Order,
        __doc__=f"{first} {_outcome(verb)}",
        kind=(Literal[verb.name], ...),
        **about,
        options=(wire, ... if required else wire()),
    )
    return made


def _outcome(verb: Verb) -> str:
    if JSON in verb.module.Options.common:
        return f"The result is that of `reenact {verb.name} --json`."
    return f"The files are those of `reenact {verb.name}`."


def results() -> Any:
    """Return the type of the jobs' results: the views that `--json` prints, or other JSON."""
    outcomes = [get_type_hints(verb.module.run)["return"] for verb in VERBS if verb.job]
    kinds = [get_type_hints(outcome.tree)["return"] for outcome in outcomes]
    return reduce(or_, [*kinds, JsonValue])


def field_of(verb: Verb, name: str, info: OptionField) -> tuple[Any, Any]:
    """Return type and default of an option in an order or a query."""
    wire = _wire(info)
    kind = wire.type or info.kind
    if Path in (kind, *get_args(kind)):
        raise TypeError(f"{verb.name}: {name} is a path, which no request may name: mark it LOCAL")
    if wire.type is None and RECORDING in info.marks:
        kind = Id | None if type(None) in get_args(kind) else Id
    elif kind is str and not wire.limits:
        kind = Text
    elif get_origin(kind) is tuple:
        word = Annotated[str, StringConstraints(min_length=1, max_length=wire.longest)]
        kind = Annotated[list[word], Field(max_length=100)]
    about = info.about
    if wire.type is None and (about.ge is not None or about.le is not None):
        kind = Annotated[kind, Field(ge=about.ge, le=about.le)]
    if wire.limits:
        kind = Annotated[kind, Field(**cast("Any", wire.limits))]
    if info.required:
        return kind, ...
    default = info.default if wire.default is ... else wire.default
    return kind, list(default) if isinstance(default, tuple) else default


def _wire(info: OptionField) -> WireType:
    return next((mark for mark in info.marks if isinstance(mark, WireType)), WireType())


def subject_of(options: type[Options]) -> str:
    """Return the name of the field with the verb's recordings, its argument."""
    for name, info in options.fields().items():
        if RECORDING in info.marks and any(isinstance(one, Cli) and one.argument for one in info.marks):
            return name
    raise TypeError(f"{options.__module__}: a job needs an argument marked RECORDING")


def _ids(options: Options) -> Iterable[str]:
    for name, info in type(options).fields().items():
        if RECORDING in info.marks and (value := getattr(options, name)):
            yield from (value,) if isinstance(value, str) else value


def _plural(order: Order) -> str:
    return "recordings" if "recordings" in type(order).model_fields else "recording"


if TYPE_CHECKING:
    AnyOrder = Order
else:
    AnyOrder = Annotated[
        reduce(or_, [order_of(verb) for verb in VERBS if verb.job]), Field(discriminator="kind")
    ]

ORDERS: TypeAdapter[Order] = TypeAdapter(AnyOrder)
"""Reads an order from JSON."""
