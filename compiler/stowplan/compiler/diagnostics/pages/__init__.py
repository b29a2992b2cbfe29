"""The pages of the diagnostic codes: one Markdown file each, next to this module."""

import re
from pathlib import Path

from stowplan.schema.codes import CATALOGUE

_CODE = re.compile(r"[\s\[(`'\"]*(?:SP[\s-]*)?([0-9]{3})[\s\])`'\":.,]*", re.IGNORECASE | re.ASCII)


def page(code: str) -> str | None:
    """Return the page of a code in Markdown; None for an unknown code. `code` is such as `SP204`, `sp-204` or `204`."""
    found = _CODE.fullmatch(code)
    name = f"SP{found[1]}" if found else ""
    if name not in CATALOGUE:
        return None
    return Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8")
