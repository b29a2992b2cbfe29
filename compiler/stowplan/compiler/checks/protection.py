"""Could Argo CD delete, replace or run again what it must not?"""

from collections.abc import Iterator

from stowplan.compiler.checks.argocd_annotations import HOOK, application_options
from stowplan.compiler.checks.manifests import annotation, authored, identity, mapping, sync_options
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Objects
from stowplan.compiler.model import Output
from stowplan.library import labels
from stowplan.schema.diagnostics import FieldPath, Severity

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
    with_jobs = {
        name
        for name, members in objects.applications.items()
        if any(output.manifest.kind in _JOBS for output in members)
    }
    found = [finding for output in objects.outputs for finding in _check(output)]
    for name in objects.applications:
        if name in with_jobs:
            found += [finding for output in objects.applications[name] for finding in _holding(output)]
    return found + [finding for output in objects.of_kind("Application") for finding in _application(output)]


def _check(output: Output) -> Iterator[ObjectFinding]:
    kind = identity(output.manifest.body).kind
    if kind in _PROTECTED:
        yield from _recreated(output)
        yield from _unprotected(output)
    if kind == "PersistentVolume":
        yield from _reclaimed(output)
    if kind == "Job":
        yield from _run_again(output)


def _recreated(output: Output) -> Iterator[ObjectFinding]:
    for option in sync_options(output.manifest.body):
        if option in _RECREATING:
            message = f"{option} would delete or overwrite a {output.manifest.kind} at every change."
            yield about(output, "SP529", _SYNC_OPTIONS, message, f"Remove {option}.")


def _unprotected(output: Output) -> Iterator[ObjectFinding]:
    given = sync_options(output.manifest.body)
    missing = [
        f"{option}=false" for option in ("Prune", "Delete") if not {f"{option}=false", f"{option}=confirm"} & {*given}
    ]
    if missing:
        message = f"A {output.manifest.kind} needs the sync options {labels.KEEP}; {' and '.join(missing)} is missing."
        hint = f'Set the annotation {labels.SYNC_OPTIONS}: "{labels.KEEP}".'
        yield about(output, "SP530", _SYNC_OPTIONS, message, hint, severity=_severity(output))


def _reclaimed(output: Output) -> Iterator[ObjectFinding]:
    policy = mapping(output.manifest.body, "spec").get("persistentVolumeReclaimPolicy") or "Retain"
    if policy != "Retain":
        path = ("spec", "persistentVolumeReclaimPolicy")
        message = f"Found {policy}; with it the data goes when the claim goes."
        yield about(output, "SP530", path, message, "Set it to Retain.", severity=_severity(output))


def _severity(output: Output) -> Severity | None:
    """What a user or an extension brings may be meant to go."""
    return None if authored(output) else Severity.WARNING


def _run_again(output: Output) -> Iterator[ObjectFinding]:
    body = output.manifest.body
    hook = annotation(body, HOOK)
    if mapping(body, "spec").get("ttlSecondsAfterFinished") is not None and not hook:
        message = "With ttlSecondsAfterFinished the cluster deletes the Job, and Argo CD would run it again."
        path = ("spec", "ttlSecondsAfterFinished")
        yield about(
            output, "SP522", path, message, "Remove the field; remove the spec when the run is no longer needed."
        )
    for option in sync_options(body):
        if option in _RECREATING and not hook:
            message = f"{option} would delete the Job and run it again at every sync."
            yield about(output, "SP522", _SYNC_OPTIONS, message, f"Remove {option}.")


def _holding(output: Output) -> Iterator[ObjectFinding]:
    for option in sync_options(output.manifest.body):
        if option in _HOLDING:
            message = f"{option} would hold the sync of the Jobs of this Application."
            yield about(output, "SP535", _SYNC_OPTIONS, message, f"Remove {option}.")


def _application(output: Output) -> Iterator[ObjectFinding]:
    for index, option in enumerate(application_options(output.manifest.body)):
        if option in _HOLDING:
            path = ("spec", "syncPolicy", "syncOptions", index)
            message = f"{option} would hold every sync of this Application."
            yield about(output, "SP535", path, message, f"Remove {option}.")
