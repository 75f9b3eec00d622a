"""The `dataclass` decorator: equal to the standard library's, with methods generated when they are used."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field
from typing import ClassVar

import pytest

from reenact.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A frozen point."""

    limit: ClassVar[int] = 9

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        if self.x > self.limit:
            raise ValueError(self.x)


@dataclass
class Basket:
    things: list[int]
    seen: int = field(default=0, repr=False)


@dataclass(frozen=True)
class Named(Point):
    """A point with a name."""

    name: str = "origin"


class Coloured(Point):
    colour = "red"


def test_a_method_is_generated_when_it_is_first_looked_up() -> None:
    @dataclass(frozen=True)
    class Fresh:
        x: int

    before = type(vars(Fresh)["__init__"]).__name__
    assert Fresh(1).x == 1

    assert before == "_Generated"
    assert inspect.isfunction(vars(Fresh)["__init__"])


def test_arguments_defaults_and_the_check_after_them_are_those_of_a_dataclass() -> None:
    assert (Point(1), Point(1).tags) == (Point(1, 2), [])
    assert Point(1).tags is not Point(1).tags
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="10"):
        Point(10)


def test_representation_equality_and_hash_are_those_of_a_dataclass() -> None:
    assert repr(Point(1)) == "Point(x=1, y=2, tags=[])"
    assert repr(Basket([1])) == "Basket(things=[1])"
    assert hash(Point(1, tags=["a"])) == hash(Point(1, tags=["b"]))
    assert Point(1) != Point(3)
    assert Point(1) != (1, 2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Basket([]))


def test_a_field_that_is_no_plain_argument_is_as_in_the_standard_library() -> None:
    @dataclass
    class Counter:
        start: int
        step: int = field(default=1, kw_only=True)
        count: int = field(default=0, init=False)

    assert repr(Counter(2, step=3)) == f"{Counter.__qualname__}(start=2, step=3, count=0)"
    with pytest.raises(TypeError, match="positional argument"):
        Counter(2, 3)  # type: ignore[call-arg, misc]


def test_a_field_without_a_default_behind_one_with_a_default_is_refused() -> None:
    @dataclass
    class Wrong:
        x: int = 1
        y: int  # type: ignore[misc]

    with pytest.raises(TypeError, match="non-default argument 'y'"):
        Wrong(1, 2)


def test_the_signature_has_the_types_and_defaults_of_the_fields() -> None:
    plain = dataclasses.make_dataclass(
        "Plain",
        [
            ("things", "list[int]"),
            ("seen", "int", field(default=0)),
            ("tags", "set[str]", field(default_factory=set)),
        ],
    )
    ours = dataclass(
        type(
            "Ours",
            (),
            {
                "__annotations__": {"things": "list[int]", "seen": "int", "tags": "set[str]"},
                "seen": 0,
                "tags": field(default_factory=set),
            },
        )
    )

    assert str(inspect.signature(ours)) == str(inspect.signature(plain))


def test_a_frozen_object_refuses_changes() -> None:
    one = Point(1)

    with pytest.raises(dataclasses.FrozenInstanceError, match="'x'"):
        one.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="'x'"):
        del one.x
    with pytest.raises(dataclasses.FrozenInstanceError, match="'more'"):
        one.more = 2  # type: ignore[attr-defined]


def test_a_subclass_that_is_no_dataclass_has_attributes_of_its_own() -> None:
    one = Coloured(1)
    one.colour = "blue"

    with pytest.raises(dataclasses.FrozenInstanceError):
        one.x = 2  # type: ignore[misc]
    assert (one.x, one.colour) == (1, "blue")


def test_the_functions_of_the_standard_library_take_it() -> None:
    assert [each.name for each in dataclasses.fields(Point)] == ["x", "y", "tags"]
    assert dataclasses.asdict(dataclasses.replace(Point(1), y=5)) == {"x": 1, "y": 5, "tags": []}
    assert list(inspect.signature(Point).parameters) == ["x", "y", "tags"]
    match Point(1, 7):
        case Point(1, found):
            assert found == 7


def test_an_inherited_dataclass_has_the_fields_of_both() -> None:
    assert repr(Named(1, name="A")) == "Named(x=1, y=2, tags=[], name='A')"
    with pytest.raises(dataclasses.FrozenInstanceError):
        Named(1).name = "B"  # type: ignore[misc]


def test_a_frozen_object_with_slots_is_copied_and_pickled() -> None:
    assert copy.copy(Point(1, 5)) == copy.deepcopy(Point(1, 5)) == pickle.loads(pickle.dumps(Point(1, 5)))
    assert not hasattr(Point(1), "__dict__")


def test_methods_of_the_class_are_kept() -> None:
    @dataclass(frozen=True)
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    assert (Own(1) == Own(2), hash(Own(1)), repr(Own(1))) == (True, 7, "own")


def test_a_field_that_is_set_afterwards_is_no_argument() -> None:
    @dataclass(slots=True)
    class Area:
        width: int
        height: int = 1
        size: int = field(init=False)

        def __post_init__(self) -> None:
            self.size = self.width * self.height

    assert (Area(2, 3).size, Area(2).size) == (6, 2)
    with pytest.raises(TypeError, match="positional argument"):
        Area(2, 3, 6)  # type: ignore[call-arg]
    assert list(inspect.signature(Area).parameters) == ["width", "height"]


def test_a_value_that_holds_itself_is_shown() -> None:
    basket = Basket([])
    basket.things.append(basket)  # type: ignore[arg-type]
    assert repr(basket) == "Basket(things=[...])"


@pytest.mark.parametrize("count", [0, 1, 2])
def test_equality_and_hash_are_those_of_the_standard_library_for_any_number_of_fields(count: int) -> None:
    names = {f"name{number}": int for number in range(count)}
    ours = dataclass(frozen=True)(type("One", (), {"__annotations__": dict(names)}))
    plain = dataclasses.make_dataclass("One", list(names.items()), frozen=True)
    values = range(count)
    assert ours(*values) == ours(*values)
    assert ours(*values) != plain(*values)
    assert ours(*values).__eq__(1) is NotImplemented
    assert hash(ours(*values)) == hash(plain(*values))
    assert repr(ours(*values)) == repr(plain(*values))
    assert ours.__eq__.__qualname__ == "One.__eq__"


def test_a_field_may_count_for_the_hash_alone_or_not_at_all() -> None:
    @dataclass(frozen=True)
    class Mixed:
        x: int
        y: int = field(default=0, hash=False)
        z: int = field(default=0, compare=False, hash=True)

    assert Mixed(1, 2) != Mixed(1, 3)
    assert Mixed(1, z=2) == Mixed(1, z=3)
    assert hash(Mixed(1, 2)) == hash(Mixed(1, 3)) != hash(Mixed(1, 2, 1))
