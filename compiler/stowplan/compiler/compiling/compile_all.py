"""Compiling all specs of a program that the cache does not have, and the objects of the platform file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from stowplan.compiler.cache import fingerprint
from stowplan.compiler.cache.compiled_file import CompiledObjects, CompiledPlatform, CompiledSpec
from stowplan.compiler.checks.history.changes import Changes
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.committed.started import hashes
from stowplan.compiler.compiling import compile_specs, processes
from stowplan.compiler.compiling.compile_specs import Compilation, Setting
from stowplan.compiler.compiling.lookup import Lookup, platform_key
from stowplan.compiler.compiling.reading import Reading
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.lowering.platform_objects import Place, delivered, settings
from stowplan.compiler.model import Output
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.environments import StartedRun

WORTH_PROCESSES = 100
"""Number of specs from which several processes save more time than their start costs."""


@dataclass(frozen=True, slots=True)
class Parts(Compilation):
    """Results for all specs and the platform file, compiled now or cached.

    `complete` is False if an error stopped the compilation. `checked` is sorted by spec, with the platform file last.
    `platform` is the compiled platform file for the cache; None if it cannot be cached.
    """

    complete: bool = False
    platform: CompiledPlatform | None = None

    @property
    def objects(self) -> int:
        """The number of compiled objects of all specs and of the platform file."""
        return sum(len(part.facts.objects) for part in self.checked)

    @property
    def runs(self) -> dict[SpecId, frozenset[str]]:
        """The hashes of the runs of training jobs, by spec."""
        return {
            part.spec: hashes(each.id for each in part.facts.objects)
            for part in self.checked
            if part.spec and part.spec.kind in TRAINING_KINDS
        }

    def placed(self, started: Mapping[SpecId, Sequence[StartedRun]] | None) -> tuple[tuple[str, ObjectId], ...]:
        """Return the objects with their paths, without jobs none of whose runs may start.

        `started` are the runs that may, by spec; None if all may.
        """
        return tuple(
            (each.path, each.id)
            for part in self.checked
            if started is None or part.spec is None or part.spec.kind not in TRAINING_KINDS or started.get(part.spec)
            for each in part.facts.objects
        )


def specs_alone(setting: Setting, reading: Reading, report: Report) -> Parts:
    """Compile the specs that were read, and add the results of those from the cache: all but the platform file.

    Adds the diagnostics of lowering to `report`.
    """
    known = {(spec.facts.file, spec.facts.index): spec for file in reading.hits.values() for spec in file.specs}
    cached = [known[each.file, each.index] for each in reading.facts if (each.file, each.index) in known]
    lowered = {spec.facts.id: spec.lowered for spec in cached}
    compilations: list[Compilation] = []
    if report.failed:
        lowered |= {spec.id: compile_specs.lowered(spec, setting)[1] for spec in setting.program.specs}
    else:
        compilations = list(_compiled(setting, reading))
        lowered |= {spec: found for each in compilations for spec, found in each.lowered.items()}
    report.add(*(found for each in reading.facts for found in lowered[each.id]))
    if report.failed:
        return Parts(lowered=lowered)
    checked = [part for each in compilations for part in each.checked] + list(map(_checked, cached))
    own = Parts(
        complete=True,
        lowered=lowered,
        files=reading.outputs,
        checked=tuple(sorted(checked, key=lambda part: part.spec or ())),
    )
    return _joined(own, compilations)


def with_platform(own: Parts, setting: Setting, others: Sequence[Output], reading: Reading, lookup: Lookup) -> Parts:
    """Return the results `own` of all specs together with those of the platform file and of `others`."""
    if not own.complete:
        return own
    platform, rest = _platform(setting, others, reading, lookup, _places(own.checked))
    joined = _joined(own, [rest])
    return replace(joined, checked=(*own.checked, *rest.checked), platform=platform)


def _joined(own: Parts, more: Sequence[Compilation]) -> Parts:
    """Return `own` with the outputs, files, and comparisons with the committed output of other compilations."""
    everything = [own, *more]
    outputs = (output for each in everything for output in each.outputs)
    return replace(
        own,
        outputs=tuple(sorted(outputs, key=lambda each: (each.path, each.id))),
        files=tuple(file for each in everything for file in each.files),
        reused=tuple(found for each in everything for found in each.reused),
        starts=tuple(sorted(run for each in everything for run in each.starts)),
        gone={known: body for each in everything for known, body in each.gone.items()},
    )


def _compiled(setting: Setting, reading: Reading) -> Iterator[Compilation]:
    """Yield the results of compiling the specs that were read, in groups of `compile_specs.SIZE`.

    Several processes do it, unless there are few specs or the composer is a lasting one: that serves this process only.
    """
    specs, size, composer = reading.program.specs, compile_specs.SIZE, setting.composer
    parts = [specs[start : start + size] for start in range(0, len(specs), size)]
    alone = len(specs) < WORTH_PROCESSES or (composer is not None and composer.lasting)
    number = 1 if alone else processes.processes()
    if number > 1:
        compile_specs.warm_up(list({spec.id.kind: spec for spec in specs}.values()), setting)
        if composer is not None:
            composer.prepare()
    return processes.mapped(partial(compile_specs.compile_specs, setting=setting), parts, number)


def _checked(spec: CompiledSpec) -> Checked:
    """Return the cached results of a spec. It has no changes: only specs with unchanged output are in the cache."""
    return Checked(spec.facts.id, spec.objects.findings, spec.objects.facts, Changes(spec.facts.id))


def _places(parts: Iterable[Checked]) -> frozenset[Place]:
    """Return the distinct places (folder, namespace, namespace of the spec) of the objects of specs."""
    specs = ((part.spec, part.facts) for part in parts if part.spec)
    found = {
        (fact.path.partition("/")[0], fact.id.namespace, spec.namespace)
        for spec, facts in specs
        for fact in facts.objects
    }
    return frozenset(Place(*each) for each in found)


def _platform(
    setting: Setting, others: Sequence[Output], reading: Reading, lookup: Lookup, places: frozenset[Place]
) -> tuple[CompiledPlatform | None, Compilation]:
    """Compile the objects of the platform file together with `others`; without `others`, the cache may have the result.

    `others` are the plain objects and those of extensions. The objects of the platform file depend on the `places` of
    the objects of specs, but not on the content of these. Return the compiled platform file for the cache, None if
    there are `others` or no objects; and the result of compiling.
    """
    name = setting.program.platform_file
    content = fingerprint.of(*([reading.keys[name]] if name in reading.keys else []))
    apart = {output.path for output in settings(setting.program)}
    files = [file for file in lookup.outputs(None, name) if file.path not in apart]
    hit = None if others else lookup.platform_hit(platform_key(content, places, files), files)
    if hit is not None:
        part = Checked(None, hit.objects.findings, hit.objects.facts, Changes())
        return hit, Compilation(files=tuple(files), checked=(part,))
    outputs = delivered(places, others, setting.program)
    if setting.composer is not None:
        outputs = setting.composer.render_outputs(outputs)
    made = compile_specs.finish(outputs, setting, [None])
    if others or not made.checked:
        return None, made
    objects = CompiledObjects(made.checked[0].findings, made.checked[0].facts)
    return CompiledPlatform(platform_key(content, places, made.files), objects), made
