"""The specs that stay as they are, beside those that are compiled."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from stowplan.compiler.checks.history.changes import Changes
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.incremental.pickled_specs import Texts
from stowplan.compiler.incremental.spec_cache import Kept, KeptSpec
from stowplan.compiler.lowering.platform_objects import Place
from stowplan.compiler.model import Sources
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.compiler.specs.validate import read_spec
from stowplan.library.dialects.shared.context import Context
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.platform.platform import Platform


class Beside:
    """What is known of specs whose files were not read; their documents where they are asked for."""

    def __init__(self, kept: Kept, sources: Sources) -> None:
        self._kept = kept.files
        self.files = {path: kept.files[path] for path in sources.unread}
        self.inventory = kept.inventory
        """The digest of the one that has what they were compiled to."""
        self.rest = kept.rest if sources.unread else None
        self.specs: tuple[KeptSpec, ...] = tuple(spec for file in self.files.values() for spec in file.specs)
        self.again = Texts(sources.unread)

    @property
    def facts(self) -> list[SpecFacts]:
        return [spec.facts for spec in self.specs]

    @property
    def said(self) -> Iterator[Diagnostic]:
        """What is still to be said of their files."""
        return (each for file in self.files.values() for each in file.said)

    @cached_property
    def checked(self) -> list[Checked]:
        """What was found in their objects, of which none changed."""
        return [Checked(spec.facts.id, spec.findings, spec.objects, Changes(spec.facts.id)) for spec in self.specs]

    @cached_property
    def places(self) -> frozenset[Place]:
        """Where the objects are."""
        return frozenset().union(*(file.places for file in self.files.values()))

    @property
    def gone(self) -> Iterator[str]:
        """The paths that the other specs which were kept were compiled to."""
        others = (file for path, file in self._kept.items() if path not in self.files)
        return (fact.path for file in others for spec in file.specs for fact in spec.objects.objects)

    @cached_property
    def objects(self) -> list[ObjectSummary]:
        """What is known of each of these."""
        return [fact for spec in self.specs for fact in spec.objects.objects]

    def document(self, spec: SpecFacts) -> Document:
        """That of one of them, to place what is said of it."""
        return self.again.document(spec.file, spec.index)

    def added_to(self, context: Context) -> Context:
        """What the others are lowered with where these specs are there too."""
        if not self.specs:
            return context
        sources = {(each.id.kind, each.id.namespace, each.id.name): each.file for each in self.facts}
        datasets = _Datasets(context.sample_sets, self, context.platform)
        return replace(context, sample_sets=datasets, sources={**sources, **context.sources})


class _Datasets(Mapping[tuple[str, str], SampleSet]):
    """All SampleSets by namespace and name. Of those that are not compiled, one is read when it is asked for."""

    def __init__(self, own: Mapping[tuple[str, str], SampleSet], beside: Beside, platform: Platform) -> None:
        self._known = dict(own)
        self._beside = beside
        self._others = {each.id[1:]: each for each in beside.facts if each.id.kind == "SampleSet"}
        self._platform = platform

    def __getitem__(self, key: tuple[str, str]) -> SampleSet:
        if key not in self._known:
            spec = read_spec(self._beside.document(self._others[key]), self._platform, Report())
            if spec is None or not isinstance(spec.model, SampleSet):
                raise KeyError(key)
            self._known[key] = spec.model
        return self._known[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(sorted(self._known.keys() | self._others.keys()))

    def __len__(self) -> int:
        return len(self._known.keys() | self._others.keys())
