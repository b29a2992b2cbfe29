"""The source of one YAML document, rewritten as a native spec by a plan."""

import copy
from collections.abc import Mapping
from io import StringIO
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedBase
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import ScalarString

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.kubernetes.fields import value_at
from stowplan.compiler.migrate.native.fields import carried_out
from stowplan.compiler.migrate.native.plan import MigrationPlan, Move, Omit, Write
from stowplan.compiler.yaml import comments, reader
from stowplan.compiler.yaml.comments import Note
from stowplan.schema.diagnostics import FieldPath

_SPEC: FieldPath = ("spec",)
_WIDTH = 1 << 20
"""No line is folded."""


def rewritten(text: str, plan: MigrationPlan) -> str | None:
    """Return the source of one document as `plan` has it, with its comments; None if that cannot be done by a program.

    The result is read again. It must have the data that `plan` makes of the old data, and every comment.
    """
    source = _single(text)
    if source is None:
        return None
    expected = carried_out(plan, copy.deepcopy(source.data))
    body = _dumped(text, plan)
    made = _single(body) if body is not None else None
    if body is None or made is None:
        return None
    notes = _carried(plan, comments.read(text, source.root), made.data)
    result = comments.written(body, made.root, notes)
    again = _single(result)
    sound = again is not None and again.data == expected and comments.words(result) == comments.words(text)
    return result if sound else None


def _single(text: str) -> Document | None:
    """Return the only document of a source without anchors; None for any other source."""
    documents, problems = reader.read(text, "")
    tokens = (yaml.AliasToken, yaml.AnchorToken, yaml.DirectiveToken, yaml.TagToken, yaml.DocumentEndToken)
    if problems or len(documents) != 1 or any(isinstance(each, tokens) for each in yaml.scan(text, yaml.CSafeLoader)):
        return None
    return documents[0]


def _dumped(text: str, plan: MigrationPlan) -> str | None:
    """Return the native document without comments. Values keep their quotes, their numbers and their style."""
    editor = YAML()
    editor.preserve_quotes = True
    editor.width = _WIDTH
    if _indents_lists(text):
        editor.indent(mapping=2, sequence=4, offset=2)
    out = StringIO()
    try:
        tree = editor.load(text)
        _strip(tree)
        editor.dump(carried_out(plan, tree), out)
    except YAMLError:
        return None
    return out.getvalue()


def _indents_lists(text: str) -> bool:
    """Return whether the first list of the document is indented more than its key; true without a list."""
    indents: list[int] = []
    for token in yaml.scan(text, yaml.CSafeLoader):
        if isinstance(token, yaml.BlockEntryToken):
            return bool(indents) and token.start_mark.column > indents[-1]
        if isinstance(token, yaml.KeyToken):
            indents.append(token.start_mark.column)
    return True


def _strip(node: Any) -> None:
    """Remove the comments from the data of ruamel.yaml."""
    if isinstance(node, CommentedBase):
        node.ca.comment = None
        node.ca.items.clear()
        node.ca.end = []
    if isinstance(node, ScalarString) and hasattr(node, "comment"):
        node.comment = None
    for below in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _strip(below)


def _carried(plan: MigrationPlan, notes: Mapping[FieldPath, Note], data: Any) -> dict[FieldPath, Note]:
    """Return the comments by the path of their field in the native document, whose content is `data`.

    Those of a field that is left out come to the top of `spec`. Of a mapping whose fields moved apart, those above it
    come to the first of these, and those below it to the last.
    """
    found: dict[FieldPath, Note] = {}
    apart: list[tuple[FieldPath, Note]] = []
    for old, note in notes.items():
        new = _home(plan, old)
        if new is None or (new != comments.END and value_at(data, new) is None):
            apart.append((old, note))
        else:
            home = found.setdefault(new, Note())
            home.above += [*note.above, *([note.beside] if home.beside and note.beside else [])]
            home.beside = home.beside or note.beside
            home.below += note.below
    top: FieldPath = ("spec", next(iter(data["spec"])))
    for old, note in reversed(apart):
        parts = [new for new in _parts(plan, old) if value_at(data, new) is not None] or [top]
        found.setdefault(parts[0], Note()).above[:0] = Note(note.above, note.beside).lines()
        found.setdefault(parts[-1], Note()).below += note.below
    return found


def _home(plan: MigrationPlan, old: FieldPath) -> FieldPath | None:
    """Return the new path of the field at `old`; None if it has none. The step on the smallest part decides."""
    if old in (comments.END, (), _SPEC):
        return old or comments.END
    steps = [each for each in plan.steps if each.old and old[: len(each.old)] == each.old]
    step = max(steps, key=lambda each: len(each.old), default=None)
    if isinstance(step, Move):
        return (*step.new, *old[len(step.old) :])
    return step.new if isinstance(step, Write) else None


def _parts(plan: MigrationPlan, old: FieldPath) -> list[FieldPath]:
    """Return the new paths of the parts of `old` that moved, in the order of the steps."""
    return [each.new for each in plan.steps if not isinstance(each, Omit) and each.old[: len(old)] == old]
