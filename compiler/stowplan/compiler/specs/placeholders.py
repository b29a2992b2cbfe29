"""Placeholders such as `<your bucket>` and `{{ bucket }}`, which must not reach a cluster."""

import re
from collections.abc import Iterator

from stowplan.compiler.diagnostics.document import Data, Document, Unplaced
from stowplan.compiler.kubernetes.fields import strings
from stowplan.schema.diagnostics import Finding, finding

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


def templates(value: Data) -> Iterator[Finding]:
    """Yield one finding for each string in `value` with an unfilled template expression, such as `{{ bucket }}`.

    Strings below fields `annotations` and `template` are not searched.
    """
    for path, text in strings(value, except_below=_FREE):
        if found := _TEMPLATE.search(text):
            shown = "".join(c if c.isprintable() else " " for c in found[0][:60])
            message = f"The template {shown} was left in; specs are plain YAML."
            yield finding("SP114", path, message, "Let the template engine write the file first.")


def findings(value: Data) -> Iterator[Finding]:
    """Yield one finding for each string in `value` that is a placeholder, and each placeholder in a longer string."""
    for path, text in strings(value):
        for name in [text] if _WHOLE.fullmatch(text) else _INSIDE.findall(text):
            yield finding("SP114", path, f"The placeholder {name} was left in.", "Put your own value in its place.")
