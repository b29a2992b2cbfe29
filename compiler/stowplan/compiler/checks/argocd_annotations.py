"""Does Argo CD understand each annotation and option, and does it do with the object what is meant?"""

from collections.abc import Iterator

from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.manifest_fields import annotation, mapping, options
from stowplan.library import labels
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, did_you_mean

HOOK = "argocd.argoproj.io/hook"
_HOOK_DELETE_POLICY = "argocd.argoproj.io/hook-delete-policy"
_ANNOTATIONS: FieldPath = ("metadata", "annotations")

_BOTH = ("true", "false")
_HOLD = ("false", "confirm", "true")
_OBJECT_OPTIONS = {
    "ClientSideApplyMigration": _BOTH,
    "Delete": _HOLD,
    "Force": _BOTH,
    "Prune": _HOLD,
    "PruneLast": _BOTH,
    "Replace": _BOTH,
    "ServerSideApply": _BOTH,
    "SkipDryRunOnMissingResource": _BOTH,
    "Validate": _BOTH,
}
_APPLICATION_OPTIONS = {
    **_OBJECT_OPTIONS,
    "ApplyOutOfSyncOnly": _BOTH,
    "CreateNamespace": _BOTH,
    "FailOnSharedResource": _BOTH,
    "PrunePropagationPolicy": ("foreground", "background", "orphan"),
    "RespectIgnoreDifferences": _BOTH,
}


def _words(known: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, values in known.items() for value in values)


_KNOWN = {
    HOOK: ("PreSync", "Sync", "PostSync", "SyncFail", "Skip", "PreDelete", "PostDelete"),
    _HOOK_DELETE_POLICY: ("BeforeHookCreation", "HookSucceeded", "HookFailed"),
    labels.SYNC_OPTIONS: _words(_OBJECT_OPTIONS),
    labels.COMPARE_OPTIONS: (
        "IgnoreExtraneous",
        *_words({"IncludeMutationWebhook": _BOTH, "ServerSideDiff": _BOTH}),
    ),
}
"""Values that Argo CD knows (2.14 to 3.5), by annotation. It ignores any other without a word."""


def check(objects: Objects) -> list[ObjectFinding]:
    """Waves, hooks, delete policies, sync and compare options; `generateName` without a hook."""
    return [found for obj in objects for found in _check(obj)]


def _check(obj: Object) -> Iterator[ObjectFinding]:
    body = obj.body
    yield from _wave(obj)
    present = mapping(body, "metadata", "annotations")
    for key in (key for key in _KNOWN if key in present):
        for value in options(body, key):
            if value not in _KNOWN[key]:
                yield _unknown(obj, (*_ANNOTATIONS, key), value, _KNOWN[key])
    if obj.id.kind == "Application":
        yield from _application(obj)
    if "generateName" in mapping(body, "metadata") and not annotation(body, HOOK):
        message = "The object has generateName, so each sync would create another one."
        yield about(obj, "SP528", ("metadata", "generateName"), message, "Give it a name instead.")


def _wave(obj: Object) -> Iterator[ObjectFinding]:
    text = annotation(obj.body, labels.SYNC_WAVE)
    present = labels.SYNC_WAVE in mapping(obj.body, *map(str, _ANNOTATIONS))
    if present and not text.removeprefix("-").removeprefix("+").isdecimal():
        message = f'Found the sync wave "{text}"; allowed is a whole number in quotes.'
        hint = 'Write it as "-1", "0" or "1".'
        yield about(obj, "SP520", (*_ANNOTATIONS, labels.SYNC_WAVE), message, hint)


def _application(obj: Object) -> Iterator[ObjectFinding]:
    known = _words(_APPLICATION_OPTIONS)
    for index, value in enumerate(application_options(obj.body)):
        if value not in known:
            yield _unknown(obj, ("spec", "syncPolicy", "syncOptions", index), value, known)


def application_options(application: Json) -> list[str]:
    """The sync options of an Application."""
    found = mapping(application, "spec", "syncPolicy").get("syncOptions")
    return [str(option) for option in found] if isinstance(found, list) else []


def _unknown(obj: Object, path: FieldPath, value: str, known: tuple[str, ...]) -> ObjectFinding:
    message = f'Argo CD does not know "{value}" and would ignore it.'
    return about(obj, "SP521", path, message, did_you_mean(value, known))
