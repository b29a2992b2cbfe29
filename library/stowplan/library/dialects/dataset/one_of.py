"""Fields of which a spec must give exactly one."""

from collections.abc import Iterator, Mapping

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding


def exactly_one(fields: Mapping[str, object], path: FieldPath, needs: str) -> Iterator[Finding]:
    """Yield findings unless exactly one of `fields`, the values by key of the mapping at `path`, is given (not None).

    There is one for each value after the first. `needs` begins the message, such as "A dataset has one source".
    """
    given = [key for key, value in fields.items() if value is not None]
    allowed = " and ".join((", ".join(f"`{key}`" for key in list(fields)[:-1]), f"`{list(fields)[-1]}`"))
    if not given:
        yield finding("SP461", path, f"{needs}, and none is given.", f"Give one of {allowed}.", anchor=Anchor.KEY)
    for key in given[1:]:
        message = f"{needs}, and `{given[0]}` is given too."
        yield finding("SP461", (*path, key), message, f"Give one of {allowed}.", anchor=Anchor.KEY)
