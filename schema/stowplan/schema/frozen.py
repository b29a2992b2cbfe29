"""Frozen dataclasses that are cheap to define.

The standard library generates and compiles five functions for each class. With more than a hundred classes that took a
sixth of the time of a short command. Here classes share these functions, and only `__init__` is compiled, with the
first instance; it sets slots directly, which takes half the time. All else comes from the standard library: fields and
their defaults, slots, inheritance, `replace`, `asdict`, and `match`.
"""

import dataclasses
import operator
from collections.abc import Callable, Sequence
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["dataclass"]

Class = TypeVar("Class", bound=type[Any])
Method = Callable[..., Any]


def _define(cls: Class, *, slots: bool, order: bool) -> Class:
    defined: Any = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots)
    fields = dataclasses.fields(defined)
    names = [field.name for field in fields]
    compared = _values([field.name for field in fields if field.compare])
    hashed = _values([field.name for field in fields if (field.compare if field.hash is None else field.hash)])
    methods: dict[str, Method] = {
        "__init__": _first_init(defined),
        "__eq__": _comparison(operator.eq, compared),
        "__hash__": lambda self: hash(hashed(self)),
        "__repr__": _representation([field.name for field in fields if field.repr]),
        "__setattr__": _refusal("assign to"),
        "__delattr__": _refusal("delete"),
        "__getstate__": lambda self: [getattr(self, name) for name in names],
        "__setstate__": _restoration(names),
    }
    if order:
        for sign in (operator.lt, operator.le, operator.gt, operator.ge):
            methods[f"__{sign.__name__}__"] = _comparison(sign, compared)
    for name, method in methods.items():
        if cls.__dict__.get(name) is None:
            setattr(defined, name, method)
    return defined  # type: ignore[no-any-return]


def _first_init(cls: Any) -> Method:
    """Compile the real `__init__`, install it, and call it."""

    def first(self: Any, *values: Any, **named: Any) -> None:
        cls.__init__ = _init(cls)
        cls.__init__(self, *values, **named)

    return first


def _init(cls: Any) -> Any:
    known: dict[str, Any] = {"missing": object()}
    parameters, lines = ["self"], []
    for field in dataclasses.fields(cls):
        if not field.init:
            continue  # set by `__post_init__`
        name = value = field.name
        known |= {
            f"default_{name}": field.default,
            f"make_{name}": field.default_factory,
            f"set_{name}": _set(cls, name),
        }
        if field.default_factory is not dataclasses.MISSING:
            parameter, value = f"{name}=missing", f"make_{name}() if {name} is missing else {name}"
        else:
            parameter = name if field.default is dataclasses.MISSING else f"{name}=default_{name}"
        parameters.append(parameter)
        lines.append(f" set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    text = f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or [" pass"])
    exec(text, known)  # noqa: S102 - made of nothing but the names of fields
    known["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return known["__init__"]


def _set(cls: Any, name: str) -> Callable[[Any, Any], None]:
    """Return the setter of a field, which bypasses `__setattr__`."""
    slot = getattr(cls, name, None)
    if isinstance(slot, MemberDescriptorType):
        return slot.__set__
    return lambda self, value: object.__setattr__(self, name, value)


def _values(names: Sequence[str]) -> Method:
    """Return a function from a record to these fields' values: a tuple, or a single value."""
    return operator.attrgetter(*names) if names else lambda _: ()


def _comparison(compare: Callable[[Any, Any], Any], values: Method) -> Method:
    return lambda self, other: (
        compare(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented
    )


def _representation(names: Sequence[str]) -> Method:
    return lambda self: f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


def _restoration(names: Sequence[str]) -> Method:
    def restore(self: Any, state: Sequence[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return restore


def _refusal(what: str) -> Method:
    def refuse(_: Any, name: str, *__: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")

    return refuse


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, slots: bool = False, order: bool = False) -> Callable[[Class], Class]:
        """Return the decorator, which type checkers treat as the standard library's; only for frozen classes."""
        if not frozen:
            raise TypeError("a record is frozen")
        return lambda cls: _define(cls, slots=slots, order=order)
