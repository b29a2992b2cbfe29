"""Compiled files: the cached result of each file of specs, with two digests by which the cache is valid or not.

The digest `content` covers Stowplan itself, the command, the platform file and the file of specs. The digest
`surroundings` covers all other input of these specs: files with other documents than specs, the datasets that the specs
refer to, and the lines of the specs in the committed inventory. A compiled file is reused only if both digests are
equal to those of now.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from stowplan.compiler.cache.output_index import OutputIndex
from stowplan.compiler.checks.across_specs.facts import Facts
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.schema.meta import SpecId


class CompiledObjects(NamedTuple):
    """What the checks found in the objects of one spec or of the platform file, and what checks across specs need."""

    findings: tuple[ObjectFinding, ...]
    facts: Facts


class CompiledSpec(NamedTuple):
    """One spec: its facts, the diagnostics of lowering (`lowered`), and the results about its objects."""

    facts: SpecFacts
    lowered: tuple[Diagnostic, ...]
    objects: CompiledObjects


class CompiledFile(NamedTuple):
    """One file that holds only specs without errors; `read` are the diagnostics of reading the file."""

    content: str
    surroundings: str
    read: tuple[Diagnostic, ...]
    specs: tuple[CompiledSpec, ...]


class CompiledPlatform(NamedTuple):
    """The results about the objects of the platform file.

    These objects depend on the namespaces and paths of the objects of specs. `key` is a digest of that input.
    """

    key: str
    objects: CompiledObjects


class CompiledFiles(NamedTuple):
    """The compiled files of one command by path, and the compiled platform file; None if it was not compiled."""

    files: Mapping[str, CompiledFile] = {}
    platform: CompiledPlatform | None = None


class Known(NamedTuple):
    """Knowledge of the last command and of files that were just read; each part may be empty.

    `compiled` are the compiled files of the last command. `contents` are contents of source files by path. `tree` lists
    the output folder, and `outputs` has the digests of its files.
    """

    compiled: CompiledFiles = CompiledFiles()
    contents: Mapping[str, bytes] = {}
    tree: OutputFolder | None = None
    outputs: OutputIndex = OutputIndex()


Datasets = Mapping[SpecId, SpecFacts]
"""The datasets of a program, of every kind."""


def of_datasets(spec: SpecFacts, datasets: Datasets, refused: Collection[SpecId]) -> str:
    """Return a string that changes when a dataset that a spec refers to changes; empty if it refers to none.

    `refused` are the datasets whose documents have errors. For such a dataset the string is constant. For a missing
    dataset the string covers the names of all datasets, because the finding proposes similar names.
    """
    return "\n".join(_of_dataset(each.spec, datasets, refused) for each in spec.references if each.spec.name)


def _of_dataset(wanted: SpecId, datasets: Datasets, refused: Collection[SpecId]) -> str:
    if wanted in datasets:
        return f"{datasets[wanted].file} {datasets[wanted].own_digest}"
    return "refused" if wanted in refused else repr(sorted(datasets))
