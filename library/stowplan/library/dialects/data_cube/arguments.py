"""`extraArgs`: flags for the tools that the old system ran. They are read as the typed fields that replace them.

Typed fields are fields of the spec other than `extraArgs`, or options of its remote side.
"""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from stowplan.library.dialects.data_cube.remotes.flags import BASE, Arguments, Flag
from stowplan.library.dialects.data_cube.remotes.remote import Remote
from stowplan.schema.diagnostics import Finding, finding

_REFUSED = {
    "--no-check-certificate": "Give the authority's certificates as `caBundle`.",
    "--dry-run": "Compile with `stowplan validate`; the agent has no dry run.",
}
"""Hints for flags that several tools have, and that are refused."""


def understood(remote: Remote, arguments: list[str]) -> tuple[Arguments, list[Finding]]:
    """Return the settings that flags in `arguments`, the list `extraArgs`, give, and findings about all else in it."""
    settings: dict[str, Any] = {}
    places: dict[str, int] = {}
    found: list[Finding] = []
    for index, name, flag, values in _flags(remote, arguments):
        if flag is None:
            found.append(_unknown(remote, index, name))
        elif not flag.setting:
            message = f"{name} only concerned {remote.tool}, which is not used any more."
            found.append(finding("SP406", (*BASE, index), message, "Remove it."))
        else:
            read = [flag.read(value) for value in values]
            if None in read or (not read and flag.takes):
                found.append(_bad_value(index, name, values, flag))
                continue
            settings[flag.setting] = read if flag.takes < 0 else read[0]
            places[flag.setting] = index
    return Arguments(settings, places), found


def _flags(remote: Remote, arguments: list[str]) -> Iterator[tuple[int, str, Flag | None, list[str]]]:
    """Yield index, name, meaning and values of each flag. The meaning is None for an unknown flag.

    Values are after the `=` of the flag, or in the arguments that follow the flag.
    """
    index = 0
    while index < len(arguments):
        place = index
        name, equals, value = arguments[index].partition("=")
        index += 1
        flag = remote.flags.get(remote.short.get(name, name))
        values = [value] if equals else []
        if name.startswith("-") and not equals:
            taken = _behind(arguments[index:], flag.takes if flag else 1)
            index += len(taken)
            values = taken if not flag or flag.takes else [_bare(flag)]
        yield place, name, flag, values


def _behind(rest: list[str], takes: int) -> list[str]:
    """Return the values after a flag: up to `takes` arguments (-1: any number) before the next flag.

    `rest` are the arguments after the flag.
    """
    most = len(rest) if takes < 0 else takes
    end = next((index for index, text in enumerate(rest[:most]) if text.startswith("-")), most)
    return rest[: min(end, most)]


def _bare(flag: Flag) -> str:
    """Return the value that a flag has if none is written behind it, as in `--flag`."""
    return "true" if flag.setting else ""


def _bad_value(index: int, name: str, values: list[str], flag: Flag) -> Finding:
    found = f'found "{values[0]}"' if values and values[0] else "found no value"
    return finding("SP496", (*BASE, index), f"{name}: {found}.", f"Write {flag.instead} instead.")


def _unknown(remote: Remote, index: int, name: str) -> Finding:
    tool = remote.tool or "this remote"
    if not name.startswith("-"):
        message = f"This is no flag of {tool}."
        return finding("SP496", (*BASE, index), message, "Remove it; source and sink say what is copied.")
    if hint := {**_REFUSED, **remote.refused}.get(name):
        return finding("SP496", (*BASE, index), f"{name} of {tool} is not accepted.", hint)
    message = f"{name} of {tool} has no field here that takes its place."
    slip = get_close_matches(name, [*remote.flags, *remote.short], n=1, cutoff=0.85)
    hint = f'Did you mean "{slip[0]}"?' if slip else "Remove it, if the copy may do without."
    return finding("SP496", (*BASE, index), message, hint)
