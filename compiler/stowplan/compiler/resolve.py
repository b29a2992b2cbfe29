"""Specs into a program: identities, and what specs have to do with each other."""

from dataclasses import replace
from fnmatch import fnmatchcase

from stowplan.compiler import graph, paths
from stowplan.compiler.model import Program, Spec
from stowplan.compiler.source import Report
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.meta import SpecId
from stowplan.schema.platform import ArgoCD
from stowplan.schema.sample_job import SampleJob


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
    graph.check(program, specs, report)
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
