"""Migration of a file from legacy spellings to canonical ones, by edits of its source.

Only changed values are edited, so comments, quotes and layout stay. The result is parsed again and must equal the
canonical form of the old file; otherwise the file stays unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Diagnostic, Report, diagnose
from stowplan.compiler.yaml import reader
from stowplan.schema.diagnostics import Finding, Severity
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.legacy import modernise

_BY_HAND = "Rewrite it by hand: it is behind an alias, or an edit could change a neighbouring value."


@dataclass(frozen=True, slots=True)
class Migration:
    """Result for one file; `text` is None if the file stays unchanged."""

    text: str | None
    diagnostics: tuple[Diagnostic, ...]


def migrate(text: str, file: str) -> Migration:
    """Migrate one file's source, with a diagnostic for each change; `file` is the path that diagnostics name.

    Diagnostics are errors if the source is invalid, or if a value must be changed by hand.
    """
    report = Report()
    documents, problems = reader.read(text, file)
    report.add(*problems)
    if report.failed:
        return Migration(None, tuple(report.diagnostics))
    roots = list(yaml.compose_all(text, Loader=yaml.CSafeLoader))
    editor = _Editor(text)
    found: list[tuple[Document, list[Finding]]] = []
    for document in documents:
        data, findings = _canonical(document)
        if findings:
            found.append((document, findings))
            editor.change(roots[document.index], document.data, data)
    if not found:
        return Migration(None, ())
    result = editor.result()
    sound = _means(result, file) == [_without_empties(_canonical(each)[0]) for each in documents]
    for document, findings in found:
        by_hand = [] if sound else [replace(each, severity=Severity.ERROR, hint=_BY_HAND) for each in findings]
        report.add(*(diagnose(document, each) for each in by_hand or findings))
    return Migration(result if sound else None, tuple(report.diagnostics))


def _canonical(document: Document) -> tuple[dict[str, Any], list[Finding]]:
    kind = document.data.get("kind")
    known = KINDS.get(kind) if isinstance(kind, str) else None
    return modernise(known.model, document.data) if known else (document.data, [])


def _means(text: str, file: str) -> list[Any]:
    documents, problems = reader.read(text, file)
    left = [finding for document in documents for finding in _canonical(document)[1]]
    return [] if problems or left else [_without_empties(document.data) for document in documents]


def _without_empties(data: Any) -> Any:
    """Remove entries that became empty."""
    if isinstance(data, list):
        return [_without_empties(item) for item in data]
    if not isinstance(data, dict):
        return data
    parts = {key: _without_empties(value) for key, value in data.items()}
    return {key: value for key, value in parts.items() if value not in ({}, None)}


class _Editor:
    """Collects the edits of one source, each with start and end of the characters that it replaces, and their text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._edits: set[tuple[int, int, str]] = set()

    def result(self) -> str:
        text = self._text
        for start, end, new in sorted(self._edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def change(self, node: Node, before: Any, after: Any) -> None:
        """Add the edits that turn `before`, the value of `node`, into `after`."""
        if before == after:
            return
        if isinstance(node, MappingNode) and isinstance(before, dict) and isinstance(after, dict):
            self._mapping(node, before, after)
        elif isinstance(node, SequenceNode) and isinstance(before, list) and isinstance(after, list):
            self._sequence(node, before, after)
        elif isinstance(node, ScalarNode) and isinstance(after, str):
            self._add(node.start_mark.index, node.end_mark.index, after)

    def _mapping(self, node: MappingNode, before: dict[str, Any], after: dict[str, Any]) -> None:
        added = [key for key in after if key not in before]
        gone: list[int] = []
        for index, (key, value) in enumerate(node.value):
            name = key.value
            if name in after:
                if after[name] == {} and before.get(name):
                    gone.append(index)
                else:
                    self.change(value, before.get(name), after[name])
                continue
            new = _new_name(name, before.get(name), {each: after[each] for each in added})
            if new is None:
                gone.append(index)
                continue
            added.remove(new)
            self._add(key.start_mark.index, key.end_mark.index, new)
            self.change(value, before[name], after[new])
        self._remove(node, gone)
        for name in added:
            self._insert(node, f"{name}: {after[name]}")

    def _sequence(self, node: SequenceNode, before: list[Any], after: list[Any]) -> None:
        if len(before) == len(after):
            for item, old, new in zip(node.value, before, after, strict=True):
                self.change(item, old, new)
        else:
            self._remove(node, [index for index, old in enumerate(before) if old not in after])

    def _remove(self, node: MappingNode | SequenceNode, gone: Sequence[int]) -> None:
        """Remove entries: whole lines, or in `{}` and `[]` the characters up to the next remaining entry."""
        spans = [_span(each) for each in node.value]
        if not node.flow_style:
            for index in gone:
                self._add(self._line_start(spans[index][0]), self._line_end(spans[index][1]), "")
            return
        stays = [index for index in range(len(spans)) if index not in gone]
        for index in gone:
            if stays and index > stays[-1]:
                self._add(spans[stays[-1]][1], spans[-1][1], "")
            elif index + 1 < len(spans):
                self._add(spans[index][0], spans[index + 1][0], "")
            else:
                self._add(spans[0][0], spans[-1][1], "")

    def _insert(self, node: MappingNode, entry: str) -> None:
        """Add an entry after the last one."""
        start, _ = _span(node.value[0])
        _, end = _span(node.value[-1])
        if node.flow_style:
            self._add(end, end, f", {entry}")
            return
        indent = " " * (start - self._line_start(start))
        at = self._line_end(end)
        broken = "\r\n" if "\r\n" in self._text else "\n"
        missing = "" if self._text[:at].endswith("\n") else broken
        self._add(at, at, f"{missing}{indent}{entry}{broken}")

    def _line_start(self, index: int) -> int:
        return self._text.rfind("\n", 0, index) + 1

    def _line_end(self, index: int) -> int:
        """Return the index after the line that holds the last character before `index`."""
        if self._text[index - 1] == "\n":
            return index
        found = self._text.find("\n", index)
        return len(self._text) if found < 0 else found + 1

    def _add(self, start: int, end: int, text: str) -> None:
        self._edits.add((start, end, text))


def _new_name(name: str, value: Any, added: dict[str, Any]) -> str | None:
    """Return the new name of a key: the same name in another case, or the new key with its value."""
    same = [each for each in added if each.lower() == name.lower()] or [each for each in added if added[each] == value]
    return same[0] if same else None


def _span(entry: Any) -> tuple[int, int]:
    """Return start and end of an entry of a mapping or sequence, without the characters after a block."""
    first, last = entry if isinstance(entry, tuple) else (entry, entry)
    return first.start_mark.index, _end(last)


def _end(node: Any) -> int:
    if isinstance(node, ScalarNode) or node.flow_style or not node.value:
        index: int = node.end_mark.index
        return index
    return max(_span(each)[1] for each in node.value)
