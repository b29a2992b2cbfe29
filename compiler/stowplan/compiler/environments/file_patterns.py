"""Patterns that choose the files of an environment, as in its `only`."""

import re
from collections.abc import Collection, Sequence
from functools import cache

_PARTS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_PART = re.compile(r"\*\*/|\*\*|\*|\?")


def chosen(path: str, patterns: Sequence[str]) -> bool:
    """Whether a file belongs to the environment: the last pattern that fits it has no `!` at its start.

    If no pattern fits, it belongs to the environment if there are no patterns or if the first one has a `!`.
    """
    fitting = [pattern for pattern in patterns if fits(path, pattern)]
    if fitting:
        return not fitting[-1].startswith("!")
    return not patterns or patterns[0].startswith("!")


def unmatched(patterns: Sequence[str], paths: Collection[str]) -> list[int]:
    """Return the indices of the patterns that fit none of the files."""
    return [index for index, pattern in enumerate(patterns) if not any(fits(path, pattern) for path in paths)]


def fits(path: str, pattern: str) -> bool:
    """Whether a path, relative to the repository, fits a pattern. A `!` at the start of the pattern does not matter.

    `*` and `?` stand for characters of one name, `**` for any number of folders. A pattern of a folder, such as
    `specs/prod` or `specs/prod/`, fits all files in it.
    """
    return _expression(pattern).fullmatch(path) is not None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    text, at = "", 0
    own = pattern.removeprefix("!").removeprefix("./").rstrip("/")
    for found in _PART.finditer(own):
        text += re.escape(own[at : found.start()]) + _PARTS[found[0]]
        at = found.end()
    return re.compile(f"{text}{re.escape(own[at:])}(?:/.*)?")
