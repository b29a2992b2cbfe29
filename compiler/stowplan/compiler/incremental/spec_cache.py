"""What a run without errors knows of each spec, so that the next one need not compile those that stay as they are.

All of it follows from the file of a spec, from the datasets that it refers to, from the platform file and from
Stowplan itself. It holds as long as these do not change; what else there is among the specs is read in every run.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import NamedTuple

from stowplan.compiler.checks.across_specs.facts import Facts
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.incremental.output_snapshot import Standing
from stowplan.compiler.lowering.platform_objects import Place
from stowplan.compiler.model import Sources
from stowplan.compiler.output import inventory
from stowplan.compiler.output.folder import Tree, seen
from stowplan.compiler.repository.file_cache import SeenFiles
from stowplan.compiler.repository.layout import PLATFORM_FILES
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.compiler.specs.validate import identity_of, is_spec
from stowplan.schema.frozen import dataclass
from stowplan.schema.meta import SpecId


class KeptSpec(NamedTuple):
    """One spec: what others must know of it, and what was found in its objects."""

    facts: SpecFacts
    findings: tuple[ObjectFinding, ...]
    objects: Facts


class KeptFile(NamedTuple):
    """One file below `specs`, and what was said of it when it was read and its specs were lowered.

    `mixed` is one that holds other things than specs, which may concern all specs. `places` are those of the objects
    of its specs.
    """

    digest: str
    said: tuple[Diagnostic, ...] = ()
    specs: tuple[KeptSpec, ...] = ()
    mixed: bool = False
    places: frozenset[Place] = frozenset()


class KeptRest(NamedTuple):
    """What no spec makes, where it follows from the places of what specs make alone."""

    places: frozenset[Place]
    findings: tuple[ObjectFinding, ...]
    objects: Facts


@dataclass(frozen=True)
class Kept:
    """All files of a run by their paths, and the digests of the platform file and of the inventory that it wrote.

    `inventory` is empty for a run that wrote nothing. `run` names the run, if it was remembered; `records` is how many
    runs the file has that it was read from.
    """

    platform: str = ""
    files: Mapping[str, KeptFile] = field(default_factory=dict)
    inventory: str = ""
    rest: KeptRest | None = None
    run: str = field(default="", compare=False)
    records: int = field(default=0, compare=False)

    @classmethod
    def of_run(
        cls, sources: Sources, said: Iterable[Diagnostic], facts: Iterable[SpecFacts], checked: Iterable[Checked]
    ) -> "Kept":
        """What is known of the files that were read."""
        found = {part.spec: part for part in checked}
        specs: defaultdict[str, list[KeptSpec]] = defaultdict(list)
        for each in facts:
            specs[each.file].append(KeptSpec(each, found[each.id].findings, found[each.id].facts))
        told: defaultdict[str, list[Diagnostic]] = defaultdict(list)
        for diagnostic in said:
            told[diagnostic.location.file].append(diagnostic)
        mixed = {document.file for document in sources.documents if not is_spec(document)}
        read = sources.digests.keys() - {*sources.unread, *PLATFORM_FILES}
        places: dict[frozenset[Place], frozenset[Place]] = {}
        files = {}
        for path in read:
            own = places_of((each.facts.id, each.objects) for each in specs[path])
            own = places.setdefault(own, own)
            files[path] = KeptFile(sources.digests[path], tuple(told[path]), tuple(specs[path]), path in mixed, own)
        return cls(_platform(sources.digests), files)

    def stale(self, digests: Mapping[str, str]) -> Collection[str]:
        """The files that have to be read, given the digests of all: those that changed, and whom that may concern."""
        same = {path for path, file in self.files.items() if digests.get(path) == file.digest}
        changed = digests.keys() - same - set(PLATFORM_FILES)
        known = [self.files[path] for path in (*changed, *(self.files.keys() - digests.keys())) if path in self.files]
        if self.platform != _platform(digests) or any(file.mixed for file in known):
            return digests.keys()
        sets = {spec.facts.id for file in known for spec in file.specs if spec.facts.id.kind == "SampleSet"}
        concerned = (path for path, file in self.files.items() if file.mixed or (sets and _refers(file, sets)))
        return changed.union(concerned)

    def named(self, run: str) -> "Kept":
        """The same of a run of that name."""
        return replace(self, run=run)

    def written(self, run: str, out: Path) -> "Kept":
        """The same of a run that has just written `out`."""
        return replace(self, inventory=inventory.digest(out), run=run)

    def is_in(self, tree: Tree) -> bool:
        """Whether the output folder has all that the specs were compiled to, and the inventory of it."""
        objects = [spec.objects for file in self.files.values() for spec in file.specs]
        objects += [self.rest.objects] if self.rest else []
        paths = {fact.path for each in objects for fact in each.objects}
        return paths <= tree.files and self.inventory == inventory.digest(tree.root)

    def foresaw(self, sources: Sources) -> bool:
        """Whether nothing but specs is new, and each has an identity of its own: of two of one, the first counts."""
        known = (self.files.get(document.file) for document in sources.documents if not is_spec(document))
        if not all(file and file.mixed for file in known):
            return False
        # Without a namespace where the platform gives it.
        read = {identity_of(document, "") for document in sources.documents if is_spec(document)}
        names = {each.name for each in read}
        unread = (spec.facts.id for path in sources.unread for spec in self.files[path].specs)
        alike = (each for each in unread if each.name in names)
        return not any(each in read or each._replace(namespace="") in read for each in alike)


@dataclass(frozen=True)
class Before:
    """What is known before a run begins.

    `kept` is what a run of this very Stowplan left: the last one that wrote the output, if that is still the same, or
    any one that wrote nothing where nothing is to be written. `contents` are those of files of the repository that were
    read already, `tree` is what lies in the output folder. Where that run was one of this very process, `standing` is
    what it left, and nobody has changed it; `seen` are files that the process has read.
    """

    kept: Kept | None = None
    contents: Mapping[str, bytes] = field(default_factory=dict)
    tree: Tree | None = None
    standing: Standing | None = None
    seen: SeenFiles | None = None

    def settled(self, out: Path) -> "Before":
        """Itself, the tree looked at, and without what was kept of another output than there is."""
        if self.standing:
            return replace(self, tree=self.standing.tree)
        tree = self.tree or seen(out)
        return replace(self, tree=tree, kept=self.kept if self.kept and self.kept.is_in(tree) else None)


def places_of(parts: Iterable[tuple[SpecId, Facts]]) -> frozenset[Place]:
    """Where the objects of specs are. There may be tens of thousands, in few places."""
    found = {
        (fact.path.partition("/")[0], fact.id[2], spec.namespace) for spec, facts in parts for fact in facts.objects
    }
    return frozenset(Place(*each) for each in found)


def _refers(file: KeptFile, changed: Collection[SpecId]) -> bool:
    """Whether one of its specs refers to one of those. What a spec refers to was there: else there was an error."""
    named = ((each.facts.id.namespace, each.facts.reference) for each in file.specs if each.facts.reference)
    return any(SpecId("SampleSet", *each) in changed for each in named)


def _platform(digests: Mapping[str, str]) -> str:
    return next((digests[name] for name in PLATFORM_FILES if name in digests), "")
