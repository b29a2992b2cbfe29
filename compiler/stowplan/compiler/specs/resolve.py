"""Resolution of specs: identities, and relations between specs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.kubernetes import system_namespaces
from stowplan.compiler.model import Program, Spec
from stowplan.compiler.output import paths
from stowplan.compiler.specs import cross_spec_rules, spec_facts
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.library.dialects.shared.context import Context
from stowplan.library.values.namespace_patterns import denying, permitted
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.argocd import ArgoCD
from stowplan.schema.platform.platform import Platform


def resolve(program: Program, report: Report) -> Program:
    """Return the program with one spec for each identity, the first, sorted, and with digests after references.

    The digest of a task then covers its dataset too. Duplicates, forbidden namespaces and the findings of the rules
    across specs go to `report`.
    """
    bare = Context(program.platform, "")
    unique = _unique([spec_facts.of_spec(each, bare) for each in program.specs], program.platform, report)
    sound = [unique[identity] for identity in sorted(unique)]
    cross_spec_rules.check(program, sound, report)
    return replace(program, specs=tuple(_with_references(each, unique) for each in sound))


def _unique(facts: Sequence[SpecFacts], platform: Platform, report: Report) -> dict[SpecId, SpecFacts]:
    """Return the first spec of each identity. Duplicates and forbidden namespaces are reported."""
    unique: dict[SpecId, SpecFacts] = {}
    is_synced = cache(partial(_is_synced, argocd=platform.argocd))
    refused = cache(partial(system_namespaces.refused, platform=platform))
    for each in facts:
        first = unique.setdefault(each.id, each)
        found = []
        if first is not each:
            found.append(_duplicate(each.id, first.spec.document))
        if each.id.namespace in (paths.ARGOCD, paths.CRDS):
            found.append(_reserved(each.id))
        elif problem := refused(each.id.namespace):
            found.append(finding("SP615", ("metadata", "namespace"), *problem))
        if not is_synced(each.id.namespace):
            found.append(_out_of_reach(each.id, platform.argocd))
        if found:
            report.add_findings(each.spec.document, found)
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


def _with_references(facts: SpecFacts, specs: dict[SpecId, SpecFacts]) -> Spec:
    """Return the spec; that of a task with the digests of its dataset added, because both determine its output.

    The run of a task depends on the place of the dataset alone: what is over stays over when other nodes cache it. A
    training job only needs the name of its dataset: an edit of the dataset must not start the training again, unless it
    waits for the locked revision of the dataset, and another one is locked now.
    """
    spec, field = facts.spec, KINDS[facts.id.kind].datasets
    content = [specs[each].revision for each in facts.locked if each in specs]
    run = [*content]
    if field is not None and field.digest:
        datasets = [specs[each.spec].spec for each in facts.references if each.spec in specs]
        content += [each.digest for each in datasets]
        run += [each.place for each in datasets]
    return replace(spec, digest="+".join([spec.digest, *content]), run_digest="+".join([spec.run_digest, *run]))
