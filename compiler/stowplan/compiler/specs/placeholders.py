"""Placeholders such as `<your bucket>` and `{{ bucket }}`, which must not reach a cluster."""

import re
from collections.abc import Iterator

from stowplan.compiler.diagnostics.document import Data, Document, Unplaced
from stowplan.schema.diagnostics import FieldPath, Finding, finding

_WHOLE = re.compile(r"<[A-Za-z][\w .-]*>")
_INSIDE = re.compile(r"<[A-Z][A-Z0-9_]+>")
"""Placeholder inside of a longer string: there, only a name in capitals counts."""


_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_FREE = frozenset({"annotations", "template"})
"""Fields whose strings are not checked: annotations and pods may contain templates for other programs."""


_SIGNS = ("<", "{{", "{%", "\\")
"""A document with a placeholder contains one of these strings; a backslash may encode all others."""


def suspected(document: Document) -> bool:
    """Whether the document may contain a placeholder or template: a cheap test before the full search."""
    given = document.given
    return not isinstance(given, Unplaced) or any(sign in given.text for sign in _SIGNS)


def templates(value: Data, path: FieldPath = ()) -> Iterator[Finding]:
    """Yield one finding for each string in `value` with an unfilled template expression; `path` is that of `value`."""
    match value:
        case str():
            found = _TEMPLATE.search(value)
            if found:
                shown = "".join(c if c.isprintable() else " " for c in found[0][:60])
                message = f"The template {shown} was left in; specs are plain YAML."
                yield finding("SP114", path, message, "Let the template engine write the file first.")
        case dict():
            for key, below in value.items():
                if key not in _FREE:
                    yield from templates(below, (*path, key))
        case list():
            for index, below in enumerate(value):
                yield from templates(below, (*path, index))


def findings(value: Data, path: FieldPath = ()) -> Iterator[Finding]:
    """Yield one finding for each string in `value` that is a placeholder, and for each placeholder in a longer string.

    `path` is the path of `value` in its document.
    """
    match value:
        case str():
            for name in [value] if _WHOLE.fullmatch(value) else _INSIDE.findall(value):
                yield finding("SP114", path, f"The placeholder {name} was left in.", "Put your own value in its place.")
        case dict():
            for key, below in value.items():
                yield from findings(below, (*path, key))
        case list():
            for index, below in enumerate(value):
                yield from findings(below, (*path, index))
