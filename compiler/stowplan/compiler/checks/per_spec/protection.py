"""Could Argo CD delete or replace data, or run a Job again?"""

from collections.abc import Iterator

from stowplan.compiler.checks.objects.finding import ObjectFinding, about, lenient
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.checks.objects.sync_phases import HOOK
from stowplan.compiler.checks.per_spec.argocd_annotations import application_options
from stowplan.compiler.kubernetes.fields import mapping, parts
from stowplan.library.values import labels
from stowplan.schema.diagnostics import FieldPath

_SYNC_OPTIONS: FieldPath = ("metadata", "annotations", labels.SYNC_OPTIONS)
_VOLUMES = ("PersistentVolume", "PersistentVolumeClaim")
_PROTECTED = ("CustomResourceDefinition", "Namespace", *_VOLUMES)
_RECREATING = frozenset({"Force=true", "Replace=true"})
HOLDING = frozenset({"PruneLast=true", "Prune=confirm"})
"""Sync options that make a sync wait."""


def check(objects: Objects) -> list[ObjectFinding]:
    """Return findings for claims, volumes, CRDs and Namespaces that Argo CD could prune, delete or replace.

    Also for Jobs that Argo CD would start again, and for Applications with an option that makes syncs wait.
    """
    found = [each for obj in objects.of_kind(*_PROTECTED) for each in _recreated(obj)]
    kept = [obj for obj in objects.of_kind(*_PROTECTED) if not _is_given_up(obj, objects)]
    found += [each for obj in kept for each in _unprotected(obj)]
    found += [each for obj in objects.of_kind("PersistentVolume") for each in _reclaimed(obj)]
    found += [each for obj in objects.of_kind("Job") for each in _run_again(obj)]
    return found + [each for obj in objects.of_kind("Application") for each in _application(obj)]


def _recreated(obj: Object) -> Iterator[ObjectFinding]:
    for option in obj.sync_options:
        if option in _RECREATING:
            message = f"{option} would delete or overwrite a {obj.kind[1]} at every change."
            yield about(obj, "SP529", _SYNC_OPTIONS, message, f"Remove {option}.")


def _unprotected(obj: Object) -> Iterator[ObjectFinding]:
    given = obj.sync_options
    missing = ",".join(
        f"{option}=false" for option in ("Prune", "Delete") if not {f"{option}=false", f"{option}=confirm"} & {*given}
    )
    if missing:
        message = f"Nothing keeps Argo CD from removing the {obj.kind[1]}: {missing} is missing."
        hint = f"Add {missing} to the annotation {labels.SYNC_OPTIONS}."
        yield lenient(obj, "SP530", _SYNC_OPTIONS, message, hint)


def _is_given_up(obj: Object, objects: Objects) -> bool:
    """Return whether the object is a claim or volume of a spec with `retain: false`, which may go with the spec."""
    if obj.spec is None or obj.kind[1] not in _VOLUMES or not set(parts(labels.REMOVE)) <= {*obj.sync_options}:
        return False
    return any(mapping(each.body, "spec").get("retain") is False for each in objects.of_kind(obj.spec.kind))


def _reclaimed(obj: Object) -> Iterator[ObjectFinding]:
    policy = mapping(obj.body, "spec").get("persistentVolumeReclaimPolicy") or "Retain"
    if policy != "Retain":
        path = ("spec", "persistentVolumeReclaimPolicy")
        message = f"Found {policy}; with it the data goes when the claim goes."
        yield lenient(obj, "SP530", path, message, "Set it to Retain.")


def _run_again(obj: Object) -> Iterator[ObjectFinding]:
    hook = obj.annotations.get(HOOK)
    if mapping(obj.body, "spec").get("ttlSecondsAfterFinished") is not None and not hook:
        message = "With ttlSecondsAfterFinished the cluster deletes the Job, and Argo CD would run it again."
        path = ("spec", "ttlSecondsAfterFinished")
        yield about(obj, "SP522", path, message, "Remove the field; remove the spec when the run is no longer needed.")
    for option in obj.sync_options:
        if option in _RECREATING and not hook:
            message = f"{option} would delete the Job and run it again at every sync."
            yield about(obj, "SP522", _SYNC_OPTIONS, message, f"Remove {option}.")


def _application(obj: Object) -> Iterator[ObjectFinding]:
    for index, option in enumerate(application_options(obj.body)):
        if option in HOLDING:
            path = ("spec", "syncPolicy", "syncOptions", index)
            message = f"{option} would hold every sync of this Application."
            yield about(obj, "SP535", path, message, f"Remove {option}.")
