"""The check stage: what is wrong with the compiled objects, said at the spec they come from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stowplan.compiler.checks import (
    applications,
    argocd_annotations,
    cluster_fields,
    conformance,
    crds,
    custom_resources,
    dangling,
    duplicates,
    files,
    images,
    immutability,
    names,
    namespace_levels,
    ownership,
    pod_security,
    protection,
    rbac,
    removals,
    reruns,
    secrets,
    selectors,
    volumes,
    waves,
)
from stowplan.compiler.checks.object_finding import ObjectFinding
from stowplan.compiler.checks.objects import Object, Objects, read
from stowplan.compiler.checks.template_fields import in_template
from stowplan.compiler.manifest_fields import identity
from stowplan.compiler.model import Output, Program
from stowplan.compiler.source import PLATFORM_FILE, Diagnostic, Document, Location, Report
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import Anchor, FieldPath, Severity, dotted
from stowplan.schema.meta import ObjectId
from stowplan.schema.platform import Platform

_NAME: FieldPath = ("metadata", "name")


def check(outputs: Sequence[Output], program: Program, previous: Mapping[ObjectId, Json], report: Report) -> None:
    """Run all checks over the outputs and add what they find to `report`.

    `previous` holds the objects that the committed output holds, by identity; it is empty for a first run. An object
    that does not fit its schema is only looked at by the checks that need no schema.
    """
    kubernetes = program.platform.kubernetes_version
    everything = [read(output) for output in outputs]
    unfit = conformance.check(everything, kubernetes)
    wrong = {found.object for found in unfit}
    objects = Objects([obj for obj in everything if obj.id not in wrong], everything)
    findings = [
        *unfit,
        *duplicates.check(everything),
        *files.check(objects),
        *_shape(objects),
        *_sync(objects, kubernetes),
        *_security(objects, program.platform),
        *_history(objects, previous, program.platform),
    ]
    places = _Places(program, everything)
    report.add(*(places.diagnostic(found) for found in findings))


def _shape(objects: Objects) -> list[ObjectFinding]:
    """Objects in themselves, and with each other."""
    return [
        *custom_resources.check(objects),
        *crds.check(objects),
        *names.check(objects),
        *cluster_fields.check(objects),
        *ownership.check(objects),
        *dangling.check(objects),
        *selectors.check(objects),
        *volumes.check(objects),
    ]


def _sync(objects: Objects, kubernetes: str) -> list[ObjectFinding]:
    """What Argo CD would do with them."""
    return [
        *argocd_annotations.check(objects),
        *protection.check(objects),
        *waves.check(objects),
        *applications.check(objects, kubernetes),
    ]


def _security(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    return [
        *secrets.check(objects),
        *rbac.check(objects),
        *pod_security.check(objects, allow_root=platform.juicefs.task_user == 0),
        *_levels(objects, platform),
        # The tag `latest` was reported where it stands, in the platform file.
        *(images.check(objects) if platform.images.tag != "latest" else ()),
    ]


def _levels(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    policy = platform.policy.pod_security
    return [] if policy == "ignore" else namespace_levels.check(objects, _severity(policy))


def _history(objects: Objects, previous: Mapping[ObjectId, Json], platform: Platform) -> list[ObjectFinding]:
    """What became of the objects that were written before."""
    moved = [
        *immutability.check(objects, previous),
        *removals.check(objects, previous, _severity(platform.policy.removal)),
    ]
    renamed = removals.named_anew(objects, previous)
    return [
        *(_with_reason(found) if found.spec in renamed else found for found in moved),
        *reruns.check(objects, previous, _severity(platform.policy.rerun)),
    ]


def _with_reason(found: ObjectFinding) -> ObjectFinding:
    reason = f"If `names` was changed in {PLATFORM_FILE}, change it back: it names what holds the data of all specs."
    return replace(found, found=replace(found.found, hint=f"{reason} {found.found.hint}"))


def _severity(policy: str) -> Severity:
    return Severity.ERROR if policy == "error" else Severity.WARNING


class _Places:
    """Where in the user's files an object comes from."""

    def __init__(self, program: Program, everything: Sequence[Object]) -> None:
        self._objects = {obj.id: obj for obj in everything}
        self._specs = {spec.id: spec.document for spec in program.specs}
        self._plain = dict(_plain_objects(program))
        self._platform = program.platform_document

    def diagnostic(self, found: ObjectFinding) -> Diagnostic:
        """The finding at its spec's name; in a plain object or a pod template of the user's at the very field."""
        plain = self._plain.get(found.object) if found.spec is None else None
        document = plain or (self._specs.get(found.spec) if found.spec else None)
        edits = sorted(found.edits, key=document.locate) if document else []
        own = found.found.path if plain else self._in_template(found, document)
        path = own if own is not None else edits[0] if edits else _NAME if document else ()
        anchor = found.found.anchor if own is not None else Anchor.VALUE
        field = "" if found.found.path in (path, _NAME) else dotted(found.found.path)
        subject = f"{found.object}, {field}" if field else str(found.object)
        return Diagnostic(
            found.found.code,
            found.found.severity,
            document.locate(path, anchor) if document else self._without_document(found.source),
            dotted(path),
            f"{subject}: {found.found.message}",
            found.found.hint,
        )

    def _in_template(self, found: ObjectFinding, document: Document | None) -> FieldPath | None:
        obj = self._objects.get(found.object)
        return in_template(found.found.path, obj, document.root.data) if obj and document else None

    def _without_document(self, source: str) -> Location:
        """For what an extension or the platform file made, and what is gone."""
        if source in ("", PLATFORM_FILE):
            return self._platform.locate(()) if self._platform else Location(PLATFORM_FILE, 1, 1)
        return Location(source, 1, 1)


def _plain_objects(program: Program) -> Iterator[tuple[ObjectId, Document]]:
    """The users' own objects, by the identity that they may have in the output: some were given a namespace."""
    for document in program.passed_through:
        own = identity(document.root.data)
        yield own, document
        yield own._replace(namespace=own.namespace or program.platform.default_namespace), document
