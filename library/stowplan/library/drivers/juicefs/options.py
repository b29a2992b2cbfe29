"""Functions for both mount and sync options."""

from collections.abc import Iterator, Mapping
from functools import cache

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.juicefs.options import Fate, Option, Version
from stowplan.schema.meta import Model

Value = str | int | bool


def given(options: Model) -> Iterator[tuple[str, Value]]:
    """Yield (key, value) pairs of the options that were set, by the keys that users write, in alphabetical order.

    An empty string counts as not set, as it did for the old operator.
    """
    names = options.model_fields_set
    for key, name in _fields(type(options)) if names else ():
        if name in names and (value := getattr(options, name)) not in (None, ""):
            yield key, value


@cache
def _fields(kind: type[Model]) -> tuple[tuple[str, str], ...]:
    """Return (key in the document, name of the model's attribute) of each option, sorted."""
    return tuple(sorted((field.alias or name, name) for name, field in kind.model_fields.items()))


def client_version(text: str) -> Version:
    """Return a version as numbers: `(1, 3)` for `1.3`."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def fate_findings(options: Model, table: Mapping[str, Option], version: Version, base: FieldPath) -> list[Finding]:
    """Return findings about negative values, and about options that changed or that the installed client does not know.

    `table` has the options that changed since the old operator, by key. `version` is that of the installed client.
    `base` is the path of the options.
    """
    found = []
    for key, value in given(options):
        option = table.get(key, Option(key))
        path = (*base, key)
        if option.fate is Fate.REMOVED:
            message = f'"{key}" has no effect: {option.note}.'
            found.append(finding("SP408", path, message, "Remove it.", anchor=Anchor.KEY))
        elif option.fate is not Fate.KEPT:
            became = f"reaches JuiceFS as `{option.flag}`" if option.fate is Fate.RENAMED else "changed its meaning"
            hint = "Check that the value still means what you want."
            found.append(finding("SP407", path, f'"{key}" {became}: {option.note}.', hint, anchor=Anchor.KEY))
        elif option.since > version:
            since, has = (".".join(map(str, each)) for each in (option.since, version))
            hint = "Remove it, or raise `juicefs.clientVersion` in the platform file once the cluster runs that client."
            message = f'"{key}" needs JuiceFS {since}; the platform has {has}.'
            found.append(finding("SP409", path, message, hint, anchor=Anchor.KEY))
        if isinstance(value, int) and not isinstance(value, bool) and value < 0:
            hint = "Give 0 or more, or remove the option for JuiceFS's default."
            found.append(finding("SP205", path, f'"{key}" is {value}; it must not be negative.', hint))
    return found
