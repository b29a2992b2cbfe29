"""Time zones of the IANA database, from the package `tzdata`, which is the same on every machine."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from stowplan.schema.diagnostics import nearest
from stowplan.schema.wording import describe


@dataclass(frozen=True, slots=True)
class Problem:
    """Problem of a time zone's name: what is wrong, and what to write instead."""

    message: str
    hint: str


@cache
def names() -> frozenset[str]:
    """Return the names of all time zones, including older spellings."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())


def problem(name: str) -> Problem | None:
    """Return the problem of a time zone's name; None if it is valid. Case matters, as in Go and so in Kubernetes."""
    if name in names():
        return None
    cities = {zone.rpartition("/")[2].lower(): zone for zone in sorted(names())}
    meant = nearest(name, names()) if name.count("/") == 1 else cities.get(name.lower())
    hint = f'Did you mean "{meant}"?' if meant else "Give the name of a region and city such as Europe/Berlin, or UTC."
    return Problem(f"Found {describe(name)}, which is not a time zone of the IANA database.", hint)
