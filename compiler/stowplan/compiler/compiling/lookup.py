"""Lookup of compiled files in the cache, and the digests of present input with which they are compared."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from stowplan.compiler.cache import fingerprint
from stowplan.compiler.cache.compiled_file import CompiledFile, CompiledPlatform, Known, Others, of_others
from stowplan.compiler.lowering.platform_objects import Place
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.render import Rendered
from stowplan.compiler.repository.layout import is_spec_file
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.schema.meta import SpecId


@dataclass(frozen=True, slots=True)
class Lookup:
    """The cache as one command sees it. `command` is its name, because commands cache different results.

    `committed` is the committed inventory; empty for a command that writes no output.
    """

    command: str
    known: Known = field(default_factory=Known)
    committed: Inventory = field(default_factory=Inventory)

    def content_keys(self, digests: Mapping[str, str]) -> dict[str, str]:
        """Return the digest `content` of a compiled file (see `CompiledFile`) for each file by path.

        `digests` are the digests of the contents of all files, by path.
        """
        platform = [digest for path, digest in sorted(digests.items()) if not is_spec_file(path)]
        common = fingerprint.of(fingerprint.of_program(), self.command, *platform)
        return {path: fingerprint.of(common, path, digest) for path, digest in digests.items()}

    def candidates(self, keys: Mapping[str, str]) -> dict[str, CompiledFile]:
        """Return the cached compiled files, by path, whose digest `content` equals the one in `keys`."""
        files = self.known.compiled.files
        return {path: files[path] for path, key in keys.items() if path in files and files[path].content == key}

    def hit(self, file: CompiledFile, others: str, specs: Others, refused: Collection[SpecId]) -> list[Rendered] | None:
        """Return the output files of a compiled file; None if it cannot be reused.

        It cannot be reused if its digest `surroundings` differs from the present one, or if an output file differs from
        the inventory. For the other parameters see `surroundings` and `of_others`.
        """
        found = {spec.facts.id: self.outputs(spec.facts.id, spec.facts.file) for spec in file.specs}
        lines = {spec: [each.line for each in own] for spec, own in found.items()}
        key = surroundings([spec.facts for spec in file.specs], others, specs, refused, lines)
        files = [each for own in found.values() for each in own]
        if key != file.surroundings or not self._in_place(files):
            return None
        return files

    def platform_hit(self, key: str, files: Sequence[Rendered]) -> CompiledPlatform | None:
        """Return the cached compiled platform file if its key equals `key` and all its output `files` are unchanged.

        None otherwise.
        """
        found = self.known.compiled.platform
        return found if found is not None and found.key == key and self._in_place(files) else None

    def outputs(self, spec: SpecId | None, source: str) -> list[Rendered]:
        """Return the output files of a spec as the committed inventory lists them, without contents.

        `source` is the user's file of the spec; None as `spec` stands for the objects that belong to no spec.
        """
        entries = self.committed.by_spec.get(spec, ())
        return [Rendered(each.path, each.id, spec, source, each.sha256, each.line, None) for each in entries]

    def _in_place(self, files: Sequence[Rendered]) -> bool:
        return self.known.outputs.holds((file.path, file.sha256) for file in files)


def surroundings(
    specs: Sequence[SpecFacts],
    others: str,
    known: Others,
    refused: Collection[SpecId],
    lines: Mapping[SpecId, Sequence[str]],
) -> str:
    """Return a digest of all that the `specs` of a file depend on outside of the file.

    `others` is a digest of the files with other documents than specs. `known` are all specs; `refused` are
    those with errors. `lines` are the inventory lines by spec.
    """
    parts = [others]
    for each in specs:
        parts += [str(each.id), of_others(each, known, refused), *sorted(lines.get(each.id, ()))]
    return fingerprint.of(*parts)


def platform_key(content: str, places: Collection[Place], files: Sequence[Rendered]) -> str:
    """Return a digest of all that the objects of the platform file depend on.

    `content` is the digest of the platform file's content, `places` are those of the objects of specs. `files` are the
    output files of these objects.
    """
    return fingerprint.of(
        content, *(repr(tuple(each)) for each in sorted(places)), *sorted(file.line for file in files)
    )
