"""Compiled files: the cached result of each file of specs, with two keys.

The key `content` covers Stowplan itself, the command, the platform file and the file. The key `surroundings` covers all
other input of its specs: files with other documents than specs, the datasets that the specs refer to, and their lines
in the committed inventory. A compiled file is reused only if both keys are equal.
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
    """Findings and facts of the objects of one spec, or of the platform file."""

    findings: tuple[ObjectFinding, ...]
    facts: Facts


class CompiledSpec(NamedTuple):
    """One spec: its facts, the diagnostics of lowering, and its objects."""

    facts: SpecFacts
    lowered: tuple[Diagnostic, ...]
    objects: CompiledObjects


class CompiledFile(NamedTuple):
    """One file that holds only specs without errors; `read` are the diagnostics of reading."""

    content: str
    surroundings: str
    read: tuple[Diagnostic, ...]
    specs: tuple[CompiledSpec, ...]


class CompiledPlatform(NamedTuple):
    """The objects of the platform file. They depend on the places of the objects of specs, which `key` covers."""

    key: str
    objects: CompiledObjects


class CompiledFiles(NamedTuple):
    """The compiled files of one run by path, and the compiled platform file."""

    files: Mapping[str, CompiledFile] = {}
    platform: CompiledPlatform | None = None


class Known(NamedTuple):
    """Knowledge of earlier runs and of files that were just read; each part may be empty.

    `compiled` are the compiled files of the last run. `contents` are contents of source files by path. `tree` lists the
    output folder, and `outputs` has the digests of its files.
    """

    compiled: CompiledFiles = CompiledFiles()
    contents: Mapping[str, bytes] = {}
    tree: OutputFolder | None = None
    outputs: OutputIndex = OutputIndex()


Datasets = Mapping[tuple[str, str], SpecFacts]
"""The SampleSets of a run, by namespace and name."""


def of_dataset(spec: SpecFacts, datasets: Datasets, refused: Collection[tuple[str, str]]) -> str:
    """Return a key of the dataset that a spec refers to.

    For a missing dataset the key covers all names, because the finding proposes similar ones; but a dataset whose
    document has errors is not reported as missing.
    """
    if not spec.reference:
        return ""
    wanted = spec.id.namespace, spec.reference
    if wanted in datasets:
        return f"{datasets[wanted].file} {datasets[wanted].own_digest}"
    return "refused" if wanted in refused else repr(sorted(datasets))
