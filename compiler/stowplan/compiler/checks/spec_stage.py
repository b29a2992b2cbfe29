"""The checks of each spec alone. They may run for some of the specs, or in another process.

A new check is a module in `per_spec` or `pods` and a line in `_findings`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from stowplan.compiler.checks.across_specs.facts import Facts, facts_of
from stowplan.compiler.checks.history.history import Changes, changes_of
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object import Object, Objects, SpecObjects
from stowplan.compiler.checks.per_spec import (
    argocd_annotations,
    cluster_fields,
    conformance,
    crds,
    custom_resources,
    mount_options,
    names,
    namespaces,
    ownership,
    protection,
    rbac,
    secrets,
    selectors,
)
from stowplan.compiler.checks.per_spec.custom_resources import Definitions
from stowplan.compiler.checks.pods import accounts, claim_templates, images, literal_secrets, priority_classes, security
from stowplan.compiler.model import OutputFile
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.platform import Platform


class Checked(NamedTuple):
    """The result of the checks of one spec; if `spec` is None, of the objects that belong to no spec.

    Findings and facts depend on the objects of the spec and on the platform, `changes` on the committed output too.
    """

    spec: SpecId | None
    findings: tuple[ObjectFinding, ...]
    facts: Facts
    changes: Changes


def definitions(outputs: Iterable[OutputFile], kubernetes: str) -> Definitions:
    """Return Stowplan's own CRDs, and those in `outputs` that are valid in the version `kubernetes`, such as `1.36`."""
    candidates = [Object(output) for output in outputs if output.manifest.body.get("kind") == crds.KIND]
    foreign = [obj for obj in candidates if not custom_resources.is_own(obj.body)]
    return Definitions(obj for obj in foreign if not conformance.check([obj], kubernetes))


def check(
    outputs: Sequence[OutputFile], platform: Platform, known: Definitions, previous: Mapping[ObjectId, Json]
) -> list[Checked]:
    """Return one result for each spec, in the order of the outputs; `outputs` must hold all outputs of each spec.

    `known` are the CRDs by which custom resources are checked. `previous` holds at least the committed bodies of these
    objects. An object that does not fit its schema gets only the findings about that; the other checks skip it.
    """
    groups: dict[SpecId | None, list[Object]] = {}
    for output in outputs:
        groups.setdefault(output.spec, []).append(Object(output))
    return [_checked(spec, objects, platform, known, previous) for spec, objects in groups.items()]


def _checked(
    spec: SpecId | None,
    objects: Sequence[Object],
    platform: Platform,
    known: Definitions,
    previous: Mapping[ObjectId, Json],
) -> Checked:
    unfit = conformance.check(objects, platform.kubernetes_version)
    ids = {found.object for found in unfit}
    sound = Objects([each for each in objects if each.id not in ids])
    unsound = [each for each in objects if each.id in ids]
    facts = facts_of(SpecObjects(spec, sound, platform), unsound)
    return Checked(spec, (*unfit, *_findings(sound, platform, known)), facts, changes_of(spec, sound, previous))


def _findings(objects: Objects, platform: Platform, known: Definitions) -> list[ObjectFinding]:
    return [
        *custom_resources.check(objects, known),
        *crds.check(objects),
        *names.check(objects),
        *cluster_fields.check(objects),
        *ownership.check(objects),
        *selectors.check(objects),
        *argocd_annotations.check(objects),
        *protection.check(objects),
        *namespaces.check(objects, platform),
        *accounts.check(objects, platform),
        *priority_classes.check(objects, platform),
        *claim_templates.check(objects, platform),
        *secrets.check(objects),
        *mount_options.check(objects, platform),
        *literal_secrets.check(objects, platform),
        *rbac.check(objects),
        *security.check(objects, allow_root=platform.juicefs.task_user == 0),
        *images.check(objects, platform),
        *images.check_digests(objects, platform),
    ]
