"""Time zones of the IANA database, from the package `tzdata`, which is the same on every machine."""

from functools import cache
from importlib.resources import files

from stowplan.schema.diagnostics import nearest
from stowplan.schema.wording import describe


@cache
def names() -> frozenset[str]:
    """Return the names of all time zones, including older spellings."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())


def problem(name: str) -> tuple[str, str] | None:
    """Return what is wrong with the name of a time zone, and what to write instead; None if it is valid.

    Case matters, as in Go and so in Kubernetes.
    """
    if name in names():
        return None
    cities = {zone.rpartition("/")[2].lower(): zone for zone in sorted(names())}
    meant = nearest(name, names()) if name.count("/") == 1 else cities.get(name.lower())
    hint = f'Did you mean "{meant}"?' if meant else "Give the name of a region and city such as Europe/Berlin, or UTC."
    return f"Found {describe(name)}, which is not a time zone of the IANA database.", hint
