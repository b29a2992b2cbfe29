"""Dependencies found by experiment: compile with one field changed and compare.

A value comes from a field if it changes when the field changes. So builders and drivers need not record origins.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.diagnostics.locations import START
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.diff.fields import with_strings
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.lowering.lower import context_of, lower
from stowplan.compiler.lowering.plain_objects import plain_objects
from stowplan.compiler.lowering.platform_objects import delivered, places
from stowplan.compiler.model import Program
from stowplan.compiler.provenance.candidates import GONE, below, candidates, changed
from stowplan.compiler.provenance.leaves import Leaf, Place, leaves
from stowplan.compiler.specs import platform_rules
from stowplan.compiler.specs.validate import read_spec
from stowplan.library.composition.tree import ChartSource, completed, rendered
from stowplan.library.manifest import Manifest
from stowplan.library.values.names import hash_of
from stowplan.schema.diagnostics import FieldPath, has_errors
from stowplan.schema.export.plain_schema import plain_schema
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import Model, SpecId
from stowplan.schema.parse_model import read
from stowplan.schema.platform.platform import Platform

_schema = cache(plain_schema)
HASH = "<hash>"
_UNTOUCHED = (("apiVersion",), ("kind",))
_NAME, _NAMESPACE = ("metadata", "name"), ("metadata", "namespace")

ObjectKey = tuple[str, str, str]
"""Identity of an object: kind, namespace, and name without the hash at its end."""
Objects = Mapping[ObjectKey, Mapping[Place, Leaf]]


@dataclass(frozen=True, slots=True)
class Input:
    """A field on which the output may depend. `given` is True if its document contains it, False for a default.

    `spec` is None for a field of the platform file.
    """

    document: Document
    spec: SpecId | None
    path: FieldPath
    value: Any
    given: bool


@dataclass(frozen=True)
class Experiment:
    """Compiles one spec again with each input field changed; with `spec` None, the objects of the platform file.

    `program` holds the spec and the specs that it refers to. `version` is that of Stowplan.
    """

    program: Program
    spec: SpecId | None
    version: str

    @cached_property
    def base(self) -> Objects:
        """The objects that are compiled from the unchanged program. Raises `ValueError` if it has errors."""
        found = self._objects(self.program)
        if found is None:
            raise ValueError(self.spec)
        return found

    def inputs(self) -> Iterator[Input]:
        """Yield all fields: of the spec, of the specs it refers to, then the platform's; without a spec, only these."""
        for spec in sorted(self.program.specs, key=lambda each: each.id != self.spec):
            if self.spec is not None:
                yield from _inputs(spec.document, spec.id, spec.model)
        yield from _inputs(self.program.platform_document, None, self.program.platform)

    def depend(self, given: Input) -> list[tuple[ObjectKey, Place]]:
        """Return the object and place of each leaf that changes if the field gets another value; empty if none does."""
        spec = self.program.spec(given.spec) if given.spec else None
        model = type(spec.model if spec else self.program.platform)
        for value in candidates(given.value, below(_schema(model), given.path)):
            program = self._with(given, value)
            objects = self._objects(program) if program else None
            found = list(self._differences(objects)) if objects else []
            if found:
                return found
        return []

    def vanish(self, given: Input) -> list[tuple[ObjectKey, Place]]:
        """Return the object and place of each leaf that disappears if the field is removed; empty if none does.

        If a mapping holds only this field, the whole mapping is removed. Empty also for a default.
        """
        if not given.given:
            return []
        program = self._with(replace(given, path=_alone(given.document.data, given.path)), GONE)
        objects = self._objects(program) if program else None
        if objects is None:
            return []
        there = {key: other for key, (_, other) in _paired(self.base, objects).items()}
        return [(key, place) for key, own in self.base.items() for place in own if place not in there.get(key, {})]

    def _differences(self, objects: Objects) -> Iterator[tuple[ObjectKey, Place]]:
        for key, (own, other) in _paired(self.base, objects).items():
            by_path = {leaf.path: leaf for leaf in other.values()}
            for place, leaf in own.items():
                # A renamed list item has another place, but the same path as before.
                found = other.get(place) or by_path.get(leaf.path)
                if found is not None and found.value != leaf.value:
                    yield key, place

    def _with(self, given: Input, value: Any) -> Program | None:
        """Return the program with one field changed; None if it is invalid with this value."""
        if given.spec is None:
            return self._on(changed(given.document.data, given.path, value))
        specs = {each.id: each for each in self.program.specs}
        for spec, path in self._together(given):
            document = specs[spec].document
            node = Node(changed(document.data, path, value), START, START)
            document = Document(document.file, document.index, node)
            changed_spec = read_spec(document, self.program.platform, Report())
            if changed_spec is None:
                return None
            specs[spec] = changed_spec
        return replace(self.program, specs=tuple(specs.values()))

    def _on(self, data: Any) -> Program | None:
        """Return the program with the platform file `data`, whose defaults apply to the specs too; None if invalid."""
        platform, _ = read(Platform, data)
        if platform is None or has_errors(platform_rules.findings(platform)):
            return None
        specs = [read_spec(each.document, platform, Report()) for each in self.program.specs]
        sound = tuple(each for each in specs if each is not None)
        return replace(self.program, platform=platform, specs=sound) if len(sound) == len(specs) else None

    def _together(self, given: Input) -> Iterator[tuple[SpecId, FieldPath]]:
        """Yield spec and path of the field, and of the fields that must change with it so that references stay valid.

        The name of a dataset changes with the reference to it, and the namespaces of all specs change together.
        """
        named = self._named(given)
        for spec in self.program.specs:
            if spec.id == given.spec:
                yield spec.id, given.path
            elif given.path == _NAMESPACE:
                yield spec.id, _NAMESPACE
            elif spec.id == named:
                yield spec.id, _NAME

    def _named(self, given: Input) -> SpecId | None:
        """Return the dataset whose name is in the field; None if the field names no dataset."""
        field = KINDS[given.spec.kind].datasets if given.spec else None
        if given.spec is None or field is None:
            return None
        paths = [path for _, path in field.names(given.document.data)]
        return SpecId(field.kind, given.spec.namespace, str(given.value)) if given.path in paths else None

    def _objects(self, program: Program) -> Objects | None:
        """Return the objects that the program compiles to for this spec (or the platform file); None after an error."""
        report = Report()
        units = lower(program.specs, program, context_of(program, self.version), report)
        if report.failed:
            return None
        units = list(map(rendered, units))
        if self.spec is None:
            specs = places(output_layout.of_specs(units, program.specs))
            manifests = [output.manifest for output in delivered(specs, plain_objects(program), program, _completed)]
        else:
            index = next(i for i, each in enumerate(self.program.specs) if each.id == self.spec)
            manifests = list(units[index].manifests)
        return flattened(manifests)


