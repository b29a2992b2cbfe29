"""References among environment variables, as Kubernetes expands them (`third_party/forked/golang/expansion`).

`$(NAME)` is the value of a variable earlier in the list. A reference that does not resolve is not changed. `$$` is one
`$`, so `$$(NAME)` is the string `$(NAME)`. Nothing else has a meaning: no shell is involved.
"""

import re
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter

SECRET_NAME = re.compile(r"(^|_)(API_KEY|PASSWD|PASSWORD|SECRET|SECRET_ACCESS_KEY|SECRET_KEY|TOKEN)$", re.IGNORECASE)
"""Names of variables whose value is secret, such as HF_TOKEN."""


def references(text: str) -> list[str]:
    """Return the names that the value `text` refers to by `$(NAME)`, in the order of the value."""
    if "$(" not in text:
        return []
    found = []
    place = 0
    while (place := text.find("$", place)) >= 0:
        following = text[place + 1 : place + 2]
        end = text.find(")", place + 2) if following == "(" else -1
        if end >= 0:
            found.append(text[place + 2 : end])
            place = end + 1
        else:
            place += 2 if following in ("$", "(") else 1
    return found


def escaped(text: str) -> str:
    """Return a value that Kubernetes expands to `text`: every `$` is doubled."""
    return text.replace("$", "$$")


def ordered(values: Mapping[str, str]) -> list[str] | None:
    """Return the names of `values`, each after the names that its value refers to; None if references are circular.

    Otherwise the order is alphabetical. The order of `values` has no influence.
    """
    wanted = {name: known(value, values) for name, value in values.items()}
    if not any(wanted.values()):
        return sorted(values)
    sorter = TopologicalSorter(wanted)
    try:
        sorter.prepare()
    except CycleError:
        return None
    order: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += ready
        sorter.done(*ready)
    return order


def known(value: str, names: Collection[str]) -> set[str]:
    """Return the names among `names` that a value refers to."""
    return {name for name in references(value) if name in names} if "$(" in value else set()


def circle(values: Mapping[str, str]) -> list[str]:
    """Return names that refer to each other in a circle; an empty list if there is no circle.

    They are the alphabetically first name of the circle, the others in order of reference, and the first again.
    """
    for start in sorted(name for name, value in values.items() if known(value, values)):
        if path := _back_to(start, values):
            return path
    return []


def _back_to(start: str, values: Mapping[str, str]) -> list[str]:
    """Return a shortest path from the name `start` to itself along the references; empty if there is none."""
    ways = [[start]]
    seen: set[str] = set()
    for way in ways:
        for following in sorted(known(values[way[-1]], values)):
            if following == start:
                return [*way, start]
            if following not in seen:
                seen.add(following)
                ways.append([*way, following])
    return []
