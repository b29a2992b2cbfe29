"""Reading of the lock file, and writing of it: entries are sorted, and comments are kept."""

from collections.abc import Mapping
from io import StringIO
from shlex import quote
from typing import TYPE_CHECKING, Any

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.yaml import comments, reader
from stowplan.library.dialects.reading.floating import Section
from stowplan.schema.diagnostics import finding
from stowplan.schema.parse_model import read as parse

if TYPE_CHECKING:
    from stowplan.schema.lock import Lock, Pin

_HEADER = """\
# What the tags, branches and prefixes of the specs stand for. `stowplan pin{}` writes it; `stowplan synth` reads it.
"""
_FIXED: dict[str, Any] = {"apiVersion": "stowplan.dev/v1alpha1", "kind": "Lock"}


def read(document: Document | None, report: Report) -> "Lock | None":
    """Return the lock in its document; None if there is none, or if it has errors, which are reported as SP901."""
    if document is None:
        return None
    from stowplan.schema.lock import Lock  # noqa: PLC0415 - start-up time

    lock, found = parse(Lock, document.data)
    hint = "Correct the entry, or remove it and run `stowplan pin`."
    problems = (finding("SP901", each.path, each.message, hint, anchor=each.anchor) for each in found)
    report.add_findings(document, problems)
    return None if document.refused else lock


def with_entries(text: str, entries: Mapping[Section, "Mapping[str, Pin]"], other_platform: str = "") -> str | None:
    """Return the lock file `text` with exactly these entries; None if it is no lock file.

    Comments above and beside the entries that stay are kept. An empty `text` becomes a lock file with an explanation.
    `other_platform` is the platform file that the option `--platform` names, if any.
    """
    header = _HEADER.format(f" --platform {quote(other_platform)}" if other_platform else "")
    source = text if text.strip() else f"{header}{_plain(_FIXED)}"
    documents, problems = reader.read(source, "")
    if problems or len(documents) != 1 or not documents[0].data.items() >= _FIXED.items():
        return None
    wanted = {each.value: _fields(entries[each]) for each in Section if entries.get(each)}
    made = _plain({**_FIXED, **wanted})
    root = reader.nodes(made)[0]
    notes = comments.read(source, documents[0].root)
    kept = {path: note for path, note in notes.items() if path == comments.END or root.nearest(path)[1]}
    return comments.written(made, root, kept)


def _fields(pins: "Mapping[str, Pin]") -> dict[str, Any]:
    from ruamel.yaml.comments import CommentedSeq  # noqa: PLC0415 - start-up time

    entries = {key: pin.model_dump(mode="json", exclude_none=True) for key, pin in sorted(pins.items())}
    for each in entries.values():
        if "platforms" in each:
            # In one line, so that each line of the file has one key.
            each["platforms"] = CommentedSeq(each["platforms"])
            each["platforms"].fa.set_flow_style()
    return entries


def _plain(data: Mapping[str, Any]) -> str:
    from ruamel.yaml import YAML  # noqa: PLC0415 - start-up time

    editor = YAML()
    editor.width = 1 << 20
    made = StringIO()
    editor.dump(dict(data), made)
    return made.getvalue()
