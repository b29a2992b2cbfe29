"""Answers of `stowplan explain` about the output and the specs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stowplan.compiler.model import Output, Program
from stowplan.compiler.output.render import render
from stowplan.compiler.provenance.experiment import Input, key_of
from stowplan.compiler.provenance.leaves import leaves, pointer, steps
from stowplan.compiler.provenance.lines import paths_on
from stowplan.compiler.provenance.source_map import ExplainedLeaf, SourceMap
from stowplan.compiler.yaml.reader import nodes
from stowplan.schema.diagnostics import FieldPath


@dataclass(frozen=True, slots=True)
class Effect:
    """Leaf of the output that depends on a line of a spec."""

    output: Output
    path: FieldPath
    value: object


def below(found: SourceMap, output: Output, place: str) -> list[ExplainedLeaf]:
    """Return the entries of the value at a JSON pointer and of all values below it."""
    wanted = steps(place)
    return [each for each in found.entries(output) if list(map(str, each.leaf.path))[: len(wanted)] == wanted]


def on_line(found: SourceMap, output: Output, line: int) -> list[ExplainedLeaf]:
    """Return the entries of the values on a line of an output file, counted from 1, and of all values below them."""
    root = nodes(render(output).decode())[0]
    places = [tuple(map(str, path)) for path in paths_on(root, line)]
    return [
        each
        for each in found.entries(output)
        if any(tuple(map(str, each.leaf.path))[: len(place)] == place for place in places)
    ]


def effects(found: SourceMap, program: Program, file: str, line: int) -> tuple[list[Input], list[Effect]]:
    """Return the fields on a line, and the leaves that depend on them.

    A line that begins a mapping or list includes all of its fields.
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
    """Return the fields on the line, or else those below a mapping or list that begins there."""
    own = [each for each in inputs if each.document.file == file and each.given]
    exact = [each for each in own if line in _lines(each, len(each.path))]
    return exact or [each for each in own if any(line in _lines(each, depth) for depth in range(1, len(each.path)))]


def _lines(given: Input, depth: int) -> set[int]:
    node, _ = given.document.root.nearest(given.path[:depth])
    return {node.mark.line, node.key_mark.line} if depth == len(given.path) else {node.key_mark.line}
