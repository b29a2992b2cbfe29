"""Specs into a program: identities, and what specs have to do with each other."""

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from stowplan.compiler import paths
from stowplan.compiler.model import Program, Spec
from stowplan.compiler.source import Report
from stowplan.library.dialects.context import Context
from stowplan.library.dialects.sample_set import cached_dataset
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.meta import SpecId
from stowplan.schema.platform import ArgoCD
from stowplan.schema.sample_job import SampleJob
from stowplan.schema.sample_set import SampleSet


def resolve(program: Program, report: Report) -> Program:
    """The program with one spec for each identity, sorted, and digests that cover what a spec refers to."""
    unique: dict[SpecId, Spec] = {}
    for spec in program.specs:
        first = unique.setdefault(spec.id, spec)
        if first is not spec:
            report.add_findings(spec.document, [_duplicate(spec, first)])
        if spec.id.namespace in (paths.ARGOCD, paths.CRDS):
            report.add_findings(spec.document, [_reserved(spec)])
        if not _is_synced(spec, program.platform.argocd):
            report.add_findings(spec.document, [_out_of_reach(spec, program.platform.argocd)])
    specs = tuple(unique[identity] for identity in sorted(unique))
    _shared_caches(program, specs, report)
    return replace(program, specs=tuple(_with_references(spec, unique) for spec in specs))


def _duplicate(spec: Spec, first: Spec) -> Finding:
    place = first.document.locate(("metadata", "name"))
    message = f"{spec.id} is defined at {place} too."
    return finding("SP301", ("metadata", "name"), message, "Give one of them another name or namespace.")


def _reserved(spec: Spec) -> Finding:
    message = (
        f"The output folder {spec.id.namespace} holds other things, so specs cannot be in a namespace of that name."
    )
    return finding("SP507", ("metadata", "namespace"), message, "Choose another namespace.")


def _is_synced(spec: Spec, argocd: ArgoCD) -> bool:
    """Whether the AppProject allows the namespace."""
    patterns = argocd.destination.namespaces
    return argocd.repo_url is None or any(fnmatchcase(spec.id.namespace, pattern) for pattern in patterns)


def _out_of_reach(spec: Spec, argocd: ArgoCD) -> Finding:
    allowed = ", ".join(argocd.destination.namespaces)
    message = (
        f"Argo CD would refuse the namespace {spec.id.namespace}: `argocd.destination.namespaces` allows {allowed}."
    )
    return finding("SP601", ("metadata", "namespace"), message, "Add it in the platform file, or move the spec.")


def _with_references(spec: Spec, specs: dict[SpecId, Spec]) -> Spec:
    """A SampleJob is compiled from its SampleSet too, so both are in its digest.

    A training job needs but the name of its dataset: an edit of the dataset must not let it train again.
    """
    reference = spec.model.spec.sample_set_ref if isinstance(spec.model, SampleJob) else None
    if reference is None or not reference.name:
        return spec
    dataset = specs.get(SpecId("SampleSet", spec.id.namespace, reference.name))
    return replace(spec, digest=f"{spec.digest}+{dataset.digest}") if dataset else spec


def _shared_caches(program: Program, specs: tuple[Spec, ...], report: Report) -> None:
    """Two mounts that share a cache directory each evict by their own limit, so together they overrun both."""
    context = Context(program.platform, "")
    users: dict[str, Spec] = {}
    for spec in specs:
        if isinstance(spec.model, SampleSet):
            report.add_findings(spec.document, list(_clashes(spec, spec.model, context, users)))


def _clashes(spec: Spec, model: SampleSet, context: Context, users: dict[str, Spec]) -> Iterator[Finding]:
    dataset = cached_dataset(model, context)
    for directory in STORAGE_DRIVERS[dataset.driver].cache_directories(dataset, context.site):
        first = users.setdefault(directory.rstrip("/"), spec)
        if first is not spec:
            message = (
                f"{directory} is a cache directory of {first.id} too; on a shared node each ignores the other's size."
            )
            hint = "Give each dataset directories of its own."
            yield finding("SP305", _directory_path(model, directory), message, hint)


def _directory_path(model: SampleSet, directory: str) -> FieldPath:
    """Where a cache directory was given; for one by default, where it could be."""
    levels = model.spec.cache.levels or [] if model.spec.cache else []
    for index, level in enumerate(levels):
        if directory in (level.path or "").split(":"):
            return ("spec", "cache", "levels", index, "path")
    options = model.spec.csi.juice_fs_mount_options if model.spec.csi else None
    if options and options.cache_dir:
        return ("spec", "csi", "juiceFSMountOptions", "cache-dir")
    return ("spec", "cache", "levels")
