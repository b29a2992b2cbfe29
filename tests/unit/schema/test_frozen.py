"""Records are what the standard library would make of the same class."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import pytest

from stowplan.schema import frozen


def define(decorator: Any) -> tuple[Any, ...]:
    @decorator(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    @decorator(frozen=True, slots=True, order=True)
    class Point:
        """Two numbers, and what does not count."""

        zero: ClassVar[int] = 0
        x: int
        y: int = 1
        seen: list[str] = dataclasses.field(default_factory=list, compare=False)
        note: str = dataclasses.field(default="", repr=False, hash=False)

        def moved(self, x: int) -> Any:
            return dataclasses.replace(self, x=x)  # type: ignore[type-var]

    @decorator(frozen=True, slots=True)
    class Named(Point):
        """With what is worked out."""

        base: str = dataclasses.field(init=False, default="")

        def __post_init__(self) -> None:
            object.__setattr__(self, "base", f"p{self.x}")

    @decorator(frozen=True)
    class Cached:
        """Without slots."""

        x: int

        @cached_property
        def double(self) -> int:
            return 2 * self.x

    return Empty, Point, Named, Cached


STANDARD, OURS = define(dataclasses.dataclass), define(frozen.dataclass)
Empty, Point, Named, Cached = OURS

for each in OURS:
    # As if they stood at the top of the module, where pickle looks for them.
    each.__qualname__ = each.__name__


def outcome(work: Callable[[], Any]) -> Any:
    """What came of it, in words that do not say which of two classes it was."""
    try:
        return repr(work()).replace("define.<locals>.", "")
    except Exception as error:
        return type(error), str(error).replace("define.<locals>.", "")


@pytest.mark.parametrize(
    "use",
    [
        lambda empty, *_: empty(),
        lambda empty, *_: (empty() == empty(), hash(empty()) == hash(empty())),
        lambda _, point, *__: point(1),
        lambda _, point, *__: point(x=1, y=2, seen=["a"], note="b"),
        lambda _, point, *__: point(1).seen is point(1).seen,
        lambda _, point, *__: point(),
        lambda _, point, *__: point(1, 2, [], "", 5),
        lambda _, point, *__: point(1, z=2),
        lambda _, point, *__: point(1, seen=["a"]) == point(1),
        lambda _, point, *__: hash(point(1, note="a")) == hash(point(1, note="b")),
        lambda _, point, *__: point(1) == (1, 1, []),
        lambda _, point, *__: sorted([point(2), point(1, 5), point(1, 1, note="a"), point(1)]),
        lambda _, point, *__: (point(1) <= point(1), point(1) < point(1), point(2) > point(1), point(1) >= point(2)),
        lambda _, point, *__: point(1) < 1,
        lambda _, point, named, __: (point(1) == named(1), named(1) == point(1)),
        lambda _, point, *__: setattr(point(1), "x", 2),
        lambda _, point, *__: delattr(point(1), "x"),
        lambda _, point, *__: point(1).__dict__,
        lambda _, point, *__: (point(1).moved(3), point.zero, point.__match_args__, point.__slots__),
        lambda _, point, *__: (dataclasses.asdict(point(1)), dataclasses.astuple(point(1)), point.__doc__),
        lambda *classes: [dataclasses.is_dataclass(each) for each in classes],
        lambda *classes: [field.name for each in classes for field in dataclasses.fields(each)],
        lambda _, __, named, ___: (named(4), named(4).base, dataclasses.replace(named(4), x=5)),
        lambda _, __, named, ___: named(4, base="other"),
        lambda *classes: (classes[3](4).double, classes[3](4)),
        lambda *classes: setattr(classes[3](4), "x", 1),
        lambda *classes: (
            [copy.copy(each(3)) for each in classes[1:]] + [copy.deepcopy(each(3)) for each in classes[1:]]
        ),
    ],
)
def test_they_behave_as_those_of_the_standard_library(use: Callable[..., Any]) -> None:
    assert outcome(lambda: use(*OURS)) == outcome(lambda: use(*STANDARD))


@pytest.mark.parametrize("record", [Empty(), Point(1, seen=["a"]), Named(2, note="b"), Cached(3)])
def test_they_can_be_pickled(record: Any) -> None:
    again = pickle.loads(pickle.dumps(record))  # noqa: S301
    assert (again, repr(again)) == (record, repr(record))


def test_one_that_comes_from_another_process_is_whole_before_any_was_made() -> None:
    @frozen.dataclass(frozen=True, slots=True)
    class Late:
        """Made without `__init__`, as pickle does it."""

        x: int

    late = Late.__new__(Late)
    late.__setstate__([3])  # type: ignore[attr-defined]
    assert (late, late.x) == (Late(3), 3)


def test_only_frozen_ones_are_defined() -> None:
    with pytest.raises(TypeError, match="frozen"):
        frozen.dataclass(frozen=False)
