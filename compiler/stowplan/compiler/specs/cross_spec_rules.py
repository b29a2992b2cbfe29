"""Rules across specs: shared cache directories, ports and claims, and unused datasets."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.kubernetes.fields import mapping, namespace_and_name
from stowplan.compiler.model import Program
from stowplan.compiler.specs import claim_names, directory_clashes, task_order
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.library.dialects.mounted_claims import MountedClaim
from stowplan.library.dialects.shared.claim_rules import is_single_node
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.schema.diagnostics import FieldPath, Finding, Severity, finding
from stowplan.schema.kinds.table import DATASET_KINDS, KINDS, TRAINING_KINDS
from stowplan.schema.meta import SpecId

_Writers = dict[tuple[bool, str, str], list[tuple[SpecId, Write]]]
"""The specs, of those checked so far, that write to a volume or make its claim, by `Write.volume`."""

_ORDER = tuple(Severity)
"""The severities, worst first."""

_Single = Mapping[tuple[str, str], Callable[[], str]]
"""Claims that only one cluster node may mount, by namespace and name.

The value is a function that returns the location of the setting that limits the claim, for messages.
"""


def check(program: Program, specs: Sequence[SpecFacts], report: Report) -> None:
    """Check all specs against each other and report the findings.

    `specs` has each identity once. Of two specs that share a directory, a port or a lineage, as a rule the later one is
    reported. Of `program`, only the plain objects, the platform and the identities of refused specs are used. If a file
    could not be read, no dataset is reported as unused.
    """
    directories: dict[str, SpecFacts] = {}
    blocks: list[tuple[range, SpecFacts]] = []
    limited = [each for each in specs if each.single]
    single = dict(_single_node_claims(program))
    single |= {(each.id.namespace, str(each.claim)): _place(each.spec.document, each.single) for each in limited}
    datasets = {spec.id: spec for spec in specs if spec.id.kind in DATASET_KINDS}
    used = {} if program.incomplete else _used(program, specs, datasets)
    writers: _Writers = {}
    lineages: dict[tuple[str, str], SpecFacts] = {}
    deletions = list(_deletions(specs, datasets))
    claims = claim_names.of(program, specs)
    present = {spec.id: spec for spec in specs}
    contrary = {spec.id: found for spec, found in task_order.contradictions(present)}
    changed = task_order.changes(present)
    for spec in specs:
        found = [*_unused(spec, used), *_mounted_dataset(spec, datasets, single)] if datasets else []
        found += [*_caches(spec, directories), *_ports(spec, blocks)] if spec.caches or spec.ports else []
        for own in (*((_in_its_volume(spec.write, datasets),) if spec.write else ()), *spec.outputs):
            found += _writes(spec, own, writers)
            deleted = (directory_clashes.clash(own, each, str(task)) for task, each in deletions if own.lineage)
            found += next(filter(None, deleted), [])
        found += _lineages(spec, lineages) if spec.lineage else []
        found += task_order.findings(spec, present, program.refused, incomplete=program.incomplete)
        found += task_order.unrecorded(spec, changed) if changed else []
        found += [] if program.platform.reporter else task_order.unreported(spec)
        found += [contrary[spec.id]] if spec.id in contrary else []
        for mounted in spec.mounted:
            found += _too_many(spec, mounted, single)
            found += claims.look(spec.id.namespace, mounted.claim, mounted.path)
        for claim, path in spec.named:
            found += claims.look(spec.id.namespace, claim, path)
        if found:
            report.add_findings(spec.spec.document, found)


def _caches(spec: SpecFacts, users: dict[str, SpecFacts]) -> Iterator[Finding]:
    """Yield SP305 if a cache directory of the spec is also one of an earlier spec.

    Each of the two mounts would evict by its own limit, so together they would exceed both. `users` has the first spec
    of each directory; the directories of this spec are added.
    """
    for directory, path in spec.caches:
        first = users.setdefault(directory.rstrip("/"), spec)
        if first is not spec:
            message = (
                f"{directory} is a cache directory of {first.id} too; on a shared node each ignores the other's size."
            )
            yield finding("SP305", path, message, "Give each dataset directories of its own.")


def _used(
    program: Program, specs: Sequence[SpecFacts], present: Mapping[SpecId, SpecFacts]
) -> dict[tuple[str, str], set[str]]:
    """Return the names of the datasets that jobs mount, by kind and namespace. `present` are the datasets that exist.

    Kind and namespace are left out if no job could mount such a dataset, or if the dataset of a training job is
    unclear, because the job has errors or names a missing dataset.
    """
    used: dict[tuple[str, str], set[str]] = {}
    unclear = {refused.namespace for refused in program.refused if refused.kind in TRAINING_KINDS}
    for spec in specs:
        namespace = spec.id.namespace
        for mounted in spec.mounted:
            for kind in DATASET_KINDS:
                if SpecId(kind, namespace, mounted.claim) in present:
                    used.setdefault((kind, namespace), set()).add(mounted.claim)
        field = KINDS[spec.id.kind].datasets
        if spec.id.kind not in TRAINING_KINDS or field is None:
            continue
        names = used.setdefault((field.kind, namespace), set())
        names |= {each.spec.name for each in spec.references}
        if any(each.spec not in present for each in spec.references):
            unclear.add(namespace)
    return {place: names for place, names in used.items() if place[1] not in unclear}


def _unused(spec: SpecFacts, used: Mapping[tuple[str, str], set[str]]) -> Iterator[Finding]:
    """Yield SP307 if the spec is a dataset that no job mounts.

    `used` are the names of mounted datasets by kind and namespace. Where `used` lacks them, objects outside of the
    repository may mount the dataset, so nothing is yielded.
    """
    names = used.get((spec.id.kind, spec.id.namespace))
    if names is not None and spec.id.name not in names:
        message = f"No job in namespace {spec.id.namespace} mounts the dataset."
        hint = f"Name it in {_field_of(spec.id.kind)} of a job, or remove it if nothing else mounts its claim."
        yield finding("SP307", ("metadata", "name"), message, hint)


def _field_of(dataset: str) -> str:
    """Return the field of training jobs that names datasets of a kind, for hints."""
    fields = (kind.datasets for kind in KINDS.values() if kind.trains and kind.datasets)
    _, name, *rest = next(field.path for field in fields if field.kind == dataset)
    return f"`{name}`" if "*" in rest else f"the `{name}`"


def _ports(spec: SpecFacts, blocks: list[tuple[range, SpecFacts]]) -> Iterator[Finding]:
    if spec.ports is None:
        return
    own = range(spec.ports.start, spec.ports.stop)
    for block, other in blocks:
        if own.start < block.stop and block.start < own.stop:
            message = f"Ports {own.start}-{own.stop - 1} overlap with {block.start}-{block.stop - 1} of {other.id}."
            hint = f'Choose others for one of them, such as the annotation `{spec.ports.choice}: "{block.stop}"`.'
            yield finding("SP310", spec.ports.at, message, hint)
            break
    blocks.append((own, spec))


def _single_node_claims(program: Program) -> Iterator[tuple[tuple[str, str], Callable[[], str]]]:
    """Yield the claims among the plain objects that only one cluster node may mount, each with its `_Single` value."""
    for document in program.passed_through:
        data = document.data
        if data.get("kind") == "PersistentVolumeClaim" and is_single_node(mapping(data, "spec").get("accessModes")):
            claim = namespace_and_name(data, program.platform.default_namespace)
            yield claim, _place(document, ("spec", "accessModes"))


def _place(document: Document, path: FieldPath) -> Callable[[], str]:
    return lambda: str(document.locate(path))


def _mounted_dataset(spec: SpecFacts, datasets: Mapping[SpecId, SpecFacts], single: _Single) -> Iterator[Finding]:
    """Yield SP309 if several pods of a job mount the claim of its dataset and only one cluster node may mount it."""
    for reference in spec.references:
        dataset = datasets.get(reference.spec)
        if spec.pods and dataset and dataset.claim:
            yield from _too_many(spec, MountedClaim(dataset.claim, spec.pods, "the job", reference.at), single)


def _too_many(spec: SpecFacts, mounted: MountedClaim, single: _Single) -> Iterator[Finding]:
    place = single.get((spec.id.namespace, mounted.claim))
    if mounted.pods > 1 and place:
        which = f"the claim {mounted.claim}, which one node can mount ({place()})"
        message = f"{mounted.pods} pods of {mounted.whose} mount {which}."
        yield finding(mounted.code, mounted.path, message, "Use a claim with ReadWriteMany, or only one pod.")


def _writes(spec: SpecFacts, own: Write, writers: _Writers) -> Iterator[Finding]:
    """Yield a finding about the first earlier spec that uses the same folder of a volume, if any; errors go first.

    `own` is the folder of this spec.

    Yield another one about the first earlier spec that makes the same claim, if this spec makes it too. The spec is
    added to `writers`.
    """
    others = writers.setdefault(own.volume, [])
    clashes = (found for other, written in others for found in directory_clashes.clash(own, written, str(other)))
    yield from sorted(clashes, key=lambda each: _ORDER.index(each.severity))[:1]
    makers = [other for other, written in others if written.template]
    if makers and own.template:
        yield directory_clashes.made_twice(own, str(makers[0]))
    others.append((spec.id, own))


def _in_its_volume(own: Write, datasets: Mapping[SpecId, SpecFacts]) -> Write:
    """Return the directory of checkpoints in the volume of a dataset, if their claim is that of one in JuiceFS."""
    for kind in DATASET_KINDS if own.lineage else ():
        dataset = datasets.get(SpecId(kind, own.namespace, own.claim))
        home = dataset.write if dataset else None
        if home and home.by_secret:
            path = _joined(home.path, own.path)
            return replace(own, namespace=home.namespace, claim=home.claim, path=path, by_secret=True)
    return own


def _deletions(specs: Sequence[SpecFacts], datasets: Mapping[SpecId, SpecFacts]) -> Iterator[tuple[SpecId, Write]]:
    """Yield the directories in which tasks delete what their source does not have, each with the task."""
    for spec in specs:
        for each in spec.references if spec.deletes else ():
            dataset = datasets.get(each.spec)
            if dataset and dataset.write and spec.deletes:
                path = _joined(dataset.write.path, spec.deletes.below)
                yield spec.id, replace(dataset.write, path=path, mirror=True, at=spec.deletes.at)


def _joined(*parts: str) -> str:
    return "/".join(filter(None, parts))


def _lineages(spec: SpecFacts, first: dict[tuple[str, str], SpecFacts]) -> Iterator[Finding]:
    """Yield SP721 if an earlier spec of the namespace has the same lineage, unless both say that they share it.

    `first` has the first spec of each lineage, by namespace and name; this spec is added.
    """
    if spec.lineage is None:
        return
    other = first.setdefault((spec.id.namespace, spec.lineage.name), spec)
    if other is not spec and other.lineage and not (spec.lineage.shared and other.lineage.shared):
        message = f"{other.id} has the lineage {spec.lineage.name} too: each would go on from checkpoints of the other."
        hint = (
            "Choose another `lineage`, or write `shareLineage: true` in both: then one waits for the end of the other."
        )
        yield finding("SP721", spec.lineage.at, message, hint)
