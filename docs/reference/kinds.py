"""Pages about the fields of each kind and of the platform file, from the models."""

from collections.abc import Iterator

from docs.reference import markdown
from stowplan.compiler.specs.field_help import KINDS, every_field, kinds
from stowplan.schema.export.plain_schema import plain_schema


def pages() -> dict[str, str]:
    """Return a page for each kind, and one that lists them."""
    found = {f"kinds/{name.lower()}.md": "\n".join(_page(name)) for name in kinds()}
    return {"kinds/index.md": "\n".join(_index()), **found}


def _index() -> Iterator[str]:
    yield "# Kinds"
    yield ""
    yield "| Kind | What it is |"
    yield "|---|---|"
    for name in kinds():
        text = plain_schema(KINDS[name.lower()]).get("description", "")
        yield f"| [`{name}`]({name.lower()}.md) | {markdown.cell(text.split(chr(10))[0])} |"
    yield ""


def _page(name: str) -> Iterator[str]:
    schema = plain_schema(KINDS[name.lower()])
    yield f"# {name}"
    yield ""
    yield markdown.plain(schema.get("description", ""))
    yield ""
    yield f"`stowplan explain {name}` prints this in the shell."
    yield ""
    yield from markdown.fields(every_field(schema))
