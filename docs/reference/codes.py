"""Pages of the diagnostic codes: those that `stowplan explain` prints, and a list."""

from collections.abc import Iterator

from docs.reference import markdown
from stowplan.compiler.diagnostics.pages import page
from stowplan.schema.codes import CATALOGUE


def pages() -> dict[str, str]:
    """Return the page of each code, and the list of them."""
    found = {f"codes/{code}.md": page(code) or "" for code in CATALOGUE}
    return {"codes/index.md": "\n".join(_index()), **found}


def _index() -> Iterator[str]:
    yield "# Diagnostic codes"
    yield ""
    yield "A code never changes its meaning. `stowplan explain SP201` prints the page of a code."
    yield ""
    yield "| Code | Severity | Title |"
    yield "|---|---|---|"
    for code, each in CATALOGUE.items():
        yield f"| [{code}]({code}.md) | {each.severity} | {markdown.cell(each.title)} |"
    yield ""
