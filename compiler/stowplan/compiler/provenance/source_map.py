"""The source map: the origins of every leaf of every output."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import Location, is_platform_file
from stowplan.compiler.model import OutputFile, Program, Spec
from stowplan.compiler.provenance.experiment import HASH, Experiment, Input, ObjectKey, Objects, flattened, key_of
from stowplan.compiler.provenance.leaves import Leaf, Place, leaves
from stowplan.compiler.provenance.rules import RULES, Rule, rule_of
from stowplan.library.dialects.shared import run_order
from stowplan.library.manifest import Manifest
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.table import DATASET_KINDS, TRAINING_KINDS
from stowplan.schema.meta import SpecId

_MOST_GIVEN = 6
_RUN_HASH = next(rule for rule in RULES if rule.id == "run-hash")
KEPT = Rule("kept-run", "The run is compiled once: its committed file is kept as it is.", ())
EXTENSION = Rule("extension", "An extension of the platform wrote it.", ())


class How(StrEnum):
    """Relation of a value in the output to a field on which it depends."""

    COPIED = "copied from"
    DERIVED = "made from"
    PRESENT = "there because of"


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """A field on which a value depends, with its location. `default` is True if the user's file does not set it.

    `patched` is True if a patch of an environment set it; the location is that in the patch. `pinned` is True if its
    value is that of the lock file.
    """

    how: How
    location: Location
    path: FieldPath
    default: bool = False
    patched: bool = False
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class ExplainedLeaf:
    """A leaf, the fields on which it depends, and the rules that explain it; either may be empty."""

    leaf: Leaf
    origins: tuple[ValueOrigin, ...] = ()
    rules: tuple[Rule, ...] = ()


class SourceMap:
    """The source map of `outputs`, all of a sound `program`, by Stowplan `version`. A spec is studied on first use."""

    def __init__(self, program: Program, outputs: Sequence[OutputFile], version: str) -> None:
        self.outputs = outputs
        self.program, self.version = program, version
        self._studies: dict[SpecId | None, Study] = {}
        self._flattened: dict[SpecId | None, Objects] = {}

    def entries(self, output: OutputFile) -> list[ExplainedLeaf]:
        """Return the origins of all leaves of an output, in the order of the manifest."""
        if output.spec is None and not is_platform_file(output.source):
            return _foreign(output, self.program)
        key, study = key_of(output.manifest), self.study(output.spec)
        base, compiled = study.experiment.base.get(key, {}), self._compiled(output.spec)[key]
        found = []
        # Places of items with a hash in their names differ between the two, but not the order of the leaves.
        for (place, leaf), real in zip(compiled.items(), leaves(output.manifest.body).values(), strict=True):
            ours, rule = place in base and base[place].value == leaf.value, KEPT if output.reused else EXTENSION
            entry = study.entry(key, place, leaf) if ours else ExplainedLeaf(leaf, rules=(rule,))
            found.append(replace(_with_hash(entry), leaf=real))
        return found

    def _compiled(self, spec: SpecId | None) -> Objects:
        """Return the leaves of all outputs of a spec, by object; they are computed once for each spec."""
        if spec not in self._flattened:
            self._flattened[spec] = flattened([each.manifest for each in self.outputs if each.spec == spec])
        return self._flattened[spec]

    def study(self, spec: SpecId | None) -> "Study":
        """Return the results of the experiments with a spec; for None, with the objects of the platform file."""
        if spec not in self._studies:
            self._studies[spec] = Study(Experiment(reduced(self.program, spec), spec, self.version))
        return self._studies[spec]


def reduced(program: Program, spec: SpecId | None) -> Program:
    """Return the program with only this spec, what it runs after if it trains, and the datasets that these may name.

    For None, return the whole program.
    """
    if spec is None:
        return program
    found = program.spec(spec)
    trains = found if spec.kind in TRAINING_KINDS else None
    before = [each.spec for each in run_order.of_model(trains.model, spec.namespace)] if trains else []
    users = [each for each in program.specs if each.id == spec or each.id in before]
    found_leaves = (leaf for each in users for leaf in leaves(each.document.data).values())
    names = {leaf.value for leaf in found_leaves if isinstance(leaf.value, str)}
    own = (each.id for each in program.specs if each.id.namespace == spec.namespace)
    near = {each for each in own if each.kind in DATASET_KINDS and each.name in names} | {each.id for each in users}
    return replace(program, specs=tuple(each for each in program.specs if each.id in near))


def _with_hash(entry: ExplainedLeaf) -> ExplainedLeaf:
    hashed = isinstance(entry.leaf.value, str) and HASH in entry.leaf.value and _RUN_HASH not in entry.rules
    return replace(entry, rules=(*entry.rules, _RUN_HASH)) if hashed else entry


def _foreign(output: OutputFile, program: Program) -> list[ExplainedLeaf]:
    """Return the origins of the leaves of a plain object, copied from the repository, or of an extension's object."""
    documents = [each for each in program.passed_through if each.file == output.source]
    body = output.manifest.body
    own = next((each for each in documents if _same(each, output.manifest)), None)
    return [
        ExplainedLeaf(leaf, (_origin(own, leaf, program),)) if own else ExplainedLeaf(leaf, rules=(EXTENSION,))
        for leaf in leaves(body).values()
    ]


