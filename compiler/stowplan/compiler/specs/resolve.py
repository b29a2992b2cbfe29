"""Resolution of specs: identities, and relations between specs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.kubernetes import system_namespaces
from stowplan.compiler.model import Program
from stowplan.compiler.output import paths
from stowplan.compiler.specs import cross_spec_rules
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.library.values.namespace_patterns import denying, permitted
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.argocd import ArgoCD
from stowplan.schema.platform.platform import Platform


def resolve(
    program: Program, facts: Sequence[SpecFacts], document_of: cross_spec_rules.DocumentOf, report: Report
) -> tuple[Program, tuple[SpecFacts, ...]]:
    """Return the program and the facts with one spec for each identity, sorted, and with digests after references.

    The digest of a task then covers its dataset too. `facts` are about all specs, in the order of their files.
    `document_of` returns the document of a spec, to locate findings.
    """
    unique = _unique(facts, program.platform, document_of, report)
    sound = [unique[identity] for identity in sorted(unique)]
    cross_spec_rules.check(program, sound, document_of, report)
    resolved = tuple(_with_references(each, unique) for each in sound)
    own = {(spec.document.file, spec.document.index): spec for spec in program.specs}
    specs = (replace(own[each.file, each.index], digest=each.digest, run_digest=each.run_digest) for each in resolved)
    return replace(program, specs=tuple(specs)), resolved


def _unique(
    facts: Sequence[SpecFacts], platform: Platform, document_of: cross_spec_rules.DocumentOf, report: Report
) -> dict[SpecId, SpecFacts]:
    """Return the first spec of each identity. Duplicates and forbidden namespaces are reported."""
    unique: dict[SpecId, SpecFacts] = {}
    is_synced = cache(partial(_is_synced, argocd=platform.argocd))
    refused = cache(partial(system_namespaces.refused, platform=platform))
    for each in facts:
        first = unique.setdefault(each.id, each)
        found = []
        if first is not each:
            found.append(_duplicate(each.id, document_of(first)))
        if each.id.namespace in (paths.ARGOCD, paths.CRDS):
            found.append(_reserved(each.id))
        elif problem := refused(each.id.namespace):
            found.append(finding("SP615", ("metadata", "namespace"), *problem))
        if not is_synced(each.id.namespace):
            found.append(_out_of_reach(each.id, platform.argocd))
        if found:
            report.add_findings(document_of(each), found)
    return unique


def _duplicate(spec: SpecId, first: Document) -> Finding:
    place = first.locate(("metadata", "name"))
    message = f"{spec} is defined at {place} too."
    return finding("SP301", ("metadata", "name"), message, "Give one of them another name or namespace.")


def _reserved(spec: SpecId) -> Finding:
    message = f"The output folder {spec.namespace} holds other things, so specs cannot be in a namespace of that name."
    return finding("SP507", ("metadata", "namespace"), message, "Choose another namespace.")


def _is_synced(namespace: str, argocd: ArgoCD) -> bool:
    """Whether the AppProject of the output allows a namespace; True if the platform file asks for no AppProject."""
    return argocd.repo_url is None or permitted(namespace, argocd.destination.namespaces)


def _out_of_reach(spec: SpecId, argocd: ArgoCD) -> Finding:
    patterns = argocd.destination.namespaces
    if denials := " and ".join(denying(spec.namespace, patterns)):
        rule, change = f"denies it by {denials}", f"Remove {denials}"
    else:
        rule, change = f"allows {', '.join(patterns)}", "Add it"
    message = f"Argo CD would refuse the namespace {spec.namespace}: `argocd.destination.namespaces` {rule}."
    return finding("SP601", ("metadata", "namespace"), message, f"{change} in the platform file, or move the spec.")


def _with_references(spec: SpecFacts, specs: dict[SpecId, SpecFacts]) -> SpecFacts:
    """Return the facts; those of a task with the digests of its dataset added, because both determine its output.

    The run of a task depends on the place of the dataset alone: what is over stays over when other nodes cache it. A
    training job only needs the name of its dataset: an edit of the dataset must not start the training again, unless it
    waits for the locked revision of the dataset, and another one is locked now.
    """
    locked = [specs[each].revision for each in spec.locked if each in specs]
    if locked:
        spec = replace(spec, digest="+".join([spec.digest, *locked]), run_digest="+".join([spec.run_digest, *locked]))
    field = KINDS[spec.id.kind].datasets
    if field is None or not field.digest:
        return spec
    datasets = [specs[each.spec] for each in spec.references if each.spec in specs]
    return replace(
        spec,
        digest="+".join([spec.digest, *(each.digest for each in datasets)]),
        run_digest="+".join([spec.run_digest, *(each.place for each in datasets)]),
    )
