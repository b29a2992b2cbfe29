"""The pages of the diagnostic codes: one Markdown file each, beside this module."""

from pathlib import Path

from stowplan.schema.codes import CATALOGUE


def page(code: str) -> str | None:
    """The page of a code, in whatever case it is given; None where there is no such code."""
    name = code.upper()
    if name not in CATALOGUE:
        return None
    return Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8")
