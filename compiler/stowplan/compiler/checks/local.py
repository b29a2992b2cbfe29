"""All that can be said of one spec's objects without those of others."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from stowplan.compiler.checks.across_specs.facts import Facts, facts_of
from stowplan.compiler.checks.history.changes import Changes, changes_of
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object import Object, Objects, SpecObjects, read
from stowplan.compiler.checks.per_spec import (
    argocd_annotations,
    cluster_fields,
    conformance,
    crds,
    custom_resources,
    mount_options,
    names,
    ownership,
    protection,
    rbac,
    reserved_folders,
    secrets,
    selectors,
    system_objects,
)
from stowplan.compiler.checks.per_spec.custom_resources import Definitions
from stowplan.compiler.checks.pods import accounts, images, literal_secrets, priority_classes, security
from stowplan.compiler.model import Output
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.platform import Platform


class Checked(NamedTuple):
    """What was found in the objects of one spec, or in those that no spec made.

    Findings and facts depend on these objects and the platform alone, so they hold as long as both stay as they are.
    `changes` depends on the last run as well.
    """

    spec: SpecId | None
    findings: tuple[ObjectFinding, ...]
    facts: Facts
    changes: Changes


def definitions(outputs: Iterable[Output], kubernetes: str) -> Definitions:
    """The CRDs among outputs by which custom resources are checked: those that fit their own schema."""
    candidates = [read(output) for output in outputs if output.manifest.body.get("kind") == crds.KIND]
    foreign = [obj for obj in candidates if not custom_resources.is_own(obj.body)]
    return Definitions(obj for obj in foreign if not conformance.check([obj], kubernetes))


def check(
    outputs: Sequence[Output], platform: Platform, known: Definitions, previous: Mapping[ObjectId, Json]
) -> list[Checked]:
    """One result for each spec in the order of the outputs, which hold all of a spec or none.

    `previous` holds at least what the last run wrote of these objects. An object that does not fit its schema is only
    looked at by the checks that need no schema.
    """
    groups: dict[SpecId | None, list[Object]] = {}
    for output in outputs:
        groups.setdefault(output.spec, []).append(read(output))
    return [_checked(spec, objects, platform, known, previous) for spec, objects in groups.items()]


def _checked(
    spec: SpecId | None,
    objects: Sequence[Object],
    platform: Platform,
    known: Definitions,
    previous: Mapping[ObjectId, Json],
) -> Checked:
    kubernetes = platform.kubernetes_version
    wrong = conformance.check(objects, kubernetes)
    ids = {found.object for found in wrong}
    fit, unfit = objects, list[Object]()
    if ids:
        fit, unfit = [each for each in objects if each.id not in ids], [each for each in objects if each.id in ids]
    sound = Objects(fit)
    findings = (
        *wrong,
        *_shape(sound, known),
        *argocd_annotations.check(sound),
        *protection.check(sound),
        *_security(sound, platform),
    )
    facts = facts_of(SpecObjects(spec, sound, platform), unfit)
    return Checked(spec, findings, facts, changes_of(spec, sound, previous))


def _shape(objects: Objects, known: Definitions) -> list[ObjectFinding]:
    return [
        *custom_resources.check(objects, known),
        *crds.check(objects),
        *names.check(objects),
        *reserved_folders.check(objects),
        *cluster_fields.check(objects),
        *ownership.check(objects),
        *selectors.check(objects),
    ]


def _security(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    return [
        *system_objects.check(objects, platform),
        *accounts.check(objects, platform),
        *priority_classes.check(objects, platform),
        *secrets.check(objects),
        *mount_options.check(objects, platform),
        *literal_secrets.check(objects, platform),
        *rbac.check(objects),
        *security.check(objects, allow_root=platform.juicefs.task_user == 0),
        # The tag `latest` was reported where it stands, in the platform file.
        *(images.check(objects) if platform.images.tag != "latest" else ()),
        *(images.check_digests(objects) if platform.images.require_digests else ()),
    ]
