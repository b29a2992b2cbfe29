"""Compiled files: the cached result of each file of specs, with two digests by which the cache is valid or not.

The digest `content` covers Stowplan itself, the command, the platform file and the file of specs. The digest
`surroundings` covers all other input of these specs: files with other documents than specs, the datasets that the specs
refer to, what training jobs run after, and the lines of the specs in the committed inventory. A compiled file is reused
only if both digests are equal to those of now.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from stowplan.compiler.cache.output_index import OutputIndex
from stowplan.compiler.checks.across_specs.facts import Facts
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.schema.kinds.table import DATASET_KINDS, TRAINING_KINDS
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


Others = Mapping[SpecId, SpecFacts]
"""The specs of a program, by identity."""


def of_others(spec: SpecFacts, specs: Others, refused: Collection[SpecId]) -> str:
    """Return a string that changes when a dataset of a spec changes, or what it runs after, if it trains.

    It is empty for a spec that depends on no other. `refused` are the specs whose documents have errors. For such a
    one the string is constant. For a missing dataset the string covers the names of all datasets, because the finding
    proposes similar names.
    """
    before = [each.spec for each in spec.after] if spec.id.kind in TRAINING_KINDS else []
    users = [spec, *(specs[each] for each in before if each in specs)]
    named = [*before, *(each.spec for user in users for each in user.references if each.spec.name)]
    return "\n".join(_of_other(each, specs, refused) for each in named)


def _of_other(wanted: SpecId, specs: Others, refused: Collection[SpecId]) -> str:
    if wanted in specs:
        return f"{specs[wanted].file} {specs[wanted].own_digest}"
    if wanted in refused or wanted.kind not in DATASET_KINDS:
        return "refused"
    return repr(sorted(each for each in specs if each.kind in DATASET_KINDS))
