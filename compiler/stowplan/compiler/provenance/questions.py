"""Answers of `stowplan explain` about the output and the specs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stowplan.compiler.diagnostics.document import Node
from stowplan.compiler.model import OutputFile, Program
from stowplan.compiler.output.render import render
from stowplan.compiler.provenance.experiment import Input, key_of
from stowplan.compiler.provenance.leaves import leaves, pointer, steps
from stowplan.compiler.provenance.source_map import ExplainedLeaf, SourceMap
from stowplan.compiler.yaml.reader import nodes
from stowplan.schema.diagnostics import FieldPath


@dataclass(frozen=True, slots=True)
class Effect:
    """A leaf of the output that depends on a field on a certain line of a spec or the platform file."""

    output: OutputFile
    path: FieldPath
    value: object


def below(found: SourceMap, output: OutputFile, place: str) -> list[ExplainedLeaf]:
    """Return the origins of the leaf at the JSON pointer `place` of an output, and of all leaves below it."""
    wanted = steps(place)
    return [each for each in found.entries(output) if list(map(str, each.leaf.path))[: len(wanted)] == wanted]


def on_line(found: SourceMap, output: OutputFile, line: int) -> list[ExplainedLeaf]:
    """Return the origins of the leaves on a line of an output's file, counted from 1, and of all leaves below them."""
    text = render(output).decode()
    if line > text.count("\n"):
        return []
    root = nodes(text)[0]
    places = [tuple(map(str, path)) for path in _paths_on(root, line)]
    return [
        each
        for each in found.entries(output)
        if any(tuple(map(str, each.leaf.path))[: len(place)] == place for place in places)
    ]


def effects(found: SourceMap, program: Program, file: str, line: int) -> tuple[list[Input], list[Effect]]:
    """Return the fields on a line of a user's file, and the leaves of the output that depend on these fields.

    `file` is relative to the repository; `line` counts from 1. If a mapping or list begins on the line, all of its
    fields count. The leaves are sorted by file and path.
    """
    fields: dict[tuple[str, int, FieldPath], Input] = {}
    leaves_found: dict[tuple[str, FieldPath], Effect] = {}
    outputs = {(each.spec, key_of(each.manifest)): each for each in found.outputs}
    for spec in (*(each.id for each in program.specs), None):
        study = found.study(spec)
        for given in _on(study.experiment.inputs(), file, line):
            fields[given.document.file, given.document.index, given.path] = given
            for key, place in study.experiment.depend(given) or study.experiment.vanish(given):
                output = outputs.get((spec, key))
                leaf = leaves(output.manifest.body).get(place) if output else None
                if output and leaf:
                    leaves_found[output.path, leaf.path] = Effect(output, leaf.path, leaf.value)
    return list(fields.values()), sorted(leaves_found.values(), key=lambda each: (each.output.path, pointer(each.path)))


def _on(inputs: Iterator[Input], file: str, line: int) -> Sequence[Input]:
    """Return the fields on the line; if there are none, those below a mapping or list that begins on the line."""
    own = [each for each in inputs if each.given]
    exact = [each for each in own if line in _lines(each, len(each.path), file)]
    return exact or [
        each for each in own if any(line in _lines(each, depth, file) for depth in range(1, len(each.path)))
    ]


def _lines(given: Input, depth: int, file: str) -> set[int]:
    node, _ = given.document.root.nearest(given.path[:depth])
    if (node.file or given.document.file) != file:
        return set()
    return {node.mark.line, node.key_mark.line} if depth == len(given.path) else {node.key_mark.line}


def _paths_on(root: Node, line: int) -> list[FieldPath]:
    """Return the paths of the innermost values that begin on a line, counted from 1.

    For a line on which no value begins, return the path of the last value that begins above it, such as a string of
    several lines. For a line above the first value, return an empty list.
    """
    begins = list(_begins(root, ()))
    exact = [path for start, path in begins if start == line]
    if exact:
        above = {path[:length] for path in exact for length in range(len(path))}
        return [path for path in exact if path not in above]
    earlier = [path for start, path in begins if start < line]
    return earlier[-1:]


def _begins(node: Node, path: FieldPath) -> Iterator[tuple[int, FieldPath]]:
    """Yield the line of its key and the path of each value below a node, in the order of the file."""
    if path:
        yield node.key_mark.line, path
    children = node.children.items() if isinstance(node.children, dict) else enumerate(node.children)
    for key, child in children:
        yield from _begins(child, (*path, key))
