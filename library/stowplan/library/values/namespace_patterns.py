"""Patterns of namespaces in the destinations of AppProjects.

They mean what they mean to Argo CD: `isDestinationMatched` in pkg/apis/application/v1alpha1/app_project_types.go, with
the patterns of github.com/gobwas/glob. Regular expressions between slashes are for other fields of AppProjects.
"""

import re
from collections.abc import Iterable

_DENY = "!"
_PARTS = re.compile(r"\[(?P<negated>!?)(?:(?P<low>[^\]])-(?P<high>[^\]])|(?P<listed>(?!.-)[^\]]+))\]|.", re.DOTALL)
"""A class of characters, or a single character."""


def permitted(namespace: str, patterns: Iterable[str]) -> bool:
    """Return whether an AppProject with these patterns allows the namespace.

    A pattern with a leading `!` denies the namespaces that match the rest of it, whatever other patterns allow, and
    allows all others.
    """
    known = [*patterns]
    return not denying(namespace, known) and any(each.startswith(_DENY) or _matches(each, namespace) for each in known)


def denying(namespace: str, patterns: Iterable[str]) -> list[str]:
    """Return the patterns with a leading `!` that deny the namespace, whatever the other patterns allow."""
    return [each for each in patterns if each.startswith(_DENY) and _matches(each.removeprefix(_DENY), namespace)]


def _matches(pattern: str, text: str) -> bool:
    """Return whether `pattern` matches the whole text. The time does not grow exponentially, whatever the pattern is.

    `ends` has the lengths of all beginnings of the text that match the pattern so far.
    """
    ends = {0}
    outer: list[tuple[set[int], set[int]]] = []  # for each open brace: the ends before it, and after its alternatives
    for part in _PARTS.finditer(pattern):
        match part[0]:
            case "*":
                ends = set(range(min(ends), len(text) + 1)) if ends else ends
            case "{":
                outer.append((ends, set()))
            case "," if outer:
                outer[-1][1].update(ends)
                ends = outer[-1][0]
            case "}" if outer:
                ends = ends | outer.pop()[1]
            case _:
                ends = {end + 1 for end in ends if end < len(text) and _is_in(text[end], part)}
    return len(text) in ends and not outer


def _is_in(char: str, part: re.Match[str]) -> bool:
    """Return whether a part of a pattern matches one character."""
    if part["listed"]:
        return (char in part["listed"]) != bool(part["negated"])
    if part["low"]:
        return (part["low"] <= char <= part["high"]) != bool(part["negated"])
    return part[0] in ("?", char)
