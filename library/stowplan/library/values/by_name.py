"""Things that have a module of their name, imported when somebody asks for them: a repository needs few of all."""

from collections.abc import Callable
from typing import TypeVar

Thing = TypeVar("Thing")


class ByName(dict[str, Thing]):
    """Each thing by its name, loaded by the first `[name]`. `in`, `get` and loops see only what was loaded before.

    `load` returns the thing of a name, and raises `KeyError` where there is none.
    """

    def __init__(self, load: Callable[[str], Thing]) -> None:
        self._load = load

    def __missing__(self, name: str) -> Thing:
        found = self[name] = self._load(name)
        return found
