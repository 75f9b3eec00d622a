"""A `dataclass` decorator whose methods are generated when they are first used.

Compiling `__init__`, `__eq__` and `__repr__` is nine tenths of the cost of a dataclass: 0.8 ms for a small frozen one.
A recorded program imports more than eighty of them and uses a few. The methods behave as those of the standard library;
it generates all of them but a plain `__init__`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False
    ) -> type | Callable[[type], type]:
        """Make a dataclass as `dataclasses.dataclass` does, with its options `frozen` and `slots`."""
        if cls is None:
            return lambda found: _made(found, frozen, slots)
        return _made(cls, frozen, slots)


_GENERATED = ("__init__", "__repr__", "__eq__", "__hash__")


def _made(cls: type, frozen: bool, slots: bool) -> type:
    if any(dataclasses.is_dataclass(base) for base in cls.__mro__):
        # The order of inherited fields and the checks of the bases are the standard library's.
        return dataclasses.dataclass(frozen=frozen, slots=slots)(cls)
    own = set(vars(cls))
    # The standard library would write a missing docstring, from the signature of `__init__`.
    cls.__doc__ = cls.__doc__ or cls.__name__
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    for name in _GENERATED:
        if name not in own:
            setattr(made, name, _Generated(made, name) if frozen or name != "__hash__" else None)
    if frozen:
        made.__setattr__, made.__delattr__ = _set, _delete
        if slots:
            made.__getstate__, made.__setstate__ = _state, _restore
    parameters = made.__dataclass_params__
    parameters.init = parameters.repr = parameters.eq = True
    parameters.frozen = frozen
    return made  # type: ignore[no-any-return]


class _Generated:
    """Stands for a generated method in its class until one of them is looked up."""

    def __init__(self, cls: Any, name: str) -> None:
        self._cls, self._name = cls, name

    def __get__(self, one: object, cls: type | None = None) -> Any:
        # Most classes are only instantiated: each method is generated separately.
        made = _MAKERS[self._name](self._cls) or vars(_generated(self._cls))["__init__"]
        if vars(self._cls).get(self._name) is self:
            made.__qualname__, made.__module__ = (
                f"{self._cls.__qualname__}.{self._name}",
                self._cls.__module__,
            )
            if self._name != "__init__":
                made.__annotations__ = {}  # as the standard library's
            setattr(self._cls, self._name, made)
        return made.__get__(one, cls)


class _Factory:
    """Stands for a default that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


def _init(cls: Any) -> Any:
    """Return `__init__` of a class whose fields are plain arguments; None for another class.

    It takes a quarter of the time of the standard library, which makes a class for it.
    """
    fields = dataclasses.fields(cls)
    if len(fields) != len(cls.__dataclass_fields__) or not all(map(_is_plain, fields)):
        return None
    known: dict[str, Any] = {"_set": object.__setattr__, "_factory": _Factory()}
    given, body, notes = [], [], {}
    for field in fields:
        if not field.init:
            continue
        name, value = field.name, field.name
        notes[name] = field.type
        if field.default is not dataclasses.MISSING:
            known[f"_of_{name}"] = field.default
            given.append(f"{name}=_of_{name}")
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_of_{name}"] = field.default_factory
            given.append(f"{name}=_factory")
            value = f"_of_{name}() if {name} is _factory else {name}"
        elif given and "=" in given[-1]:
            return None
        else:
            given.append(name)
        frozen = cls.__dataclass_params__.frozen
        body.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    lines = (f"def __init__(self, {', '.join(given)}):", *(body or [" pass"]))
    exec("\n".join(lines), known)  # noqa: S102 - as the standard library does; the names are those of our fields
    made = known["__init__"]
    made.__annotations__ = {**notes, "return": None}
    return made


def _is_plain(field: dataclasses.Field[Any]) -> bool:
    """Return True for a positional argument, or a field that is none and has no default."""
    if field.init:
        return not field.kw_only
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _repr(cls: Any) -> Any:
    names = [field.name for field in dataclasses.fields(cls) if field.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807 - it becomes the method
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


def _eq(cls: Any) -> Any:
    values = _values([field.name for field in dataclasses.fields(cls) if field.compare])

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(cls: Any) -> Any:
    fields = dataclasses.fields(cls)
    values = _values(
        [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
    )

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


def _values(names: list[str]) -> Callable[[object], tuple[Any, ...]]:
    """Return the function that gives the fields of these names as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


_MAKERS: dict[str, Callable[[Any], Any]] = {
    "__init__": _init, "__repr__": _repr, "__eq__": _eq, "__hash__": _hash,
}  # fmt: skip
"""Each makes a method of a class. The standard library compiles a text, which takes longer."""


def _generated(cls: Any) -> type:
    """Return a class of the same name and fields with the `__init__` of the standard library."""
    more: dict[str, Any] = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
    }
    if hasattr(cls, "__post_init__"):
        more["__post_init__"] = None
    return dataclasses.make_dataclass(
        cls.__name__,
        [(field.name, field.type, field) for field in dataclasses.fields(cls)],
        namespace=more,
        repr=False,
        eq=False,
        frozen=cls.__dataclass_params__.frozen,
    )


def _fixed(one: Any, name: str) -> bool:
    cls = type(one)
    return "__dataclass_fields__" in vars(cls) or name in cls.__dataclass_fields__


def _set(self: object, name: str, value: object) -> None:
    if _fixed(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(self: object, name: str) -> None:
    if _fixed(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
