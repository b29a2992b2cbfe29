"""What a file of specs was compiled to, and the keys that say whether it would be compiled to the same again.

`content` covers Stowplan itself, the command, the platform file and the file. `surroundings` covers what else its specs
are compiled from: files that hold other things than specs, the datasets that the specs refer to, and their lines in
the committed inventory.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from stowplan.compiler.cache.output_index import OutputIndex
from stowplan.compiler.checks.across_specs.facts import Facts
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.specs.spec_facts import SpecFacts


class CompiledObjects(NamedTuple):
    """The objects of one spec, or of the platform file: what was found in them, and what others must know."""

    findings: tuple[ObjectFinding, ...]
    facts: Facts


class CompiledSpec(NamedTuple):
    """One spec, what lowering found in it, and its objects."""

    facts: SpecFacts
    lowered: tuple[Diagnostic, ...]
    objects: CompiledObjects


class CompiledFile(NamedTuple):
    """One file that holds nothing but specs without errors; `read` is what reading found in it."""

    content: str
    surroundings: str
    read: tuple[Diagnostic, ...]
    specs: tuple[CompiledSpec, ...]


class CompiledPlatform(NamedTuple):
    """What the platform file adds to the objects of specs; it follows from where these are, which `key` covers."""

    key: str
    objects: CompiledObjects


class CompiledFiles(NamedTuple):
    """The files of one run, by path, and what the platform file added."""

    files: Mapping[str, CompiledFile] = {}
    platform: CompiledPlatform | None = None


class Known(NamedTuple):
    """What is known before a run begins; all of it may be missing.

    `compiled` is what earlier runs compiled. `contents` are those of files of the repository that were just read.
    `tree` is what lies in the output folder, and `outputs` the contents of its files.
    """

    compiled: CompiledFiles = CompiledFiles()
    contents: Mapping[str, bytes] = {}
    tree: OutputFolder | None = None
    outputs: OutputIndex = OutputIndex()


Datasets = Mapping[tuple[str, str], SpecFacts]
"""The SampleSets of a run, by namespace and name."""


def of_dataset(spec: SpecFacts, datasets: Datasets, refused: Collection[tuple[str, str]]) -> str:
    """What a spec is compiled from of the dataset that it refers to.

    Where there is none, a finding may name others; but none is reported missing whose document has errors.
    """
    if not spec.reference:
        return ""
    wanted = spec.id.namespace, spec.reference
    if wanted in datasets:
        return f"{datasets[wanted].file} {datasets[wanted].own_digest}"
    return "refused" if wanted in refused else repr(sorted(datasets))
