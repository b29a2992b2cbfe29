"""The time zones of the IANA database, from the package `tzdata`: the same on every machine."""

from functools import cache
from importlib.resources import files

from stowplan.schema.diagnostics import nearest
from stowplan.schema.frozen import dataclass
from stowplan.schema.wording import describe


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a time zone, and what to write instead."""

    message: str
    hint: str


@cache
def names() -> frozenset[str]:
    """All names, those kept for older spellings included."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())


def problem(name: str) -> Problem | None:
    """What is wrong with the name of a zone, or None. Kubernetes reads it as Go does: letter case counts."""
    if name in names():
        return None
    cities = {zone.rpartition("/")[2].lower(): zone for zone in sorted(names())}
    meant = nearest(name, names()) if name.count("/") == 1 else cities.get(name.lower())
    hint = f'Did you mean "{meant}"?' if meant else "Give the name of a region and city such as Europe/Berlin, or UTC."
    return Problem(f"Found {describe(name)}, which is not a time zone of the IANA database.", hint)
