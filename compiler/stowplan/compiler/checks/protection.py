"""Could Argo CD delete, replace or run again what it must not?"""

from collections.abc import Iterator

from stowplan.compiler.checks.argocd_annotations import HOOK, application_options
from stowplan.compiler.checks.object_finding import ObjectFinding, about, milder
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.manifest_fields import annotation, mapping, sync_options
from stowplan.library import labels
from stowplan.schema.diagnostics import FieldPath

_SYNC_OPTIONS: FieldPath = ("metadata", "annotations", labels.SYNC_OPTIONS)
_VOLUMES = frozenset({"PersistentVolume", "PersistentVolumeClaim"})
_PROTECTED = _VOLUMES | {"CustomResourceDefinition", "Namespace"}
_RECREATING = frozenset({"Force=true", "Replace=true"})
_HOLDING = frozenset({"PruneLast=true", "Prune=confirm"})
_JOBS = frozenset({"CronJob", "Job"})


def check(objects: Objects) -> list[ObjectFinding]:
    """Claims, volumes, CRDs and Namespaces are never pruned, deleted or replaced; Jobs never run by themselves again.

    And nothing beside a Job holds a sync open: with `PruneLast` the Jobs' wave is waited for, with `Prune=confirm`
    every later sync waits for a person (Argo CD 3.x, gitops-engine).
    """
    with_jobs = {name for name, members in objects.applications.items() if any(obj.id.kind in _JOBS for obj in members)}
    found = [finding for obj in objects for finding in _check(obj)]
    for name in objects.applications:
        if name in with_jobs:
            found += [finding for obj in objects.applications[name] for finding in _holding(obj)]
    return found + [finding for obj in objects.of_kind("Application") for finding in _application(obj)]


def _check(obj: Object) -> Iterator[ObjectFinding]:
    kind = obj.id.kind
    if kind in _PROTECTED:
        yield from _recreated(obj)
        yield from _unprotected(obj)
    if kind == "PersistentVolume":
        yield from _reclaimed(obj)
    if kind == "Job":
        yield from _run_again(obj)


def _recreated(obj: Object) -> Iterator[ObjectFinding]:
    for option in sync_options(obj.body):
        if option in _RECREATING:
            message = f"{option} would delete or overwrite a {obj.id.kind} at every change."
            yield about(obj, "SP529", _SYNC_OPTIONS, message, f"Remove {option}.")


def _unprotected(obj: Object) -> Iterator[ObjectFinding]:
    given = sync_options(obj.body)
    missing = ",".join(
        f"{option}=false" for option in ("Prune", "Delete") if not {f"{option}=false", f"{option}=confirm"} & {*given}
    )
    if missing:
        message = f"Nothing keeps Argo CD from removing the {obj.id.kind}: {missing} is missing."
        hint = f"Add {missing} to the annotation {labels.SYNC_OPTIONS}."
        yield about(obj, "SP530", _SYNC_OPTIONS, message, hint, severity=milder(obj))


def _reclaimed(obj: Object) -> Iterator[ObjectFinding]:
    policy = mapping(obj.body, "spec").get("persistentVolumeReclaimPolicy") or "Retain"
    if policy != "Retain":
        path = ("spec", "persistentVolumeReclaimPolicy")
        message = f"Found {policy}; with it the data goes when the claim goes."
        yield about(obj, "SP530", path, message, "Set it to Retain.", severity=milder(obj))


def _run_again(obj: Object) -> Iterator[ObjectFinding]:
    body = obj.body
    hook = annotation(body, HOOK)
    if mapping(body, "spec").get("ttlSecondsAfterFinished") is not None and not hook:
        message = "With ttlSecondsAfterFinished the cluster deletes the Job, and Argo CD would run it again."
        path = ("spec", "ttlSecondsAfterFinished")
        yield about(obj, "SP522", path, message, "Remove the field; remove the spec when the run is no longer needed.")
    for option in sync_options(body):
        if option in _RECREATING and not hook:
            message = f"{option} would delete the Job and run it again at every sync."
            yield about(obj, "SP522", _SYNC_OPTIONS, message, f"Remove {option}.")


def _holding(obj: Object) -> Iterator[ObjectFinding]:
    for option in sync_options(obj.body):
        if option in _HOLDING:
            message = f"{option} would hold the sync of the Jobs of this Application."
            yield about(obj, "SP535", _SYNC_OPTIONS, message, f"Remove {option}.")


def _application(obj: Object) -> Iterator[ObjectFinding]:
    for index, option in enumerate(application_options(obj.body)):
        if option in _HOLDING:
            path = ("spec", "syncPolicy", "syncOptions", index)
            message = f"{option} would hold every sync of this Application."
            yield about(obj, "SP535", path, message, f"Remove {option}.")
