"""Parts of Markdown that the pages of the reference share."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from stowplan.compiler.specs.field_help import FieldText

_ANCHOR = re.compile(r"[^a-z0-9]+")


def cell(text: str) -> str:
    """Return a text as a cell of a table: on one line, with its bars and angle brackets as characters.

    Bars in code need no sign before them, which would be shown.
    """
    parts = re.split(r"(`[^`]*`)", plain(" ".join(text.split())))
    return "".join(part if part.startswith("`") else part.replace("|", r"\|") for part in parts)


def plain(text: str) -> str:
    """Return a text without the signs by which HTML would begin, except in code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def fields(found: Iterable[FieldText], above: str = "") -> Iterator[str]:
    """Yield the lines about fields. Each has a heading, whose anchor is its path with hyphens."""
    for each in found:
        anchor = _ANCHOR.sub("-", f"{above}.{each.path}".lower()).strip("-")
        level = "##" if each.path.count(".") < 2 else "###"
        yield f"{level} `{each.path}` {{ #{anchor} }}"
        yield ""
        yield f"*{each.type}{', required' if each.required else ''}*"
        yield ""
        for paragraph in (each.text, *each.limits):
            if paragraph:
                yield plain(paragraph)
                yield ""


def variable(found: dict[str, Any]) -> str:
    """Return the value of a container's variable; a field of the pod in brackets."""
    if "valueFrom" not in found:
        return f"`{cell(str(found.get('value', '')))}`"
    source = found["valueFrom"]
    if "fieldRef" in source:
        return f"[`{source['fieldRef']['fieldPath']}`]"
    return "from a Secret" if "secretKeyRef" in source else "from the cluster"
