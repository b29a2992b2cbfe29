"""Finds compiled files in the cache, and says under which keys the files of this run are to be found again."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from stowplan.compiler.cache import fingerprint
from stowplan.compiler.cache.compiled_file import CompiledFile, CompiledPlatform, Datasets, Known, of_dataset
from stowplan.compiler.lowering.platform_objects import Place
from stowplan.compiler.output.inventory_lines import Entry, to_line
from stowplan.compiler.output.render import Rendered
from stowplan.compiler.repository.layout import PLATFORM_FILES
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.schema.meta import SpecId


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a command asks the cache with. `committed` are the entries of the last run's inventory, by spec.

    A command that writes nothing has none, and asks for no output files.
    """

    command: str
    known: Known = field(default_factory=Known)
    committed: Mapping[SpecId | None, Sequence[Entry]] = field(default_factory=dict)

    def content_keys(self, digests: Mapping[str, str]) -> dict[str, str]:
        """The first key of each file, by path, given digests of all contents."""
        platform = [digests[name] for name in PLATFORM_FILES if name in digests]
        common = fingerprint.of(fingerprint.of_program(), self.command, *platform)
        return {path: fingerprint.of(common, path, digest) for path, digest in digests.items()}

    def candidates(self, keys: Mapping[str, str]) -> dict[str, CompiledFile]:
        """The compiled files whose first key fits, by path."""
        files = self.known.compiled.files
        return {path: files[path] for path, key in keys.items() if path in files and files[path].content == key}

    def hit(
        self, file: CompiledFile, others: str, datasets: Datasets, refused: Collection[tuple[str, str]]
    ) -> list[Rendered] | None:
        """The output files of a compiled file whose second key fits; None where they are not all in place."""
        found = {spec.facts.id: self.outputs(spec.facts.id, spec.facts.file) for spec in file.specs}
        lines = {spec: [each.line for each in own] for spec, own in found.items()}
        key = surroundings([spec.facts for spec in file.specs], others, datasets, refused, lines)
        files = [each for own in found.values() for each in own]
        if key != file.surroundings or not self._in_place(files):
            return None
        return files

    def platform_hit(self, key: str, files: Sequence[Rendered]) -> CompiledPlatform | None:
        """What the platform file added in an earlier run, if its key fits and its output `files` are in place."""
        found = self.known.compiled.platform
        return found if found is not None and found.key == key and self._in_place(files) else None

    def outputs(self, spec: SpecId | None, source: str) -> list[Rendered]:
        """The output files of a spec as the inventory of the last run lists them, without contents."""
        entries = self.committed.get(spec, ())
        return [Rendered(each.path, each.id, source, each.sha256, to_line(each), None) for each in entries]

    def _in_place(self, files: Sequence[Rendered]) -> bool:
        return self.known.outputs.holds((file.path, file.sha256) for file in files)


def surroundings(
    specs: Sequence[SpecFacts],
    others: str,
    datasets: Datasets,
    refused: Collection[tuple[str, str]],
    lines: Mapping[SpecId, Sequence[str]],
) -> str:
    """The second key of a file that holds these `specs`.

    `others` is a digest of the files that hold other things than specs, `lines` are those of the inventory by spec.
    """
    parts = [others]
    for each in specs:
        parts += [str(each.id), of_dataset(each, datasets, refused), *sorted(lines.get(each.id, ()))]
    return fingerprint.of(*parts)


def platform_key(content: str, places: Collection[Place], files: Sequence[Rendered]) -> str:
    """The key of what the platform file adds to objects in these places. `content` is that of the platform file."""
    return fingerprint.of(
        content, *(repr(tuple(each)) for each in sorted(places)), *sorted(file.line for file in files)
    )