def _completed(charts: Sequence[ChartSource]) -> list[ChartSource]:
    return list(map(completed, charts))


def _paired(base: Objects, objects: Objects) -> dict[ObjectKey, tuple[Mapping[Place, Leaf], Mapping[Place, Leaf]]]:
    """Return pairs of an old and a new object by identity of the old one.

    Objects are paired by identity; by position if identities changed, but the sequence of kinds did not. An object
    without a counterpart is left out.
    """
    if base.keys() != objects.keys() and [key[0] for key in base] == [key[0] for key in objects]:
        return {key: (own, other) for (key, own), other in zip(base.items(), objects.values(), strict=True)}
    return {key: (own, objects[key]) for key, own in base.items() if key in objects}


def flattened(manifests: Sequence[Manifest]) -> Objects:
    """Return the leaves of each object, with `HASH` in place of hashes in names.

    A hash depends on nearly all fields of a spec, so it would hide what a value really comes from.
    """
    hashes = {found for each in manifests if each.name != each.stem and (found := hash_of(each.name))}
    if not hashes:
        return {key_of(each): leaves(each.body) for each in manifests}
    replaced = partial(re.compile("|".join(sorted(hashes))).sub, HASH)
    return {key_of(each): leaves(with_strings(each.body, replaced)) for each in manifests}


def key_of(manifest: Manifest) -> ObjectKey:
    """Return the identity of an object, without the hash at the end of its name."""
    return manifest.kind, manifest.namespace, manifest.stem


def _inputs(document: Document, spec: SpecId | None, model: Model) -> Iterator[Input]:
    written = {leaf.path: leaf.value for leaf in leaves(document.data).values()}
    for path, value in written.items():
        if path not in _UNTOUCHED:
            yield Input(document, spec, path, value, given=True)
    defaults = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    for leaf in leaves(defaults).values():
        absent = not document.root.nearest(leaf.path)[1]
        if absent and leaf.path[0] not in ("status",):
            yield Input(document, spec, leaf.path, leaf.value, given=False)


def _alone(data: Any, path: FieldPath) -> FieldPath:
    """Return the path of the outermost mapping below `spec` that holds only this field, or the field's own path.

    A user who removes the field removes that mapping too.
    """
    holders = [data]
    for part in path[:-1]:
        holders.append(holders[-1][part])
    while len(path) > 2 and isinstance(path[-1], str) and len(holders[len(path) - 1]) == 1:
        path = path[:-1]
    return path