def _same(document: Document, manifest: Manifest) -> bool:
    data = document.data
    return (data.get("kind"), data["metadata"]["name"]) == (manifest.kind, manifest.name)


def _origin(document: Document, leaf: Leaf, program: Program) -> ValueOrigin:
    """Return the origin of a plain object's leaf: the same field of its document.

    A field that the document lacks is the namespace, so its origin is `defaultNamespace` of the platform file.
    """
    if document.root.nearest(leaf.path)[1]:
        return ValueOrigin(How.COPIED, document.locate(leaf.path), leaf.path)
    platform, path = program.platform_document, ("defaultNamespace",)
    return ValueOrigin(How.COPIED, platform.locate(path), path, default=not platform.root.nearest(path)[1])


class Study:
    """Results of the experiments with one spec, or with the objects of the platform file; making it does them all."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self._decided: dict[tuple[ObjectKey, Place], list[Input]] = {}
        self._needed: dict[tuple[ObjectKey, Place], list[tuple[int, Input]]] = {}
        for given in experiment.inputs():
            for where in experiment.depend(given):
                self._decided.setdefault(where, []).append(given)
            gone = experiment.vanish(given)
            for where in gone:
                self._needed.setdefault(where, []).append((len(gone), given))

    def entry(self, key: ObjectKey, place: Place, leaf: Leaf) -> ExplainedLeaf:
        """Return the origins of one leaf of the object `key`: all fields that change it.

        If no field changes it, the origin is the field that it copies. Otherwise it is a rule, and the fields without
        which the leaf would not exist.
        """
        decided = self._decided.get((key, place), [])
        if decided:
            return ExplainedLeaf(leaf, tuple(_origin_of(each, leaf) for each in decided))
        found = sorted(self._needed.get((key, place), []), key=lambda each: each[0])
        needed = [given for _, given in found]
        spec = self.experiment.spec
        own = self.experiment.program.spec(spec) if spec else None
        copied = next((each for each in needed if _is_copy(each, leaf)), None)
        copied = copied or repeated_field(own, key[0], leaf.path, leaf.value)
        if copied:
            return ExplainedLeaf(leaf, (_origin_of(copied, leaf),))
        rule = rule_of(key[0], spec.kind if spec else "", leaf.path)
        present = tuple(replace(_origin_of(each, leaf), how=How.PRESENT) for each in needed[:_MOST_GIVEN])
        return ExplainedLeaf(leaf, present, (rule,) if rule else ())


def repeated_field(spec: Spec | None, kind: str, path: FieldPath, value: object) -> Input | None:
    """Return the field of a spec that its custom resource repeats with a value at the same path; None if none is.

    `kind` is that of the object that has the value; only the custom resource has that of the spec.
    """
    if spec is None or spec.id.kind != kind:
        return None
    node, exact = spec.document.root.nearest(path)
    return Input(spec.document, spec.id, path, node.data, given=True) if exact and node.data == value else None


def _is_copy(given: Input, leaf: Leaf) -> bool:
    """Whether the leaf probably copies the field: an equal string, or an equal value in a field of the same name."""
    names = ([part for part in path if isinstance(part, str)][-1:] for path in (given.path, leaf.path))
    return _same_value(given.value, leaf.value) and (isinstance(leaf.value, str) or next(names) == next(names))


def _same_value(one: object, other: object) -> bool:
    """Whether two values are equal and have the same type: in Python, True equals 1."""
    return type(one) is type(other) and one == other


def _origin_of(given: Input, leaf: Leaf) -> ValueOrigin:
    how = How.COPIED if _same_value(given.value, leaf.value) else How.DERIVED
    location = given.document.locate(given.path)
    patched = location.file != given.document.file
    pinned = any(given.path[: len(each)] == each for each in given.document.pinned)
    return ValueOrigin(how, location, given.path, default=not given.given, patched=patched, pinned=pinned)
